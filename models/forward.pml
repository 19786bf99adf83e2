/* SPDX-License-Identifier: Apache-2.0 */
/* forward.pml: one key moves from S to D. 2 proxies (an agent and its clients each), coordinator = mover, an older
   mover whose install lands late, an older coordinator whose D.rec=M lands late, S may restart and lose the flip.
   -DINITV=0|1; JOIN: proxy 1 starts during the move; EXTRA: one more reader at proxy 0; TTL: value 1 may expire;
   DIE: the coordinator stops for good after FLIPPING.  Mutations: see the table. */
#ifndef NOPS
#define NOPS 2
#endif
#ifndef ATT
#define ATT 2                       /* attempts at PREPARE */
#endif
#define ST 0
#define PR 1
#define FL 2
#define MI 3
#define CO 4
#define DONE 9
byte u = ST, att;                   /* the unit's key in the store; changed only by compare-and-set */
bool reg[2], up[2];                 /* registered in the store; serving */
byte view[2], vat[2], ack[2];       /* a proxy's view, its attempt; in the store: attempt acked */
bool bar[2];                        /* in the store: COMPLETE acked */
byte fl[2], old[2];                 /* in flight: sent under STABLE; sent before COMPLETE */
bool flipS, ridS = true;            /* S.rec: P or M; its run_id is S's own */
byte recD;                          /* D.rec: 0 none, 1 M, 2 C */
bool zf, exp;                       /* older movers fenced; value 1 has expired */
byte S = INITV, D; bool mark;
byte cur = INITV, ver = 2, seen[3]; /* seen[c] != 0: client c is reading; the values current since it began */

inline see(c) { if :: seen[c] -> seen[c] = seen[c] | (1 << cur) :: else fi }
inline setcur(x) { cur = x; see(0); see(1); see(2) }
inline put(X) { assert(X == cur); if :: del -> X = 0 :: else -> X = ver; ver++ fi; setcur(X) }
#ifdef NOMARK
#define UNMARKED true
#else
#define UNMARKED !mark
#endif
#ifdef RELTTL
#define LIVE(x) (x)
#else
#define LIVE(x) ((x) == 1 && exp -> 0 : (x))
#endif
inline install(x) { atomic { if
  :: recD == 1 && UNMARKED -> if :: x -> D = LIVE(x) :: else fi; mark = true
  :: else fi } }

#ifdef DRAINWRITES
#define DRAINED wr
#else
#define DRAINED 1
#endif
#define SENT fl[p] = fl[p] + (w == ST && DRAINED); o = w < CO; old[p] = old[p] + o
proctype Client(byte c; byte p; bool ro) {
  byte n, w, v, r; bool wr, del, m, o;
  do
  :: n < NOPS -> n++;
    if :: !ro -> wr = true; if :: del = true :: del = false fi :: wr = false fi;
    if
    :: atomic { up[p] && !wr -> seen[c] = 1 << cur; w = view[p]; SENT }   /* a read never is */
#ifdef NOHOLD
    :: atomic { up[p] && wr -> w = (view[p] == PR -> ST : view[p]);
#else
    :: atomic { up[p] && wr && view[p] != PR -> w = view[p];          /* a write is held while PREPARE */
#endif
         SENT }
    fi;
    do
    :: w == DONE -> break
    :: atomic { w == ST && wr -> put(S); fl[p]--; w = DONE }
    :: atomic { w == ST && !wr -> v = S; fl[p] = fl[p] - DRAINED; w = DONE }
#ifdef CHECKFIRST
    :: w == PR -> m = (!flipS && ridS); atomic { v = S; w = (m -> DONE : MI) }
#else
    :: w == PR -> v = S;                                              /* [read][HGET rec st run_id] */
#ifdef NOREADCHECK
       w = DONE
#else
#ifdef NORID
       atomic { w = (!flipS -> DONE : MI) }
#else
       atomic { w = (!flipS && ridS -> DONE : MI) }
#endif
#endif
#endif
    :: w == MI && wr -> m = mark;
       if :: !m -> r = S; install(r) :: else fi;                      /* ensure_moved */
       atomic { put(D); w = DONE }
    :: w == MI && !wr -> r = recD; m = mark; v = D;                    /* pipelined in this order */
       assert(r);
       if
       :: m || r == 2 -> w = DONE
       :: else -> v = S;
#ifndef NORECHECK
          if :: v == 0 -> atomic { w = (mark -> MI : DONE) } :: else -> w = DONE fi   /* missing at S: expired since? */
#else
          w = DONE
#endif
       fi
    :: atomic { w == CO && wr -> put(D); w = DONE }
    :: atomic { w == CO && !wr -> v = D; w = DONE }
    od;
    atomic { assert(wr || ((seen[c] >> v) & 1)); seen[c] = 0; old[p] = old[p] - o;
      w = 0; v = 0; r = 0; m = 0; o = 0; wr = 0; del = 0 }
  :: n == NOPS -> break
  od }

proctype Agent(byte p) {
#ifdef JOIN
  if
  :: p == 0 -> skip
  :: p == 1 ->
#ifdef JOINBLIND
     view[p] = (u >= MI -> u : (u == ST -> ST : PR)); vat[p] = att; reg[p] = true;
#else
     reg[p] = true; atomic { view[p] = (u >= MI -> u : (u == ST -> ST : PR)); vat[p] = att };
#endif
  fi;
#endif
  up[p] = true;
end: do
  :: atomic { view[p] == ST && u == PR && vat[p] < att -> view[p] = PR; vat[p] = att }
#ifdef NODRAIN
  :: atomic { view[p] == PR && u < FL && ack[p] < vat[p] -> ack[p] = vat[p] }
#else
  :: atomic { view[p] == PR && u < FL && ack[p] < vat[p] && fl[p] == 0 -> ack[p] = vat[p] }
#endif
#ifdef NOREVOKECHECK
  :: atomic { view[p] == PR && u < MI -> view[p] = ST }               /* released after 100 ms, no compare-and-set */
#else
#ifdef ACKONLY
  :: atomic { view[p] == PR && u == PR && vat[p] == att -> ack[p] = 0; view[p] = ST }
#else
  :: atomic { view[p] == PR && u == PR && vat[p] == att -> u = ST; view[p] = ST }   /* give up: closes the attempt */
#endif
#endif
  :: atomic { view[p] == PR && (u == ST || u == PR && att > vat[p]) -> view[p] = ST }
#ifndef NOHELP
  :: atomic { view[p] == PR && u == FL && !(flipS && ridS) -> flipS = true; ridS = true }   /* any holder may finish the flip */
  :: atomic { view[p] == PR && u == FL && flipS -> u = MI }
#endif
  :: atomic { view[p] < MI && u >= MI -> view[p] = MI }
  :: atomic { view[p] == MI && u == CO -> view[p] = CO }
  :: atomic { view[p] == CO && old[p] == 0 && !bar[p] -> bar[p] = true }
  od }

proctype Zombie(byte x) { if :: atomic { !zf -> install(x) } :: zf -> skip fi }
proctype ZCoord() { atomic { if :: !zf && recD == 0 -> recD = 1 :: else fi } }
#ifdef NOATTEMPT
#define ACKED(p) (ack[p] != 0)
#else
#define ACKED(p) (ack[p] == att)
#endif
proctype Coord() { byte x; bool l;
  recD = 1; run ZCoord();
  do
  :: att < ATT ->
     atomic { u = PR; att++ };
     l = reg[1];                                                       /* the proxies, listed after PREPARE is out */
#ifndef NOBARRIER
     if :: ACKED(0) && (!l || ACKED(1)) -> skip :: u == ST -> skip fi;
#endif
#ifdef ACKONLY
     atomic { if :: u == PR && ACKED(0) && (!l || ACKED(1)) -> u = FL :: else -> u = ST fi };
#else
     atomic { if :: u == PR -> u = FL :: else fi };
#endif
     if :: u >= FL -> break :: else fi
  :: att == ATT && u == ST -> goto out
  od;
#ifdef DIE
  goto out;
#endif
  atomic { if :: u == FL -> flipS = true; ridS = true :: else fi };    /* S.rec: P -> M, the freeze */
  atomic { if :: u == FL -> u = MI :: else fi };
  x = S;
  if :: x -> run Zombie(x); install(x) :: else fi;
  assert(S == 0 || mark);                                              /* verify */
#ifdef LATEFLIP
  u = CO; recD = 2;
#else
  recD = 2; u = CO;
#endif
  l = reg[1];
#ifndef EARLYCLEAN
  bar[0] && (!l || bar[1]);
#endif
  S = 0;
#ifndef NOZFENCE
  zf = true;                                                           /* older movers fenced, own requests answered */
#endif
  mark = false; recD = 0;
out: skip }
proctype Crash() { if :: atomic { u >= PR -> flipS = false; ridS = false } :: true fi }
proctype Expire() { atomic { exp = true; if :: S == 1 -> S = 0 :: else fi; if :: D == 1 -> D = 0 :: else fi;
  if :: cur == 1 -> setcur(0) :: else fi } }
init { atomic {
  reg[0] = true;
#ifndef JOIN
  reg[1] = true;
#endif
  run Agent(0); run Agent(1); run Client(0, 0, 0); run Client(1, 1, 0);
#ifdef EXTRA
  run Client(2, 0, 1);
#endif
#ifdef TTL
  run Expire();
#endif
#ifdef CRASH
  run Crash();
#endif
  run Coord() } }
