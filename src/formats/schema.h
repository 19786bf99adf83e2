/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - every key of a topology file in one table: where it stands, of what type it is, its
 * default, its limits and one sentence of help. The parser, the defaults, the writer, the error
 * words and the annotated sample are all made from it; placement settings are the library's
 * (gyre_settings). Threads: the table is constant.
 */
#ifndef GY_FORMATS_SCHEMA_H
#define GY_FORMATS_SCHEMA_H

#include "formats/config.h"

enum gy_section {
    GY_SEC_ROOT,
    GY_SEC_NODE,
    GY_SEC_PROXY,
    GY_SEC_BACKEND,
    GY_SEC_LIMITS,
    GY_SEC_MOVE,
};

enum gy_kind {
    GY_KIND_PLACEMENT, /* a mapping of the library's settings */
    GY_KIND_NODES,     /* a list of mappings: section GY_SEC_NODE */
    GY_KIND_SECTION,   /* a mapping: section `sub` */
    GY_KIND_UINT,      /* uint64_t */
    GY_KIND_UINT32,    /* unsigned */
    GY_KIND_MICROS,    /* uint64_t, millionths */
    GY_KIND_SIZE,      /* uint64_t, bytes */
    GY_KIND_DURATION,  /* unsigned, milliseconds */
    GY_KIND_TEXT,      /* char *, no control characters, 1 to max bytes */
    GY_KIND_ADDRESS,   /* char *, "host:port" or "unix:/path" */
    GY_KIND_LISTEN,    /* char **, one address or a list, port 0 allowed */
    GY_KIND_DOWN,      /* enum gy_down, one of `words` */
};

struct gy_key {
    enum gy_section section;
    const char *name;
    enum gy_kind kind;
    size_t offset;        /* in struct gy_root_draft, gy_node_draft or gy_proxy_conf */
    const char *fallback; /* as it would be written; NULL: none */
    uint64_t min, max;
    const char *words;   /* "fail|replica|spill" */
    const char *example; /* what the sample shows when there is no default */
    enum gy_section sub;
    const char *help;
};

/* What the root and one node are read into before the library gets them. */
struct gy_root_draft {
    uint64_t format, version;
    char *removed; /* "3 1 7" */
};
struct gy_node_draft {
    char *name, *address, *zone, *options;
    uint64_t weight; /* millionths */
    unsigned slot;
};

#define GY_SECTION_KEYS 64 /* no section, nor the library's settings, has more keys */
#define GY_LISTEN_MAX   64

const struct gy_key *gy_schema(size_t *count);
const struct gy_key *gy_schema_find(enum gy_section section, struct gy_slice name);
/* The names of a section's keys; returns how many. */
size_t gy_schema_names(enum gy_section section, const char *out[GY_SECTION_KEYS]);
const char *gy_section_name(enum gy_section section); /* "proxy.backend"; "" for the root */
/* Bytes of what a section is read into, and a pointer to a key's place in it. */
static inline void *gy_key_at(const struct gy_key *k, void *base)
{
    return (char *)base + k->offset;
}
/* "0, or 0.000001 to 1000000": what a value must be, for messages and the sample. Returns out. */
char *gy_key_wants(const struct gy_key *k, char *out, size_t size);

#endif
