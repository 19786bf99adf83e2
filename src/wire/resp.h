/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.h - the Redis protocol (RESP2, and the RESP3 types a server may send), bytes in, messages
 * out; no sockets.
 *
 * Requests: an array of bulk strings, or an inline command (Redis 7.0 networking.c rules: quotes,
 * escapes). Replies: only their ends are found; the bytes themselves are forwarded unread.
 * gy_reply_parse builds a tree where one is needed. The parsers are incremental and look at each
 * byte once, however the input is cut. Threads: one thread an object.
 */
#ifndef GY_WIRE_RESP_H
#define GY_WIRE_RESP_H

#include "base/buf.h"

enum gy_parse { GY_PARSE_MORE, GY_PARSE_DONE, GY_PARSE_ERROR };

/* Bounds; a request beyond them is a protocol error, answered and closed as Redis does. They are
 * tested before anything is allocated. */
struct gy_req_limits {
    uint64_t bulk;        /* one argument, bytes */
    uint64_t total;       /* a whole request, bytes */
    uint32_t args;        /* arguments in one request */
    uint32_t inline_line; /* an inline command's or a header's line, bytes (Redis: 64 KB) */
};

/* A parsed request. Its slices point into the caller's bytes (RESP) or into the parser (inline) and
 * live until the next call of gy_req_parse or until the caller moves the bytes. argc 0: an empty
 * request (blank line, *0), to be skipped. */
struct gy_request {
    uint32_t argc;
    struct gy_slice *argv;
    size_t bytes;   /* how many bytes of the input it took */
    bool is_inline; /* then the input bytes are not RESP and must not be forwarded as they are */
};

/* Owned by the parser; callers look at `error` only. */
struct gy_req_parser {
    struct gy_req_limits limits;
    size_t pos;    /* where the unfinished item starts: all before it is parsed */
    size_t seen;   /* a cut line's bytes already searched for their end (0: none) */
    size_t need;   /* gy_req_need */
    uint32_t want; /* arguments announced */
    uint32_t have; /* arguments complete */
    int64_t bulk;  /* length of the bulk being read; -1: its header is next */
    bool in_array;
    bool done;    /* the last call gave a request: the next one starts afresh */
    uint32_t cap; /* of argv and offs: grows with arguments that came, not with those announced */
    size_t *offs; /* argument offsets from the start of the request: the caller may move the bytes
                     between calls */
    struct gy_slice *argv;
    struct gy_buf inline_args;
    const char *error; /* after GY_PARSE_ERROR: the text for "-ERR Protocol error: %s" */
    char error_text[24];
};

void gy_req_init(struct gy_req_parser *p, const struct gy_req_limits *limits);
void gy_req_fini(struct gy_req_parser *p);
/* Parses the request that starts at in. MORE: call again with the same first byte and more behind
 * it (the bytes may have moved). ERROR: for good; the stream cannot be read any further. */
enum gy_parse gy_req_parse(struct gy_req_parser *p, const uint8_t *in, size_t n,
                           struct gy_request *out);
/* After MORE: how many bytes must come before the parser gets any further, so that a 100 MB bulk is
 * read into one buffer instead of one doubled blindly. It was only *announced* (within the limits):
 * who has many clients reserves in proportion to what has come. */
size_t gy_req_need(const struct gy_req_parser *p);

/* ---- replies ---- */

#define GY_REPLY_DEPTH 32 /* nesting allowed; deeper is an error */

/* Finds where one reply ends. Feed bytes as they come; `used` says how many belong to this reply.
 */
struct gy_reply_scan {
    uint64_t skip;                 /* payload bytes (and CR LF) still to pass over */
    uint64_t left[GY_REPLY_DEPTH]; /* elements still to come at each depth */
    unsigned depth;
    uint8_t line[64]; /* a header line cut by the end of input */
    unsigned line_len;
    bool in_simple; /* inside a + or - line of any length */
    bool cr;        /* ... and its last byte so far was a CR */
    unsigned attrs; /* attributes open in front of the outermost reply */
    uint8_t first;  /* type byte of the outermost reply: '+', '-', ':', '$', '*', ...; 0: not yet */
};

void gy_reply_scan_init(struct gy_reply_scan *s);
enum gy_parse gy_reply_scan(struct gy_reply_scan *s, const uint8_t *in, size_t n, size_t *used);

/* A parsed reply: for the mover, hand-shakes and tests. type: '+', '-', ':', '$', '*', '_' (nil).
 * RESP3 is told in these: maps (keys and values in turn), sets and pushes become '*', booleans ':',
 * doubles and big numbers '+', bulk errors '-', verbatim strings '$' without their format;
 * attributes are dropped. */
struct gy_reply {
    char type;
    int64_t integer;
    struct gy_slice text;  /* '+', '-', '$' */
    size_t count;          /* '*' */
    struct gy_reply *item; /* count of them */
};
/* Parses one complete reply; the tree is one malloc block, the texts point into `in`. Bytes behind
 * the reply are not looked at. NULL: malformed, incomplete or no memory. */
struct gy_reply *gy_reply_parse(const uint8_t *in, size_t n);
void gy_reply_free(struct gy_reply *r);
/* Is it the status, error or string `text`? For "OK" and the like; r may be NULL. */
bool gy_reply_is(const struct gy_reply *r, const char *text);

/* ---- writing ---- */

void gy_resp_array(struct gy_buf *b, size_t count);
void gy_resp_bulk(struct gy_buf *b, const void *p, size_t n);
void gy_resp_bulk_str(struct gy_buf *b, const char *s);
void gy_resp_nil(struct gy_buf *b);
void gy_resp_int(struct gy_buf *b, int64_t v);
/* "+s\r\n" and "-text\r\n" (the text begins with its code, "ERR ..."); control bytes in the text
 * become blanks, so that no key can forge a reply. */
void gy_resp_simple(struct gy_buf *b, const char *s);
void gy_resp_error(struct gy_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gy_resp_verror(struct gy_buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
void gy_resp_command(struct gy_buf *b, size_t argc, const struct gy_slice *argv);
/* All arguments as C strings, NULL-terminated: gy_resp_cmd(b, "HGET", rec, "st", NULL) */
void gy_resp_cmd(struct gy_buf *b, ...) __attribute__((sentinel));

/* ---- hash tags ---- */
/* Redis Cluster's rule (spec "Hash tags"): what stands between the first open and the first close
 * after it, if not empty; else the whole key. open 0: no tags. */
struct gy_slice gy_hash_tag(struct gy_slice key, char open, char close);

#endif
