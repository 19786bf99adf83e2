/* SPDX-License-Identifier: Apache-2.0 */
/* scan.pml: one client's SCAN over nodes 0 and 1 while key k is moved 0 -> 1 (and with MOVES=2 back again).
   -DMODE=0 k present throughout; 1 k created before the scan, through a proxy already on COMPLETE; 2 k deleted before it.
   A pass over a node sees k's bucket at one instant. Mutations: FILTERBYAUTHORITY NOEXTRAPASS ONEEXTRA MARKEDONLY SRCALL */
#ifndef MOVES
#define MOVES 1
#endif
#ifndef MODE
#define MODE 0
#endif
#define ST 0
#define MI 3
#define CO 4
byte u = ST, view = ST, mv;         /* state of the unit in the store; this proxy's view; moves finished (view version) */
byte src = 0, dst = 1, rec;         /* D.rec: 0 none, 1 M, 2 C */
bool has[2], mark, ackd, begun;
byte busy;                          /* a SCAN command of the client is in flight (drained before CLEAN) */
bool dead; byte acked;
proctype Mover() {                  /* also plays the other proxies: creates or deletes k where MODE says so */
  byte i;
  do
  :: i < MOVES -> i++;
     rec = 1; u = MI; ackd; ackd = false;                               /* PREPARE: the MIGRATING rule holds from here; drained */
#if MODE == 2
     atomic { if :: !begun && i == 1 -> mark = true; has[dst] = false; dead = true :: true fi };   /* DEL at D, S keeps its copy */
#endif
     atomic { if :: has[src] && !mark -> has[dst] = true; mark = true :: else fi };
     rec = 2; u = CO;
#if MODE == 1
     atomic { if :: !begun && i == 1 -> has[dst] = true :: else fi };    /* created by a proxy on COMPLETE: no mark */
#endif
     ackd;                                                              /* barrier, drained */
     has[src] = false; mark = false;
     atomic { rec = 0; ackd = false; acked = 0; u = ST; view = ST; src = 1 - src; dst = 1 - dst; mv++ }   /* stable at D */
  :: i == MOVES -> break
  od }
proctype Agent() {
end: do
  :: atomic { view != u && !(view == CO && u == ST) -> view = u }
  :: atomic { view == u && view != ST && !busy && !ackd && acked != u -> ackd = true; acked = u }
  od }
byte passes;
inline pass(nd) {                   /* one SCAN command over node nd, by the view at its start */
  atomic { busy = 1; w = view; s = (nd == src); passes++ };
  if
  :: w == ST -> atomic { if :: s && has[nd] -> got = true :: else fi }
  :: w == MI && s -> saw = has[nd];
     if
     :: saw -> m = mark; e = has[dst];                                  /* [SMISMEMBER][EXISTS] at D */
#ifdef FILTERBYAUTHORITY
        if :: !m -> got = true :: else fi
#else
#ifdef SRCALL
        got = true
#else
        if :: !m || e -> got = true :: else fi
#endif
#endif
     :: else fi
  :: w == MI && !s -> saw = has[nd];
     if
     :: saw -> m = mark; r = rec;
#ifdef MARKEDONLY
        if :: m -> got = true :: else fi
#else
        if :: m || r == 2 -> got = true :: else fi
#endif
     :: else fi
  :: w == CO -> atomic { if :: !s && has[nd] -> got = true :: else fi }
  fi;
  atomic { busy = 0; w = 0; s = 0; m = 0; e = 0; saw = 0; r = 0 } }
#ifdef CLEANTRIGGER
#define COMPLETED mv
#else
#define COMPLETED (mv + (view == CO))     /* units this proxy knows COMPLETE or later */
#endif
proctype Scan(byte first) { byte w, r, v0, d; bool s, m, e, saw, got;
#if MODE == 1
endw: has[0] == 0 && has[1] == 1 && rec == 2;
#endif
#if MODE == 2
endw: dead;
#endif
  atomic { begun = true; v0 = COMPLETED };
  pass(first); pass(1 - first);
#ifndef NOEXTRAPASS
  do
  :: atomic { COMPLETED == v0 -> break }
  :: atomic { COMPLETED != v0 -> v0 = COMPLETED; d = (view == CO -> dst : src) };   /* the destination of the last one done */
     pass(d);
#ifdef ONEEXTRA
     break
#endif
  od;
#endif
#if MODE == 2
  assert(!got)
#else
  assert(got)
#endif
}
init { atomic {
#if MODE != 1
  has[0] = true;
#endif
  run Mover(); run Agent(); if :: run Scan(0) :: run Scan(1) fi } }
