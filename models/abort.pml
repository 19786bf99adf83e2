/* SPDX-License-Identifier: Apache-2.0 */
/* abort.pml: one key, taken back from D to S. Starts in MIGRATING: S is frozen (value 1), the key marked at D or not.
   -DINITM=1 -DINITD=2 | 1 0 | 0 0 (and -DINITS=0); FROMC: starts in COMPLETE; CRASH: D restarts and
   loses D.rec=A; TTL: value 1 may expire. Mutations: see the table. */
#ifndef NOPS
#define NOPS 2
#endif
#ifndef ATT
#define ATT 2
#endif
#ifndef INITS
#define INITS 1
#endif
#define MI 1
#define AP 2                        /* ABORT_PREPARE: writes held */
#define AF 3                        /* ABORT_FLIPPING */
#define AB 4                        /* ABORTING */
#define OP 5                        /* STABLE at S */
#define DONE 9
#ifdef FROMC                        /* abort after D.rec=C: all that is at D is D's, marked or not */
#define REC0 2
#define MOVED true
#else
#define REC0 1
#define MOVED mark
#endif
#ifdef CMARKS
#define TRAVELS mark
#else
#define TRAVELS MOVED
#endif
byte u = MI, att, view[2], vat[2], ack[2], fl[2], old[2]; bool bar[2];
byte recD = REC0, recS; bool ridD = true, zf, exp; /* recD: 1 M, 2 C, 3 A; recS: 0 M, 1 B, 2 open */
byte S = INITS, D = INITD; bool mark = INITM, back;
byte cur = (INITM || REC0 == 2 -> INITD : INITS), ver = 3, seen[2];
inline see(c) { if :: seen[c] -> seen[c] = seen[c] | (1 << cur) :: else fi }
inline setcur(x) { cur = x; see(0); see(1) }
inline put(X) { assert(X == cur); if :: del -> X = 0 :: else -> X = ver; ver++ fi; setcur(X) }
#define LIVE(x) ((x) == 1 && exp -> 0 : (x))
inline install(x) { atomic { if
  :: recD == 1 && ridD && !mark -> if :: x -> D = LIVE(x) :: else fi; mark = true
  :: else fi } }
inline fetch(m, x) { atomic { m = TRAVELS; x = D } }                  /* gyre_back at D */
#ifdef NOBACKMARK
#define UNBACK true
#else
#define UNBACK !back
#endif
#ifdef NODELCOPY
#define COPY (m && x)
#else
#define COPY m
#endif
inline unmove(m, x) { atomic { if
  :: recS == 1 && UNBACK -> if :: COPY -> S = LIVE(x) :: else fi; back = true
  :: else fi } }
#define SENT fl[p] = fl[p] + (w == MI); o = w < OP; old[p] = old[p] + o
proctype Client(byte p) {
  byte n, w, v, x, r; bool wr, del, m, o;
  do
  :: n < NOPS -> n++;
    if :: wr = true; if :: del = true :: del = false fi :: wr = false fi;
    if
    :: atomic { !wr -> seen[p] = 1 << cur; w = view[p]; SENT }
#ifdef NOHOLD
    :: atomic { wr -> w = (view[p] == AP -> MI : view[p]); SENT }
#else
    :: atomic { wr && view[p] != AP -> w = view[p]; SENT }
#endif
    fi;
    do
    :: w == DONE -> break
    :: w == MI && wr -> m = MOVED; if :: !m -> x = S; install(x) :: else fi;
       atomic { put(D); fl[p]--; w = DONE }
    :: w <= AP && !wr -> m = MOVED; v = D;
       if
#ifdef NORID
       :: w == AP && recD != REC0 -> w = AB                            /* [SMISMEMBER][read][HGET rec st run_id] */
       :: w == MI || recD == REC0 ->
#else
#ifdef NOREADCHECK
       :: true ->
#else
       :: w == AP && !(recD == REC0 && ridD) -> w = AB
       :: w == MI || recD == REC0 && ridD ->
#endif
#endif
          if
          :: m -> fl[p] = fl[p] - (w == MI); w = DONE
          :: else -> v = S;
#ifndef NORECHECK
             if :: atomic { v == 0 && mark -> skip } :: atomic { v || !mark -> fl[p] = fl[p] - (w == MI); w = DONE } fi
#else
             fl[p] = fl[p] - (w == MI); w = DONE
#endif
          fi
       fi
    :: w == AB && wr -> fetch(m, x); unmove(m, x); assert(back || recS == 2);
       atomic { put(S); w = DONE }
    :: w == AB && !wr -> r = recS; m = back; v = S;
       if
       :: m || r == 2 -> w = DONE
       :: else -> fetch(m, x);
          if
          :: !m -> w = DONE
          :: m -> v = x;
#ifndef NORECHECK
             if :: v == 0 -> atomic { w = (back -> AB : DONE) } :: else -> w = DONE fi
#else
             w = DONE
#endif
          fi
       fi
    :: atomic { w == OP && wr -> put(S); w = DONE }
    :: atomic { w == OP && !wr -> v = S; w = DONE }
    od;
    atomic { assert(wr || ((seen[p] >> v) & 1)); seen[p] = 0; old[p] = old[p] - o;
      w = 0; v = 0; x = 0; r = 0; m = 0; o = 0; wr = 0; del = 0 }
  :: n == NOPS -> break
  od }
proctype Agent(byte p) {
end: do
  :: atomic { view[p] == MI && u == AP && vat[p] < att -> view[p] = AP; vat[p] = att }
#ifdef NODRAIN
  :: atomic { view[p] == AP && u < AF && ack[p] < vat[p] -> ack[p] = vat[p] }
#else
  :: atomic { view[p] == AP && u < AF && ack[p] < vat[p] && fl[p] == 0 -> ack[p] = vat[p] }
#endif
#ifdef NOREVOKECHECK
  :: atomic { view[p] == AP && u < AB -> view[p] = MI }
#else
  :: atomic { view[p] == AP && u == AP && vat[p] == att -> u = MI; view[p] = MI }
#endif
  :: atomic { view[p] == AP && (u == MI || u == AP && att > vat[p]) -> view[p] = MI }
  :: atomic { view[p] == AP && u == AF && recS == 0 -> recS = 1 }       /* any holder may finish the flip */
  :: atomic { view[p] == AP && u == AF && recS == 1 && recD == REC0 -> recD = 3; ridD = true }
  :: atomic { view[p] == AP && u == AF && recD == 3 -> u = AB }
  :: atomic { view[p] < AB && u >= AB -> view[p] = AB }
  :: atomic { view[p] == AB && u == OP -> view[p] = OP }
  :: atomic { view[p] == OP && old[p] == 0 && !bar[p] -> bar[p] = true }
  od }
proctype Late() { byte x; if :: atomic { !zf -> x = S }; if :: atomic { !zf -> install(x) } :: zf fi :: zf fi }   /* forward mover */
proctype LateBack(bool m; byte x) { if :: atomic { !zf -> unmove(m, x) } :: zf fi }
proctype LateC() { atomic { if :: recD == 1 -> recD = 2 :: else fi } }   /* older coordinator, D.rec=C without an intent */
proctype Coord() { bool m; byte x;
  do
  :: att < ATT ->
     atomic { u = AP; att++ };
     if :: ack[0] == att && ack[1] == att -> skip :: u == MI -> skip fi;
     atomic { if :: u == AP -> u = AF :: else fi };
     if :: u >= AF -> break :: else fi
  :: att == ATT && u == MI -> goto out
  od;
  atomic { if :: u == AF -> recS = 1 :: else fi };
  atomic { if :: u == AF && recD == REC0 -> recD = 3; ridD = true :: else fi };   /* the freeze at D: M (or C) -> A */
  atomic { if :: u == AF -> u = AB :: else fi };
  fetch(m, x); run LateBack(m, x); unmove(m, x);
  recS = 2; u = OP;
#ifndef EARLYPURGE
  bar[0] && bar[1];
#endif
  zf = true; D = 0; mark = false; back = false; recD = 0; recS = 0;
out: skip }
proctype Crash() { if :: atomic { recD == 3 -> recD = REC0; ridD = false } :: true fi }
proctype Expire() { atomic { exp = true; if :: S == 1 -> S = 0 :: else fi; if :: D == 1 -> D = 0 :: else fi;
  if :: cur == 1 -> setcur(0) :: else fi } }
init { atomic { view[0] = MI; view[1] = MI;
  run Agent(0); run Agent(1); run Client(0); run Client(1); run Late();
#ifdef CRASH
  run Crash();
#endif
#ifdef TTL
  run Expire();
#endif
#ifdef NOINTENT
  run LateC();
#endif
  run Coord() } }
