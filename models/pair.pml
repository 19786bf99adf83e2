/* SPDX-License-Identifier: Apache-2.0 */
/* pair.pml: two keys x, y of one tag move from S to D. SET x, MSET x y, RENAME x y, MGET x y by two proxies; mover;
   late older mover. A pair read must have existed at one instant of the read (strict serializability over both keys).
   TTL: x's first value (1) may expire.  Mutations: MIXEDREAD SPLITREAD MOVEONE NOMARK NOHOLD NORECHECK EARLYCLEAN */
#ifndef NOPS
#define NOPS 2
#endif
#define ST 0
#define PR 1
#define MI 3
#define CO 4
#define DONE 9
byte u, view[2], fl[2], old[2]; bool ack[2], bar[2];
bool flipS, exp; byte recD;
byte Sx = 1, Sy = INITY, Dx, Dy, cx = 1, cy = INITY, ver = 3; bool mx, my;
int seen[2];                        /* bit 5x+y: the pairs current since the read began */
#define PAIR(a, b) (5 * (a) + (b))
inline note() { if :: seen[0] -> seen[0] = seen[0] | (1 << PAIR(cx, cy)) :: else fi;
                if :: seen[1] -> seen[1] = seen[1] | (1 << PAIR(cx, cy)) :: else fi }
inline put(X, Y) { assert(X == cx && (k == 0 || Y == cy)); if
  :: k == 0 -> X = ver; ver++
  :: k == 1 -> X = ver; Y = ver; ver++
  :: k == 2 -> if :: X -> Y = X; X = 0 :: else fi; ver++
  fi; cx = X; if :: k -> cy = Y :: else fi; note() }
#ifdef NOMARK
#define UNM(m) true
#else
#define UNM(m) !m
#endif
#define LIVE(x) ((x) == 1 && exp -> 0 : (x))
inline install(X, m, v) { atomic { if
  :: recD == 1 && UNM(m) -> if :: v -> X = LIVE(v) :: else fi; m = true
  :: else fi } }
inline ensure(Sk, Dk, m) { q = m; if :: !q -> q = Sk; install(Dk, m, q) :: else fi }
#define SENT fl[p] = fl[p] + (w == ST); o = w < CO; old[p] = old[p] + o
proctype Client(byte p) {
  byte n, w, k, q, r, a, b, c, d; bool wr, o;
  do
  :: n < NOPS -> n++;
    if :: ver < 5 -> wr = true; if :: k = 0 :: k = 1 :: k = 2 fi :: wr = false fi;
    if
    :: atomic { !wr -> seen[p] = 1 << PAIR(cx, cy); w = view[p]; SENT }
#ifdef NOHOLD
    :: atomic { wr -> w = (view[p] == PR -> ST : view[p]); SENT }
#else
    :: atomic { wr && view[p] != PR -> w = view[p]; SENT }
#endif
    fi;
    do
    :: w == DONE -> break
    :: atomic { w == ST && wr && ver < 5 -> put(Sx, Sy); fl[p]--; w = DONE }
    :: atomic { w == ST && !wr -> c = Sx; d = Sy; fl[p]--; w = DONE }
    :: w == PR -> atomic { c = Sx; d = Sy }; atomic { w = (!flipS -> DONE : MI) }
    :: w == MI && wr -> ensure(Sx, Dx, mx);
#ifndef MOVEONE
       if :: k -> ensure(Sy, Dy, my) :: else fi;
#endif
       atomic { if :: ver < 5 -> put(Dx, Dy) :: else fi; w = DONE }
    :: w == MI && !wr -> r = recD; atomic { a = mx; b = my };
#ifdef SPLITREAD
       if :: a || r == 2 -> c = Dx :: else -> c = Sx fi; if :: b || r == 2 -> d = Dy :: else -> d = Sy fi; w = DONE
#else
       atomic { c = Dx; d = Dy };
       if
       :: r == 2 || (a && b) -> w = DONE
#ifdef MIXEDREAD
       :: r != 2 && !(a && b) -> atomic { c = Sx; d = Sy }; w = DONE
#else
       :: r != 2 && !a && !b -> atomic { c = Sx; d = Sy };
#ifndef NORECHECK
          if :: !c || !d -> atomic { w = (mx || my -> MI : DONE) } :: else -> w = DONE fi
#else
          w = DONE
#endif
       :: r != 2 && a != b -> ensure(Sx, Dx, mx); ensure(Sy, Dy, my); atomic { c = Dx; d = Dy }; w = DONE
#endif
       fi
#endif
    :: atomic { w == CO && wr -> if :: ver < 5 -> put(Dx, Dy) :: else fi; w = DONE }
    :: atomic { w == CO && !wr -> c = Dx; d = Dy; w = DONE }
    :: atomic { w == ST && wr && ver >= 5 -> fl[p]--; w = DONE }      /* out of values: no operation */
    od;
    atomic { assert(wr || ((seen[p] >> PAIR(c, d)) & 1)); seen[p] = 0; old[p] = old[p] - o;
      w = 0; k = 0; q = 0; r = 0; a = 0; b = 0; c = 0; d = 0; wr = 0; o = 0 }
  :: n == NOPS -> break
  od }
proctype Agent(byte p) {
end: do
  :: atomic { view[p] == ST && u == PR -> view[p] = PR }
  :: atomic { view[p] == PR && !ack[p] && fl[p] == 0 -> ack[p] = true }
  :: atomic { view[p] < MI && u >= MI -> view[p] = MI }
  :: atomic { view[p] == MI && u == CO -> view[p] = CO }
  :: atomic { view[p] == CO && old[p] == 0 && !bar[p] -> bar[p] = true }
  od }
proctype Late(byte a; byte b) { if :: a -> install(Dx, mx, a) :: else fi; if :: b -> install(Dy, my, b) :: else fi }
proctype Coord() { byte a, b;
  recD = 1; u = PR; ack[0] && ack[1];
  flipS = true; u = MI;
  a = Sx; b = Sy; run Late(a, b);
  if :: a -> install(Dx, mx, a) :: else fi;
  if :: b -> install(Dy, my, b) :: else fi;
  recD = 2; u = CO;
#ifndef EARLYCLEAN
  bar[0] && bar[1];
#endif
  Sx = 0; Sy = 0; mx = false; my = false; recD = 0 }
#ifdef TTL
active proctype Expire() { atomic { exp = true;
  if :: Sx == 1 -> Sx = 0 :: else fi; if :: Sy == 1 -> Sy = 0 :: else fi; if :: Dx == 1 -> Dx = 0 :: else fi;
  if :: Dy == 1 -> Dy = 0 :: else fi; if :: cx == 1 -> cx = 0 :: else fi; if :: cy == 1 -> cy = 0 :: else fi; note() } }
#endif
init { atomic { run Agent(0); run Agent(1); run Client(0); run Client(1); run Coord() } }
