/* SPDX-License-Identifier: Apache-2.0 */
/* fence.pml: one server, an older and a newer process of one proxy. Each connection of the older one goes through the hand-shake of
   docs/migration.md 3.7 and then writes, stopped anywhere between two commands for any time; once the newer one serves, no write of the older
   one may be executed, and it has no user. A connection dies when it is killed by its number, or with the user it is logged in as.
   Mutations: NOLOOK LOOKFIRST MAKELATE DELETEFIRST NOKILL NODELETE */
#ifndef TRIES
#define TRIES 3
#endif
byte conn;               /* number of the older process's connection; 0: none */
bool named, in;          /* has it its name; is it logged in as its own user */
bool user[2];            /* 0: the older one's, 1: the newer one's */
bool serves;             /* the newer one has ended its hand-shake */
proctype Older() {
  byte n; bool saw;
  do
  :: n < TRIES ->
    atomic { n++; conn = n; named = false; in = false; saw = false }
#ifdef LOOKFIRST
    atomic { conn == n -> saw = user[1] }
#endif
    do
    :: atomic { conn != n -> break }                                    /* closed by the server */
    :: atomic { conn == n && !named -> named = true }
    :: atomic { conn == n && named && !in ->
#ifndef LOOKFIRST
#ifndef NOLOOK
         saw = user[1]
#endif
#endif
       };
       if
       :: saw -> atomic { if :: conn == n -> conn = 0 :: else fi; break }  /* fenced: it gives up */
       :: !saw -> skip
       fi;
       atomic { if :: conn == n -> assert(!serves); user[0] = true :: else fi };
       atomic { if :: conn == n && user[0] -> in = true :: else fi };
       if
       :: atomic { conn == n && in -> assert(!serves); conn = 0 }        /* a write is executed */
       :: atomic { conn == n && !in -> conn = 0 }
       :: conn != n -> skip
       fi;
       break
    od
  :: n == TRIES -> break
  od }
inline make() { user[1] = true }
inline kill() { atomic { c = (named -> conn : 0) }; atomic { if :: c && conn == c -> conn = 0 :: else fi } }
inline delete() { s = user[0]; atomic { if :: s -> user[0] = false; if :: in -> in = false; conn = 0 :: else fi :: else fi } }
proctype Newer() {
  byte c; bool s;
#ifndef MAKELATE
  make();
#endif
#ifdef DELETEFIRST
  delete(); kill();
#else
#ifndef NOKILL
  kill();
#endif
#ifndef NODELETE
  delete();
#endif
#endif
#ifdef MAKELATE
  make();
#endif
  atomic { assert(!user[0]); serves = true } }
init { atomic { run Older(); run Newer() } }
