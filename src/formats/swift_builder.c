/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift_builder.c - what `swift-ring-builder FILE.builder` prints, in every release since 1.4:
 *
 *   FILE.builder, build version 4[, id ...]
 *   1024 partitions, 3.000000 replicas, [1 regions,] 4 zones, 4 devices, 0.00 balance[, ...]
 *   Devices: id [region] zone ip address ...
 *
 * and a row a device, whose columns the header names: old rows have ip and port, and those for
 * replication, apart, new ones ip:port. What devices have of the partitions is counted, not listed,
 * so such a pool is not placed.
 */
#include "formats/swift_builder.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/swift.h"

#include <stdlib.h>

struct listing {
    struct gy_reading *r;
    struct gy_pool *p;
    struct gy_lines l;
    struct gy_swift_devs devs;
    bool header, has_region, has_replication, joined; /* of the rows: joined is ip:port */
    bool summed;
    uint64_t devices; /* as the summary says */
    struct gy_mark summary_at;
};

int gy_swift_builder_sniff(struct gy_slice head)
{
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct gy_slice text = gy_slice_trim(l.line);
        if (gy_slice_starts(text, "Devices:") && gy_slice_has(text, " zone ") &&
            gy_slice_has(text, " ip address") && gy_slice_has(text, " weight partitions balance")) {
            return GY_SURE_YES;
        }
    }
    return GY_SURE_NOT;
}

/* ---- the lines above ---- */

/* "object.builder, build version 6, id 1a2b" */
static int take_version(struct listing *b, struct gy_slice line)
{
    const uint8_t *at = memmem(line.p, line.n, ", build version ", 16);
    if (!at) {
        return GYRE_OK;
    }
    struct gy_slice rest = {at + 16, (size_t)(line.p + line.n - at) - 16};
    struct gy_slice version = gy_slice_trim(gy_slice_cut(&rest, ','));
    int rc = gy_read_fact(b->r, b->p, "builder", "%.*s", (int)(at - line.p), line.p);
    return rc ? rc : gy_read_fact(b->r, b->p, "build_version", "%.*s", (int)version.n, version.p);
}

/* One "NUMBER word" of the summary. */
static int take_number(struct listing *b, struct gy_slice part, double *partitions,
                       double *replicas)
{
    static const char *const facts[] = {"partitions", "replicas", "balance", "dispersion"};
    struct gy_slice number, word;
    double value;
    char q[GY_QUOTE];
    if (!gy_word_next(&part, &number) || !gy_word_next(&part, &word)) {
        return GYRE_OK;
    }
    if (!gy_swift_number(number, &value)) {
        return gy_read_fail(b->r, GYRE_SYNTAX, gy_lines_mark(&b->l, number),
                            "%s is no number of %.*s", gy_utf8_quote(q, number), (int)word.n,
                            word.p);
    }
    if (gy_slice_eq(word, GY_LIT("devices"))) {
        b->devices = value >= 0 && value < 1e9 ? (uint64_t)value : 0;
        b->summary_at = gy_lines_mark(&b->l, number);
    }
    *partitions = gy_slice_eq(word, GY_LIT("partitions")) ? value : *partitions;
    *replicas = gy_slice_eq(word, GY_LIT("replicas")) ? value : *replicas;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (gy_slice_eq(word, gy_str(facts[i]))) {
            return gy_read_fact(b->r, b->p, facts[i], "%.*s", (int)number.n, number.p);
        }
    }
    return GYRE_OK;
}

static int take_summary(struct listing *b, struct gy_slice line)
{
    double partitions = 0, replicas = 0;
    struct gy_mark at = gy_lines_mark(&b->l, line);
    int rc = GYRE_OK;
    for (struct gy_slice rest = line; !rc && rest.n;) {
        rc = take_number(b, gy_slice_cut(&rest, ','), &partitions, &replicas);
    }
    if (rc) {
        return rc;
    }
    uint64_t whole = partitions >= 1 && partitions <= 4294967296.0 ? (uint64_t)partitions : 0;
    if (!whole || whole & (whole - 1) || (double)whole != partitions) {
        return gy_read_fail(b->r, GYRE_INVALID, at,
                            "the partitions of a ring are a power of two, up to 2^32");
    }
    if (replicas < 0 || replicas > 1e6) {
        return gy_read_fail(b->r, GYRE_RANGE, at, "no ring has so many replicas");
    }
    b->devs.copies = partitions * replicas;
    b->summed = true;
    return GYRE_OK;
}

/* ---- rows ---- */

static int bad_row(struct listing *b, struct gy_slice at, const char *what)
{
    char q[GY_QUOTE];
    if (at.n == 0) {
        return gy_read_fail(b->r, GYRE_SYNTAX, gy_lines_mark(&b->l, at),
                            "a device's row ends before its %s: cut off?", what);
    }
    return gy_read_fail(b->r, GYRE_SYNTAX, gy_lines_mark(&b->l, at),
                        "a device's row has %s where its %s belongs", gy_utf8_quote(q, at), what);
}

static int take_uint(struct listing *b, struct gy_slice *rest, const char *what, uint64_t *out)
{
    struct gy_slice word;
    return gy_word_next(rest, &word) && !gy_num_uint(word, out) ? GYRE_OK : bad_row(b, word, what);
}

/* "10.0.0.1:6200", "[fe80::1]:6200", or the two apart. */
static int take_endpoint(struct listing *b, struct gy_slice *rest, struct gy_slice *ip,
                         struct gy_slice *port)
{
    uint64_t number;
    if (!gy_word_next(rest, ip)) {
        return bad_row(b, *ip, "ip");
    }
    if (b->joined) {
        const uint8_t *colon = memrchr(ip->p, ':', ip->n);
        if (!colon) {
            return bad_row(b, *ip, "ip:port");
        }
        *port = (struct gy_slice){colon + 1, ip->n - (size_t)(colon + 1 - ip->p)};
        ip->n = (size_t)(colon - ip->p);
        if (ip->n > 2 && ip->p[0] == '[' && ip->p[ip->n - 1] == ']') {
            *ip = (struct gy_slice){ip->p + 1, ip->n - 2};
        }
    } else if (!gy_word_next(rest, port)) {
        return bad_row(b, *port, "port");
    }
    return gy_num_uint(*port, &number) || number > 65535 ? bad_row(b, *port, "port") : GYRE_OK;
}

static int take_weight(struct listing *b, struct gy_slice *rest, struct gy_swift_dev *dev)
{
    struct gy_slice word, balance;
    double ignored;
    if (!gy_word_next(rest, &word) || !gy_swift_number(word, &dev->weight) || dev->weight < 0) {
        return bad_row(b, word, "weight");
    }
    int rc = take_uint(b, rest, "partitions", &dev->assigned);
    if (rc) {
        return rc;
    }
    bool there = gy_word_next(rest, &balance);
    return there && (gy_swift_number(balance, &ignored) || gy_slice_eq(balance, GY_LIT("MAX")))
               ? GYRE_OK
               : bad_row(b, balance, "balance");
}

static int read_row(struct listing *b)
{
    struct gy_swift_dev dev = {.region = 1};
    struct gy_slice rest = b->l.line, ip, port, flag, first = gy_slice_trim(rest);
    dev.at = gy_lines_mark(&b->l, first);
    int rc = take_uint(b, &rest, "id", &dev.id);
    rc = rc || !b->has_region ? rc : take_uint(b, &rest, "region", &dev.region);
    rc = rc ? rc : take_uint(b, &rest, "zone", &dev.zone);
    rc = rc ? rc : take_endpoint(b, &rest, &dev.ip, &dev.port);
    rc = rc || !b->has_replication ? rc : take_endpoint(b, &rest, &ip, &port);
    if (!rc && !gy_word_next(&rest, &dev.device)) {
        rc = bad_row(b, dev.device, "name");
    }
    rc = rc ? rc : take_weight(b, &rest, &dev);
    dev.deleted = !rc && gy_word_next(&rest, &flag) && gy_slice_eq(flag, GY_LIT("DEL"));
    return rc ? rc : gy_swift_add(b->r, &b->devs, &dev);
}

static int read_line(struct listing *b)
{
    struct gy_slice text = gy_slice_trim(b->l.line);
    if (gy_slice_starts(text, "Devices:")) {
        b->header = true;
        b->has_region = gy_slice_has(text, " region ");
        b->has_replication = gy_slice_has(text, " replication ip");
        b->joined = gy_slice_has(text, " ip address:port");
        return GYRE_OK;
    }
    if (!b->header) {
        return gy_slice_has(text, " partitions, ") && gy_slice_has(text, " devices, ")
                   ? take_summary(b, text)
                   : take_version(b, text);
    }
    return text.n && text.p[0] >= '0' && text.p[0] <= '9' ? read_row(b) : GYRE_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct gy_swift_dev *x = a, *y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : x->at.line < y->at.line ? -1 : 1;
}

static int check_devices(struct listing *b)
{
    struct gy_swift_devs *d = &b->devs;
    if (d->count == 0) {
        return gy_read_fail(b->r, GYRE_EMPTY, (struct gy_mark){1, 1}, "there is no device in it");
    }
    if (b->summed && b->devices != d->count) {
        return gy_read_fail(b->r, GYRE_INVALID, b->summary_at,
                            "it says %ju devices and lists %zu: cut off?", (uintmax_t)b->devices,
                            d->count);
    }
    qsort(d->list, d->count, sizeof *d->list, by_id);
    for (size_t i = 1; i < d->count; i++) {
        if (d->list[i].id == d->list[i - 1].id) {
            return gy_read_fail(b->r, GYRE_DUPLICATE, d->list[i].at,
                                "device %ju stands twice; first on line %u",
                                (uintmax_t)d->list[i].id, d->list[i - 1].at.line);
        }
    }
    return GYRE_OK;
}

int gy_swift_builder_parse(struct gy_reading *r)
{
    struct listing b = {.r = r, .l = gy_lines_of(r->text)};
    int rc = gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &b.p);
    while (!rc && gy_lines_next(&b.l)) {
        rc = read_line(&b);
    }
    rc = rc ? rc : check_devices(&b);
    rc = rc ? rc : gy_read_set(r, b.p, (struct gy_mark){1, 1}, "like", "swift");
    for (size_t i = 0; i < b.devs.count && !rc; i++) {
        rc = gy_swift_node(r, b.p, &b.devs, i, NULL);
    }
    rc = rc ? rc : gy_swift_judge(r, b.p, &b.devs);
    if (!rc) {
        rc = gy_read_unplaced(r, b.p, b.devs.list[0].at,
                              "the builder's listing says how many partitions each device has, not "
                              "which; the .ring.gz file says it");
    }
    gy_swift_fini(&b.devs);
    return rc;
}
