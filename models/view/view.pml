/* SPDX-License-Identifier: Apache-2.0 */
/* view.pml: readers and a publisher on one view (src/lib/view.c, whose names for the steps are used here). All the atomics
   that meet are sequentially consistent there, so the interleavings of this model are all there are. What a reader got is
   never freed while it reads; when all have left, all but the current one is.
   Mutations: LOADFIRST the pointer is loaded before the seat is taken
              TAGEARLY  what was replaced waits with the epoch before the swap
              BUMPFIRST the epoch grows before the pointer is swapped
              LOOKFIRST the seats are looked at before the swap
              ONESEAT   only the first seat is looked at */
#ifndef SWAPS
#define SWAPS 3
#endif
#ifndef VISITS
#define VISITS 2
#endif
#define READERS 2
byte current, epoch = 1;
byte seat[READERS];
bool freed[SWAPS + 1];
byte tag[SWAPS + 1];    /* 0: it does not wait */
byte done;

proctype Reader(byte r) {
  byte e, p, n;
  do
  :: n < VISITS -> n++;
#ifdef LOADFIRST
    p = current;                /* R3 */
#endif
    e = epoch;                  /* R1 */
    seat[r] = e;                /* R2 */
#ifndef LOADFIRST
    p = current;                /* R3 */
#endif
    assert(!freed[p]);          /* reads, twice */
    assert(!freed[p]);
    seat[r] = 0                 /* R4 */
  :: n == VISITS -> break
  od;
  done++
}

inline look() {
  oldest = 255; i = 0;
  do
#ifdef ONESEAT
  :: i < 1 ->
#else
  :: i < READERS ->
#endif
    atomic { s = seat[i]; if :: s && s < oldest -> oldest = s :: else fi; i++; s = 0 }
  :: else -> break
  od
}

inline sweep() {
  i = 0;
  do
  :: i <= SWAPS ->
    atomic { if :: tag[i] && oldest >= tag[i] -> freed[i] = true; tag[i] = 0 :: else fi; i++ }
  :: else -> i = 0; break
  od
}

proctype Publisher() {
  byte n, old, oldest, i, s, t;
  do
  :: n < SWAPS -> n++;
#ifdef LOOKFIRST
    look();
#endif
#ifdef BUMPFIRST
    atomic { epoch++; t = epoch }
#endif
    atomic { old = current; current = n }       /* W1 */
#ifndef BUMPFIRST
    atomic { epoch++; t = epoch }               /* W2 */
#endif
#ifdef TAGEARLY
    t = t - 1;
#endif
    tag[old] = t;
#ifndef LOOKFIRST
    look();                                     /* W3 */
#endif
    sweep()
  :: n == SWAPS -> break
  od;
  done == READERS;
  look(); sweep(); i = 0;
  do
  :: i < SWAPS -> assert(freed[i]); i++
  :: else -> break
  od;
  assert(!freed[SWAPS])
}

init { atomic { run Reader(0); run Reader(1); run Publisher() } }
