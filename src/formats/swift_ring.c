/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift_ring.c - a .ring.gz of OpenStack Swift, unpacked: "R1NG", a 16-bit version, then
 *   1: a 32-bit length, JSON (devs, part_shift, replica_count, byteorder), a row of 16-bit device
 *      numbers for each replica, the last one perhaps shorter;
 *   2 (since 2.36): sections, each a 64-bit length and its bytes; the last 16 bytes say where the
 *      section of the index is, JSON of name to [.., start, .., end, method, checksum]. Numbers of
 *      devices have 2, 4 or 8 bytes, the most significant first.
 * The first row places keys; the others are counted. Source: Swift's "Ring File Formats". Offsets
 * and lengths are checked before they are used.
 */
#include "formats/swift_ring.h"
#include "base/num.h"
#include "formats/redis_slots.h"
#include "formats/swift.h"
#include "formats/tree.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD       6
#define POWER_MOST 20 /* of `like: swift` */
#define ROWS_MOST  1024

struct ring {
    struct gy_reading *r;
    struct gy_pool *p;
    struct gy_swift_devs devs;
    struct gy_slice table;
    unsigned width, power; /* bytes of a number; 2^power partitions */
    bool little;
    uint64_t rows, unassigned; /* of the first row */
};

static const struct gy_mark NOWHERE = {0, 0};

int gy_swift_ring_sniff(struct gy_slice head)
{
    return head.n >= HEAD && memcmp(head.p, "R1NG\0", 5) == 0 ? GY_SURE_YES : GY_SURE_NOT;
}

/* ---- bytes ---- */

static uint64_t big(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

static uint64_t entry(const struct ring *g, size_t i)
{
    const uint8_t *p = g->table.p + i * g->width;
    return g->little ? (uint64_t)(p[0] | p[1] << 8) : big(p, g->width);
}

static uint64_t nobody(const struct ring *g)
{
    return g->width == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * g->width)) - 1;
}

static int cut_off(struct ring *g, const char *what, uint64_t says, uint64_t has)
{
    return gy_read_fail(g->r, GYRE_SYNTAX, NOWHERE,
                        "the ring's %s has %ju bytes by its length and the file has %ju: cut off, "
                        "or no ring",
                        what, (uintmax_t)says, (uintmax_t)has);
}

/* ---- JSON ---- */

static int bad_json(struct ring *g, const struct gy_tree *at, const char *what)
{
    return gy_read_fail(g->r, GYRE_SYNTAX, at ? at->at : (struct gy_mark){1, 1},
                        "the ring's JSON: %s", what);
}

/* A whole number at most so great; false: not there, or another thing. */
static bool uint_of(const struct gy_tree *map, const char *key, uint64_t most, uint64_t *out)
{
    const struct gy_tree *t = gy_tree_get(map, key);
    return t && t->kind == GY_TREE_TEXT && t->plain && !gy_num_uint(t->text, out) && *out <= most;
}

static bool text_of(const struct gy_tree *map, const char *key, struct gy_slice *out)
{
    const struct gy_tree *t = gy_tree_get(map, key);
    if (!t || t->kind != GY_TREE_TEXT || t->text.n == 0) {
        return false;
    }
    *out = t->text;
    return true;
}

static int take_device(struct ring *g, const struct gy_tree *t, uint64_t number)
{
    struct gy_swift_dev dev = {.at = t->at, .id = number, .region = 1, .absent = true};
    if (t->kind == GY_TREE_NULL) {
        return gy_swift_add(g->r, &g->devs, &dev);
    }
    const struct gy_tree *weight = gy_tree_get(t, "weight"), *region = gy_tree_get(t, "region");
    uint64_t id, port;
    dev.absent = false;
    if (!uint_of(t, "id", UINT64_MAX, &id) || id != number) {
        return bad_json(g, t, "a device's id must be its place in devs, from 0");
    }
    if ((region && !uint_of(t, "region", UINT32_MAX, &dev.region)) ||
        !uint_of(t, "zone", UINT32_MAX, &dev.zone)) {
        return bad_json(g, t, "a device has no region and zone that are whole numbers");
    }
    if (!text_of(t, "ip", &dev.ip) || !text_of(t, "device", &dev.device) ||
        !uint_of(t, "port", 65535, &port) || !text_of(t, "port", &dev.port)) {
        return bad_json(g, t, "a device needs ip, port and device");
    }
    if (!weight || !weight->plain || !gy_swift_number(weight->text, &dev.weight) ||
        dev.weight < 0) {
        return bad_json(g, weight ? weight : t, "a device's weight is a number from 0 on");
    }
    return gy_swift_add(g->r, &g->devs, &dev);
}

static int take_devices(struct ring *g, const struct gy_tree *devs)
{
    uint64_t number = 0;
    int rc = devs && devs->kind == GY_TREE_LIST ? GYRE_OK : bad_json(g, devs, "devs is no list");
    for (const struct gy_tree *t = rc ? NULL : devs->first; t && !rc; t = t->next) {
        rc = take_device(g, t, number++);
    }
    return rc;
}

static int take_shift(struct ring *g, const struct gy_tree *root)
{
    uint64_t shift, version;
    if (root->kind != GY_TREE_MAP || !uint_of(root, "part_shift", 32, &shift)) {
        return bad_json(g, root, "part_shift must be 0 to 32");
    }
    g->power = 32 - (unsigned)shift;
    return uint_of(root, "version", UINT64_MAX, &version)
               ? gy_read_fact(g->r, g->p, "build_version", "%ju", (uintmax_t)version)
               : GYRE_OK;
}

/* ---- version 1 ---- */

static int read_v1(struct ring *g, struct gy_doc *doc)
{
    struct gy_slice body = {g->r->text.p + HEAD, g->r->text.n - HEAD};
    if (body.n < 4 || big(body.p, 4) > body.n - 4) {
        return cut_off(g, "JSON", body.n < 4 ? 4 : big(body.p, 4), body.n < 4 ? 0 : body.n - 4);
    }
    struct gy_slice json = {body.p + 4, (size_t)big(body.p, 4)};
    int rc = gy_doc_json(doc, json, GY_JSON_PLAIN, g->r->file, g->r->e);
    rc = rc ? rc : take_shift(g, doc->root);
    if (rc) {
        return rc;
    }
    const struct gy_tree *order = gy_tree_get(doc->root, "byteorder");
    if (order && !gy_tree_is(order, "little") && !gy_tree_is(order, "big")) {
        return bad_json(g, order, "byteorder is little or big");
    }
    if (!uint_of(doc->root, "replica_count", ROWS_MOST, &g->rows) || g->rows == 0) {
        return bad_json(g, doc->root, "replica_count must be 1 to 1024");
    }
    g->width = 2;
    g->little = !gy_tree_is(order, "big"); /* old files do not say: nearly all machines are */
    g->table = (struct gy_slice){json.p + json.n, body.n - 4 - json.n};
    return take_devices(g, gy_tree_get(doc->root, "devs"));
}

/* ---- version 2 ---- */

/* The bytes of a section that begins at a place of the file. */
static int section_at(struct ring *g, const char *name, uint64_t start, struct gy_slice *out)
{
    struct gy_slice t = g->r->text;
    if (start > t.n || t.n - start < 8 || big(t.p + start, 8) > t.n - start - 8) {
        bool size = start <= t.n && t.n - start >= 8;
        return cut_off(g, name, size ? big(t.p + start, 8) : start, size ? t.n - start - 8 : t.n);
    }
    *out = (struct gy_slice){t.p + start + 8, (size_t)big(t.p + start, 8)};
    return GYRE_OK;
}

static void to_hex(const uint8_t *digest, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    }
}

/* MD5 and SHA-256 are compared; of others the section is taken as it is. */
static int check_sum(struct ring *g, const char *name, struct gy_slice data,
                     const struct gy_tree *method, const struct gy_tree *sum)
{
    uint8_t digest[32];
    char hex[65];
    struct gy_slice whole = {data.p - 8, data.n + 8};
    if (gy_tree_is(method, "md5")) {
        gyre_hash_md5(whole.p, whole.n, digest);
        to_hex(digest, 16, hex);
    } else if (gy_tree_is(method, "sha256")) {
        gyre_hash_sha256(whole.p, whole.n, digest);
        to_hex(digest, 32, hex);
    } else {
        return GYRE_OK;
    }
    return gy_tree_is(sum, hex) ? GYRE_OK
                                : gy_read_fail(g->r, GYRE_INVALID, NOWHERE,
                                               "section %s is damaged: its %.*s is another", name,
                                               (int)method->text.n, method->text.p);
}

static int section(struct ring *g, const struct gy_tree *index, const char *name,
                   struct gy_slice *out)
{
    const struct gy_tree *row = gy_tree_get(index, name), *cell[6];
    uint64_t start;
    if (!row || row->kind != GY_TREE_LIST || row->count != 6) {
        return gy_read_fail(g->r, GYRE_SYNTAX, NOWHERE, "the ring has no section %s", name);
    }
    cell[0] = row->first;
    for (size_t i = 1; i < 6; i++) {
        cell[i] = cell[i - 1]->next;
    }
    if (cell[1]->kind != GY_TREE_TEXT || gy_num_uint(cell[1]->text, &start)) {
        return bad_json(g, cell[1], "an offset in the index is no number");
    }
    int rc = section_at(g, name, start, out);
    return rc ? rc : check_sum(g, name, *out, cell[4], cell[5]);
}

static int read_v2(struct ring *g, struct gy_doc *doc, struct gy_doc *more, struct gy_doc *devs)
{
    struct gy_slice text = g->r->text, part;
    uint64_t width;
    if (text.n < HEAD + 24) {
        return cut_off(g, "index", HEAD + 24, text.n);
    }
    int rc = section_at(g, "swift/index", big(text.p + text.n - 16, 8), &part);
    rc = rc ? rc : gy_doc_json(doc, part, GY_JSON_PLAIN, g->r->file, g->r->e);
    rc = rc ? rc : section(g, doc->root, "swift/ring/metadata", &part);
    rc = rc ? rc : gy_doc_json(more, part, GY_JSON_PLAIN, g->r->file, g->r->e);
    rc = rc ? rc : take_shift(g, more->root);
    if (!rc && (!uint_of(more->root, "dev_id_bytes", 8, &width) ||
                (width != 2 && width != 4 && width != 8))) {
        rc = bad_json(g, more->root, "dev_id_bytes must be 2, 4 or 8");
    }
    g->width = rc ? 2 : (unsigned)width;
    rc = rc ? rc : section(g, doc->root, "swift/ring/devices", &part);
    rc = rc ? rc : gy_doc_json(devs, part, GY_JSON_PLAIN, g->r->file, g->r->e);
    rc = rc ? rc : take_devices(g, devs->root);
    rc = rc ? rc : section(g, doc->root, "swift/ring/assignments", &g->table);
    uint64_t row = ((uint64_t)1 << g->power) * g->width;
    g->rows = rc ? 0 : (g->table.n + row - 1) / row;
    return rc;
}

/* ---- the table ---- */

static int check_table(struct ring *g)
{
    uint64_t row = ((uint64_t)1 << g->power) * g->width;
    uint64_t least = g->rows ? (g->rows - 1) * row : 0;
    if (g->table.n % g->width || g->table.n <= least || g->table.n > least + row) {
        return gy_read_fail(g->r, GYRE_SYNTAX, NOWHERE,
                            "the table has %zu bytes; %ju replicas of 2^%u partitions take %ju, "
                            "the last one perhaps fewer: cut off, or no ring",
                            g->table.n, (uintmax_t)g->rows, g->power, (uintmax_t)(g->rows * row));
    }
    return GYRE_OK;
}

static int count_table(struct ring *g)
{
    size_t parts = (size_t)1 << g->power, n = g->table.n / g->width;
    g->devs.copies = (double)n;
    for (size_t i = 0; i < n; i++) {
        uint64_t device = entry(g, i);
        if (device == nobody(g)) {
            g->unassigned += i < parts;
            continue;
        }
        if (device >= g->devs.count || g->devs.list[device].absent) {
            return gy_read_fail(g->r, GYRE_INVALID, NOWHERE,
                                "partition %zu of replica %zu is on device %ju, which is not in "
                                "the list: another byte order, or a broken ring",
                                i % parts, i / parts, (uintmax_t)device);
        }
        g->devs.list[device].assigned++;
    }
    return GYRE_OK;
}

/* "0-5,9" for each device, and behind them for nobody. */
static void list_partitions(const struct ring *g, struct gy_buf *lists)
{
    size_t parts = (size_t)1 << g->power, n = g->table.n / g->width;
    n = n < parts ? n : parts;
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t device = entry(g, i);
        for (next = i + 1; next < n && entry(g, next) == device; next++) {
        }
        struct gy_buf *list = &lists[device == nobody(g) ? g->devs.count : device];
        gy_buf_printf(list, gy_buf_size(list) ? ",%zu" : "%zu", i);
        if (next > i + 1) {
            gy_buf_printf(list, "-%zu", next - 1);
        }
    }
}

static int add_nobody(struct ring *g, struct gy_buf *list)
{
    struct gy_buf options = {0};
    gy_buf_printf(&options, "partitions=%s", gy_buf_cstr(list));
    struct gyre_node node = {
        .size = sizeof node, .name = GY_NO_OWNER, .weight = 1, .options = gy_buf_cstr(&options)};
    int rc = options.failed ? gy_read_nomem(g->r) : gy_read_node(g->r, g->p, NOWHERE, &node);
    gy_buf_fini(&options);
    return rc ? rc
              : gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "partitions-without-owner", NOWHERE,
                             "%ju of %ju partitions have no first replica",
                             (uintmax_t)g->unassigned, (uintmax_t)1 << g->power);
}

static int add_nodes(struct ring *g)
{
    struct gy_buf *lists = calloc(g->devs.count + 1, sizeof *lists);
    int rc = lists ? GYRE_OK : gy_read_nomem(g->r);
    if (!rc && g->power >= 1 && g->power <= POWER_MOST) {
        list_partitions(g, lists);
    }
    for (size_t i = 0; i < g->devs.count && !rc; i++) {
        if (!g->devs.list[i].absent) {
            const char *list = gy_buf_cstr(&lists[i]);
            rc = lists[i].failed ? gy_read_nomem(g->r)
                                 : gy_swift_node(g->r, g->p, &g->devs, i, list);
        }
    }
    if (!rc && gy_buf_size(&lists[g->devs.count])) {
        rc = add_nobody(g, &lists[g->devs.count]);
    }
    for (size_t i = 0; lists && i <= g->devs.count; i++) {
        gy_buf_fini(&lists[i]);
    }
    free(lists);
    return rc;
}

static int tell(struct ring *g)
{
    double replicas = g->devs.copies / (double)((uint64_t)1 << g->power);
    int rc = gy_read_fact(g->r, g->p, "partitions", "%ju", (uintmax_t)1 << g->power);
    rc = rc ? rc : gy_read_fact(g->r, g->p, "replicas", "%.6f", replicas);
    rc = rc ? rc : gy_swift_judge(g->r, g->p, &g->devs);
    if (!rc && g->rows > 1) {
        rc = gy_read_note(g->r, g->p, GY_LEVEL_NOTE, "first-replica", NOWHERE,
                          "keys are placed by the first of %ju rows; the devices' numbers of "
                          "partitions count all of them",
                          (uintmax_t)g->rows);
    }
    return rc ? rc
              : gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "hash-path-secret", NOWHERE,
                             "a ring does not hold the cluster's hash_path_prefix and "
                             "hash_path_suffix, which are hashed with every path: shares are "
                             "right, places of keys only with both of them set (swift.conf)");
}

static int settle(struct ring *g)
{
    char power[16];
    int rc = check_table(g);
    rc = rc ? rc : count_table(g);
    rc = rc ? rc : gy_read_set(g->r, g->p, NOWHERE, "like", "swift");
    bool placed = g->power >= 1 && g->power <= POWER_MOST;
    snprintf(power, sizeof power, "%u", g->power);
    rc = rc || !placed ? rc : gy_read_set(g->r, g->p, NOWHERE, "part_power", power);
    rc = rc ? rc : add_nodes(g);
    rc = rc ? rc : tell(g);
    return rc || placed ? rc
                        : gy_read_unplaced(g->r, g->p, NOWHERE,
                                           "rings of 2^1 to 2^%d partitions are placed; this one "
                                           "has 2^%u",
                                           POWER_MOST, g->power);
}

int gy_swift_ring_parse(struct gy_reading *r)
{
    struct ring g = {.r = r};
    struct gy_doc doc = {0}, more = {0}, devs = {0};
    uint64_t version = r->text.n >= HEAD ? big(r->text.p + 4, 2) : 0;
    int rc = gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &g.p);
    if (!rc && (r->text.n < HEAD || memcmp(r->text.p, "R1NG", 4) != 0)) {
        rc = gy_read_fail(r, GYRE_SYNTAX, NOWHERE,
                          "no ring file: it does not begin with R1NG (rings of before Swift 1.7 "
                          "are pickles; rewrite them with swift-ring-builder)");
    } else if (!rc && version != 1 && version != 2) {
        rc = gy_read_fail(r, GYRE_UNSUPPORTED, NOWHERE,
                          "ring format version %ju; 1 and 2 are known", (uintmax_t)version);
    } else if (!rc) {
        rc = version == 1 ? read_v1(&g, &doc) : read_v2(&g, &doc, &more, &devs);
    }
    rc = rc ? rc : settle(&g);
    gy_doc_fini(&doc);
    gy_doc_fini(&more);
    gy_doc_fini(&devs);
    gy_swift_fini(&g.devs);
    return rc;
}
