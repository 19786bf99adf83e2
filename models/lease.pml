/* SPDX-License-Identifier: Apache-2.0 */
/* lease.pml: one key S -> D; proxy 0 is well, proxy 1 may lose its lease, stop anywhere, and come back as generation 1.
   A request rides on the connection of the generation that checked the lease; a fenced generation's requests are refused.
   SETS0: the client of proxy 0 only sets (it neither deletes nor reads): small enough for every run.
   Mutations: NOFENCE EXECEXPIRED OLDVIEW */
#ifndef NOPS
#define NOPS 2
#endif
#ifdef SETS0
#define ANY (p == 1)
#else
#define ANY true
#endif
#define ST 0
#define PR 1
#define MI 3
#define CO 4
#define DONE 9
byte u, view[2], fl[2], old[2];
bool ack[3], bar[3], alive[3] = true, known[3], fence[3], off[3]; /* index 0: proxy 0; 1, 2: generations of proxy 1; off: counted as fenced */
bool bel = true;                    /* proxy 1 believes its lease (local clock, ends before the store's) */
byte g = 1;                         /* proxy 1's generation */
bool flipS; byte recD;
byte S = INITV, D; bool mark;
byte cur = INITV, ver = 2, seen[2];
inline see(c) { if :: seen[c] -> seen[c] = seen[c] | (1 << cur) :: else fi }
inline put(X) { assert(X == cur); if :: del -> X = 0 :: else -> X = ver; ver++ fi; cur = X; see(0); see(1) }
inline install(x) { atomic { if :: recD == 1 && !mark -> if :: x -> D = x :: else fi; mark = true :: else fi } }
#define GEN (p == 0 -> 0 : g)
#define BEL (p == 0 || bel)
#define SENT c = GEN; fl[p] = fl[p] + (w == ST); s = (w == ST); o = w < CO; old[p] = old[p] + o
proctype Client(byte p) {
  byte n, w, v, r, c; bool wr, del, m, s, o, no;
  do
  :: n < NOPS -> n++;
    if :: wr = true; if :: ANY -> del = true :: del = false fi :: ANY -> wr = false fi;
    if
    :: atomic { BEL && !wr -> seen[p] = 1 << cur; w = view[p]; SENT }
    :: atomic { BEL && wr && view[p] != PR -> w = view[p]; SENT }
#ifdef EXECEXPIRED
    :: atomic { !BEL && wr && view[p] == PR -> w = ST; SENT }
#else
    :: atomic { !BEL -> w = DONE; no = true }                           /* TRYAGAIN */
#endif
    fi;
    do
    :: w == DONE -> break
    :: atomic { w != DONE && fence[c] -> w = DONE; no = true }          /* connection closed, what it carried discarded */
    :: atomic { !fence[c] && w == ST && wr -> put(S); w = DONE }
    :: atomic { !fence[c] && w == ST && !wr -> v = S; w = DONE }
    :: !fence[c] && w == PR -> v = S; atomic { w = (!flipS -> DONE : MI) }
    :: atomic { !fence[c] && w == MI && wr -> m = mark; w = (m -> 6 : 5) }
    :: atomic { !fence[c] && w == 5 -> r = S; w = 7 }
    :: atomic { !fence[c] && w == 7 -> install(r); w = 6 }
    :: atomic { !fence[c] && w == 6 -> put(D); w = DONE }
    :: atomic { !fence[c] && w == MI && !wr -> r = recD; w = 10 }
    :: atomic { !fence[c] && w == 10 -> m = mark; w = 11 }
    :: atomic { !fence[c] && w == 11 -> v = D; w = (m || r == 2 -> DONE : 12) }
    :: atomic { !fence[c] && w == 12 -> v = S; w = DONE }
    :: atomic { !fence[c] && w == CO && wr -> put(D); w = DONE }
    :: atomic { !fence[c] && w == CO && !wr -> v = D; w = DONE }
    od;
    atomic { assert(wr || no || ((seen[p] >> v) & 1)); seen[p] = 0; old[p] = old[p] - o; fl[p] = fl[p] - s;
      w = 0; v = 0; r = 0; m = 0; o = 0; s = 0; c = 0; wr = 0; del = 0; no = 0 }
  :: n == NOPS -> break
  od }
proctype Agent(byte p) {
end: do
  :: atomic { view[p] == ST && u == PR && BEL -> view[p] = PR }
  :: atomic { view[p] == PR && BEL && !ack[GEN] && fl[p] == 0 -> ack[GEN] = true }
  :: atomic { view[p] < MI && u >= MI && BEL -> view[p] = MI }
  :: atomic { view[p] == MI && u == CO && BEL -> view[p] = CO }
  :: atomic { view[p] == CO && BEL && old[p] == 0 && !bar[GEN] -> bar[GEN] = true }
  :: atomic { p == 1 && bel && g == 1 -> bel = false }
  :: atomic { p == 1 && !bel && alive[1] -> alive[1] = false }
  :: p == 1 && !bel && !alive[1] && g == 1 -> known[2] = true;          /* registers under a new generation, then reads the view */
#ifdef OLDVIEW
     atomic { g = 2; bel = true }
#else
     atomic { g = 2; bel = true; view[1] = u }
#endif
  od }
/* the list of proxies is read after the state is out; who is in it acks, or has lost its lease and is fenced */
#ifdef NOFENCE
#define OFF(x) off[x] = true                                            /* counted as gone, but its connections still work */
#else
#define OFF(x) fence[x] = true; off[x] = true
#endif
#define BARRIER(A) l = known[2]; do :: A[0] && (A[1] || off[1]) && (!l || A[2]) -> break :: !alive[1] && !off[1] -> OFF(1) od
proctype Coord() { byte x; bool l;
  recD = 1; u = PR; BARRIER(ack);
  flipS = true; u = MI;
  x = S; if :: x -> install(x) :: else fi;
  recD = 2; u = CO; BARRIER(bar);
  S = 0; mark = false; recD = 0 }
init { atomic { known[0] = true; known[1] = true; run Agent(0); run Agent(1); run Client(0); run Client(1); run Coord() } }
