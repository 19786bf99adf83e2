/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift.c - OpenStack Swift: ring files unpacked, and objects and partitions on them. Threads: one.
 */
#include "lib/like/swift.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/map.h"
#include "vectors/cells.h"

enum { RING_MOST = 1 << 26, HEAD = 10, OUT = 256 };

struct swift {
    const struct vfile *f;
    struct verdict *v;
    struct gy_swift_ring ring;
    struct gy_swift_secret secret;
    struct gy_swift_device *device;
    uint16_t *table;
    uint32_t *len;
    json_t *json;
    uint64_t handoffs;
    char *prefix, *suffix;
};

static bool bad(struct swift *s, const char *why)
{
    refuse(s->v, "ring: %s", why);
    return false;
}

static uint8_t *unpack(const char *path, size_t *len)
{
    gzFile in = gzopen(path, "rb");
    uint8_t *bytes = malloc(RING_MOST);
    int got = in && bytes ? gzread(in, bytes, RING_MOST) : -1;
    if (in) {
        gzclose(in);
    }
    *len = got > 0 ? (size_t)got : 0;
    return bytes;
}

static bool take_devices(struct swift *s)
{
    const json_t *list = json_object_get(s->json, "devs");
    size_t n = json_array_size(list);
    s->device = calloc(n + 1, sizeof *s->device);
    for (size_t i = 0; s->device && i < n; i++) {
        const json_t *d = json_array_get(list, i);
        const char *ip = json_string_value(json_object_get(d, "ip"));
        if (json_is_null(d)) {
            continue;
        }
        if (!ip || json_integer_value(json_object_get(d, "id")) != (json_int_t)i) {
            return bad(s, "malformed device");
        }
        s->device[i] = (struct gy_swift_device){
            .there = true,
            .region = (uint64_t)json_integer_value(json_object_get(d, "region")),
            .zone = (uint64_t)json_integer_value(json_object_get(d, "zone")),
            .ip = ip};
    }
    s->ring.device = s->device;
    s->ring.devices = (uint32_t)n;
    return n > 0;
}

/* Rows of 2-byte ids; the last may be shorter. */
static bool take_rows(struct swift *s, const uint8_t *bytes, size_t len)
{
    const char *order = json_string_value(json_object_get(s->json, "byteorder"));
    json_int_t shift = json_integer_value(json_object_get(s->json, "part_shift"));
    bool big = order && strcmp(order, "big") == 0;
    if (shift < 12 || shift > 31 || (!big && order && strcmp(order, "little") != 0)) {
        return bad(s, "malformed part_shift or byteorder");
    }
    s->ring.part_shift = (unsigned)shift;
    s->ring.part_power = 32 - s->ring.part_shift;
    size_t parts = (size_t)1 << s->ring.part_power, ids = len / 2;
    s->ring.rows = (uint32_t)((ids + parts - 1) / parts);
    s->table = calloc((size_t)s->ring.rows * parts + 1, sizeof *s->table);
    s->len = calloc(s->ring.rows + 1, sizeof *s->len);
    if (!s->table || !s->len || !ids) {
        return bad(s, "no rows");
    }
    for (size_t i = 0; i < ids; i++) {
        const uint8_t *p = bytes + 2 * i;
        s->table[i] = (uint16_t)(big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
        s->len[i / parts]++;
    }
    s->ring.table = s->table;
    s->ring.len = s->len;
    return true;
}

static bool read_ring(struct swift *s, const char *path)
{
    size_t len;
    uint8_t *bytes = unpack(path, &len);
    bool good = bytes && len > HEAD && memcmp(bytes, "R1NG\0\1", 6) == 0;
    size_t head =
        good ? (size_t)bytes[6] << 24 | (size_t)bytes[7] << 16 | (size_t)bytes[8] << 8 | bytes[9]
             : 0;
    if (!good || head > len - HEAD) {
        free(bytes);
        return bad(s, path);
    }
    s->json = json_loadb((const char *)bytes + HEAD, head, 0, NULL);
    good = s->json ? take_devices(s) : bad(s, "malformed JSON");
    good = good && take_rows(s, bytes + HEAD + head, len - HEAD - head);
    free(bytes);
    return good;
}

/* ---- headers ---- */

/* nodes, regions, zones and ips of the header are those of the ring's devices. */
static bool same_devices(const struct swift *s)
{
    const char *node = vf_get(s->f, "nodes"), *region = vf_get(s->f, "regions");
    const char *zone = vf_get(s->f, "zones"), *ip = vf_get(s->f, "ips");
    for (uint32_t i = 0; i < s->ring.devices; i++) {
        const struct gy_swift_device *d = &s->device[i];
        char *end;
        if (!d->there) {
            continue;
        }
        if (!node || !region || !zone || !ip) {
            return false;
        }
        size_t len = strcspn(ip, ",");
        bool good = strtoul(node, &end, 10) == i && *end == '*' &&
                    strtoull(region, NULL, 10) == d->region &&
                    strtoull(zone, NULL, 10) == d->zone && strlen(d->ip) == len &&
                    memcmp(ip, d->ip, len) == 0;
        const char **list[] = {&node, &region, &zone, &ip};
        for (size_t k = 0; k < 4; k++) {
            const char *comma = strchr(*list[k], ',');
            *list[k] = comma ? comma + 1 : NULL;
        }
        if (!good) {
            return false;
        }
    }
    return !node && !region && !zone && !ip;
}

static bool check_ring_fields(struct swift *s)
{
    const char *power = vf_get(s->f, "part_power"), *replicas = vf_get(s->f, "replica_count");
    uint64_t n, ids = 0;
    char *end = NULL;
    for (uint32_t i = 0; i < s->ring.rows; i++) {
        ids += s->len[i];
    }
    double parts = (double)((size_t)1 << s->ring.part_power);
    double off = (replicas ? strtod(replicas, &end) : 0) * parts - (double)ids;
    if (!power || !vf_number(power, &n) || n != s->ring.part_power) {
        return bad(s, "part_power is another");
    }
    if (!replicas || *end || off < -1 || off > 1) {
        return bad(s, "replica_count is another");
    }
    return strcmp(vf_get(s->f, "mode"), "partitions") != 0 || same_devices(s) ||
           bad(s, "the devices are others");
}

static bool take_ring(struct swift *s)
{
    const char *name = vf_get(s->f, "ring"), *slash = strrchr(s->f->path, '/');
    char path[4096];
    if (!name || strchr(name, '/')) {
        return bad(s, "none, or not beside the file");
    }
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - s->f->path) : 0, s->f->path,
             name);
    return read_ring(s, path) && check_ring_fields(s);
}

static bool take_secrets(struct swift *s)
{
    const char *prefix = vf_get(s->f, "hash_path_prefix");
    const char *suffix = vf_get(s->f, "hash_path_suffix"), *most = vf_get(s->f, "handoffs");
    s->prefix = vf_decode_text(prefix ? prefix : "", prefix ? strlen(prefix) : 0);
    s->suffix = vf_decode_text(suffix ? suffix : "", suffix ? strlen(suffix) : 0);
    if (!s->prefix || !s->suffix || (most && !vf_number(most, &s->handoffs))) {
        refuse(s->v, "malformed secret or handoffs");
        return false;
    }
    s->secret =
        (struct gy_swift_secret){s->prefix, s->suffix, strlen(s->prefix), strlen(s->suffix)};
    return true;
}

/* ---- rows ---- */

static bool partition_of(const struct swift *s, const struct cell *c, uint64_t *p)
{
    if (!c->key) {
        return vf_number(c->row->column[vf_column(s->f, "partition")], p) &&
               *p >> s->ring.part_power == 0;
    }
    *p = gy_swift_partition(&s->secret, c->key, c->len, s->ring.part_power);
    return true;
}

static void write_list(struct cell *c, const uint32_t *device, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < sizeof c->got; i++) {
        at += (size_t)snprintf(c->got + at, sizeof c->got - at, "%s%u", i ? "," : "", device[i]);
    }
}

/* The library's topology places the key in the same partition. */
static bool map_agrees(const struct swift *s, const struct cell *c, uint64_t p)
{
    char power[8];
    snprintf(power, sizeof power, "%u", s->ring.part_power);
    const char *settings[] = {
        "like", "swift", "hash_path_prefix", s->prefix, "hash_path_suffix", s->suffix, "part_power",
        power,  NULL};
    gyre_map_t *m = cells_numbered(settings, 1, NULL, s->v);
    bool good = m && gyre_map_hash(m, c->key, c->len) == p;
    gyre_map_unref(m);
    return good;
}

static bool swift_cell(void *self, struct cell *c)
{
    struct swift *s = self;
    uint32_t out[OUT];
    uint64_t p;
    if (s->ring.rows + s->handoffs > OUT || !partition_of(s, c, &p)) {
        return false;
    }
    if (strcmp(c->column, "partition") == 0) {
        snprintf(c->got, sizeof c->got, "%" PRIu64, p);
        return !c->key || map_agrees(s, c, p);
    }
    size_t n = gy_swift_primaries(&s->ring, (uint32_t)p, out);
    if (strcmp(c->column, "primaries") == 0) {
        write_list(c, out, n);
    } else if (strcmp(c->column, "handoff") == 0) {
        size_t all = gy_swift_handoffs(&s->ring, (uint32_t)p, out, n, s->handoffs);
        write_list(c, out + n, all - n);
    } else {
        return false;
    }
    return true;
}

void check_swift(const struct vfile *f, struct verdict *v)
{
    static const char *const objects[] = {
        "hash",     "part_power", "replica_count", "ring", "hash_path_prefix", "hash_path_suffix",
        "handoffs", NULL};
    static const char *const parts[] = {"part_power", "replica_count", "ring", "nodes",
                                        "regions",    "zones",         "ips",  NULL};
    const char *mode = vf_get(f, "mode");
    bool whole = mode && strcmp(mode, "partitions") == 0;
    struct swift s = {.f = f, .v = v};
    if (vf_column(f, "partition") < 0) {
        refuse(v, "no column partition");
    } else if (cells_header(f, whole ? "partitions" : "objects", whole ? NULL : "path",
                            whole ? parts : objects, v) &&
               cells_want(f, "hash", "md5", v) && take_secrets(&s) && take_ring(&s)) {
        cells_check(f, swift_cell, &s, v);
    }
    json_decref(s.json);
    free(s.device);
    free(s.table);
    free(s.len);
    free(s.prefix);
    free(s.suffix);
}
