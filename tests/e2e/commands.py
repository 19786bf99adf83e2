# SPDX-License-Identifier: Apache-2.0
"""A long conversation with a server, one command a line, in which every answer is determined.

Each command runs on a fresh data set in this order, through the proxy and on a server of its own;
the two must answer with the same bytes. "~" before a line: only the kind of the answer is compared
(idle times, memory, scripts' hashes seeds); "?": the elements are compared without their order. {t}
and {u} are tags: the keys of one stand together.
"""

LINES = r"""
SET s v
GET s
GET none
SET s w NX
SET s w XX GET
SET s x KEEPTTL
SETNX s y
SETNX s2 y
SETEX e 100 v
PSETEX pe 100000 v
GETEX e PERSIST
TTL e
GETSET s z
APPEND s more
STRLEN s
GETRANGE s 1 3
SUBSTR s 0 1
SETRANGE s 2 XY
GET s
GETDEL s
GETDEL s
INCR n
INCRBY n 41
DECR n
DECRBY n 2
INCRBYFLOAT n 0.5
INCR n
SET n2 9223372036854775807
INCR n2
GET
GET a b
SET s
SET s v BADOPTION
SETEX e 0 v
LCS {t}l1 {t}l2
MSETNX {t}m1 1 {t}m2 2
MSETNX {t}m1 1 {t}m3 2
SETBIT b 7 1
SETBIT b 100 1
GETBIT b 7
BITCOUNT b
BITCOUNT b 0 0
BITPOS b 1
BITPOS b 0
BITFIELD b SET u8 0 255 GET u8 0 INCRBY u2 100 1
BITFIELD_RO b GET u8 0
BITOP NOT {t}bd {t}bs
BITOP OR {t}bd {t}m1 {t}m2
HSET h f v g w
HSET h f v2
HSETNX h f no
HSETNX h i yes
HGET h f
HGET h none
HMSET h j 1 k 2
HMGET h f none j
HGETALL h
HKEYS h
HVALS h
HLEN h
HEXISTS h f
HSTRLEN h f
HINCRBY h j 5
HINCRBYFLOAT h j 0.25
HINCRBY h f 1
HDEL h f none
HRANDFIELD one 1
HSET one only 1
HRANDFIELD one
HRANDFIELD one 5 WITHVALUES
HSCAN h 0
HGET s2 f
RPUSH l a b c
LPUSH l z
LPUSHX l y
LPUSHX none y
RPUSHX l d
LRANGE l 0 -1
LLEN l
LINDEX l 1
LINDEX l 99
LINSERT l BEFORE b B
LSET l 0 first
LSET l 99 x
LSET none 0 x
LPOS l b
LREM l 0 B
LTRIM l 0 3
LPOP l
LPOP l 2
RPOP l
RPOP none
RPUSH {t}l a b c d
LMOVE {t}l {t}l2x LEFT RIGHT
RPOPLPUSH {t}l {t}l2x
LRANGE {t}l2x 0 -1
LMPOP 1 {t}l LEFT COUNT 2
LMPOP 2 {t}l {t}l2x RIGHT
SADD i 1 2 3
SADD i 3 4
SCARD i
SISMEMBER i 3
SMISMEMBER i 1 9
SMEMBERS i
SREM i 1 9
SSCAN i 0
SPOP single
SADD single x
SRANDMEMBER single
SRANDMEMBER single -3
SPOP single
SADD {t}a 1 2 3
SADD {t}b 2 3 4
SINTER {t}a {t}b
SUNION {t}a {t}b
SDIFF {t}a {t}b
SINTERSTORE {t}c {t}a {t}b
SUNIONSTORE {t}c {t}a {t}b
SDIFFSTORE {t}c {t}a {t}b
SINTERCARD 2 {t}a {t}b
SMOVE {t}a {t}b 1
~SINTERCARD 0 {t}a
ZADD z 1 a 2 b 3 c
ZADD z NX 9 a
ZADD z XX CH 5 a
ZADD z GT CH 1 a
ZADD z INCR 1 a
ZINCRBY z 0.5 b
ZSCORE z b
ZMSCORE z a none
ZCARD z
ZCOUNT z 2 (6
ZRANK z a
ZREVRANK z a
ZRANGE z 0 -1 WITHSCORES
ZRANGE z 1 9 BYSCORE LIMIT 0 2
ZREVRANGE z 0 1
ZRANGEBYSCORE z -inf +inf WITHSCORES
ZREVRANGEBYSCORE z +inf -inf
ZADD zl 0 a 0 b 0 c
ZRANGEBYLEX zl [a (c
ZREVRANGEBYLEX zl + -
ZLEXCOUNT zl - +
ZREMRANGEBYLEX zl [a [a
ZREMRANGEBYRANK zl 0 0
ZREMRANGEBYSCORE zl 0 0
ZPOPMIN z
ZPOPMAX z 5
ZADD z1 1 only
ZRANDMEMBER z1
ZRANDMEMBER z1 2 WITHSCORES
ZREM z1 only none
ZSCAN z1 0
ZADD {t}z 1 a 2 b
ZADD {t}y 1 b 2 c
ZUNION 2 {t}z {t}y WITHSCORES
ZINTER 2 {t}z {t}y WITHSCORES
ZDIFF 2 {t}z {t}y WITHSCORES
ZUNIONSTORE {t}zd 2 {t}z {t}y WEIGHTS 2 3
ZINTERSTORE {t}zd 2 {t}z {t}y AGGREGATE MAX
ZDIFFSTORE {t}zd 2 {t}z {t}y
ZINTERCARD 2 {t}z {t}y LIMIT 1
ZRANGESTORE {t}zr {t}z 0 -1
ZMPOP 2 {t}zr {t}zd MIN
GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
GEODIST g Palermo Catania km
GEOHASH g Palermo Catania
GEOPOS g Palermo none
GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC
GEOSEARCHSTORE {t}gd {t}g FROMLONLAT 15 37 BYRADIUS 200 km
GEORADIUS g 15 37 200 km ASC
GEORADIUS_RO g 15 37 200 km ASC WITHDIST
GEORADIUSBYMEMBER g Palermo 200 km ASC
GEORADIUSBYMEMBER_RO g Palermo 200 km ASC
GEORADIUS {t}g 15 37 200 km STORE {t}gs
PFADD p a b c
PFADD p a
PFCOUNT p
PFADD {t}p1 a b
PFADD {t}p2 b c
PFCOUNT {t}p1 {t}p2
PFMERGE {t}p3 {t}p1 {t}p2
PFCOUNT {t}p3
XADD x 1-1 f v
XADD x 2-1 f v g w
XADD x 2-1 f again
XADD x MAXLEN 2 3-1 f v
XLEN x
XRANGE x - +
XREVRANGE x + - COUNT 1
XREAD COUNT 2 STREAMS x 0
XREAD STREAMS {t}x {t}xx 0 0
XGROUP CREATE x grp 0
XGROUP CREATE x grp 0
XGROUP CREATE none grp $
XGROUP CREATECONSUMER x grp c9
XREADGROUP GROUP grp c1 COUNT 1 STREAMS x >
XPENDING x grp
XACK x grp 2-1
XREADGROUP GROUP grp c1 COUNT 1 STREAMS x >
XCLAIM x grp c2 0 3-1 JUSTID
XAUTOCLAIM x grp c3 0 0 JUSTID
XGROUP DELCONSUMER x grp c9
XGROUP SETID x grp 0
XINFO STREAM x
XINFO GROUPS x
~XINFO CONSUMERS x grp
XGROUP DESTROY x grp
XSETID x 9-9
XTRIM x MAXLEN 1
XDEL x 3-1
TYPE h
TYPE none
TYPE x
EXPIRE h 100
EXPIRE h 100 NX
TTL h
PEXPIRE h 100000 XX
PERSIST h
PERSIST h
EXPIREAT h 33177117420
EXPIRETIME h
PEXPIREAT h 33177117420000
PEXPIRETIME h
TTL none
PTTL none
OBJECT ENCODING i
OBJECT REFCOUNT l
~OBJECT IDLETIME h
OBJECT FREQ h
~MEMORY USAGE h
DUMP i
DUMP none
RESTORE r 0 "\x00\xc0\x05\x0a\x00\xc4\xe4\xe1v\xbd\x98\x1a\xdf"
RESTORE r 0 broken
COPY {t}m1 {t}copy
COPY {t}m1 {t}copy
COPY {t}m1 {t}copy REPLACE
RENAME {t}copy {t}moved
RENAME {t}none {t}moved
RENAMENX {t}moved {t}m1
RENAMENX {t}moved {t}free
RPUSH so 3 1 2
SORT so
SORT so DESC LIMIT 0 2
SORT_RO so ALPHA
SORT {t}so2 STORE {t}sorted
EVAL "return {KEYS[1], ARGV[1], redis.call('SET', KEYS[1], ARGV[1])}" 1 ev hello
EVAL_RO "return redis.call('GET', KEYS[1])" 1 ev
EVAL "return redis.call('MGET', KEYS[1], KEYS[2])" 2 {t}m1 {t}m2
EVAL "return nonsense(" 1 ev
EVALSHA ffffffffffffffffffffffffffffffffffffffff 1 ev
EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 1 ev
FCALL none 1 ev
FCALL_RO none 1 ev
MSET a 1 b 2 c 3 d 4 e5 5 f 6
MGET a b c none d e5 f
MGET a a a
MGET h l a
EXISTS a b none a
TOUCH a b none
DEL a b none a
UNLINK c d none
~MSET a 1 b
MSET dup 1 dup 2
MGET dup
DEL
MGET
EXISTS h l i z none
GET "bin\x00key\r\n"
SET "bin\x00key\r\n" "val\x00\xff\r\nue"
GET "bin\x00key\r\n"
SET "" empty
GET ""
GET {}a
SET {}a nothing
MGET {}a {}b "{" "}"
GET {t
PING
PING hello
PING a b
ECHO text
SELECT 0
NOSUCHCOMMAND
GET too many args here
get s2
gEt s2
"""


def lines():
    """(how to compare, [arguments])."""
    for line in LINES.strip().splitlines():
        how = line[0] if line[0] in "~?" else "="
        yield how, split(line.lstrip("~?"))


def split(line):
    """Arguments as redis-cli reads them: words, or "quoted" with \\xNN, \\r, \\n."""
    out, i = [], 0
    data = line.encode("latin-1")
    while i < len(data):
        if data[i:i + 1] == b" ":
            i += 1
        elif data[i:i + 1] == b'"':
            j = i + 1
            while data[j:j + 1] != b'"':
                j += 2 if data[j:j + 1] == b"\\" else 1
            out.append(data[i + 1:j].decode("unicode_escape").encode("latin-1"))
            i = j + 1
        else:
            j = data.find(b" ", i)
            j = len(data) if j < 0 else j
            out.append(data[i:j])
            i = j
    return out
