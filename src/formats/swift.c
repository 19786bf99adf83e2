/* SPDX-License-Identifier: Apache-2.0 */
/* swift.c - see swift.h. */
#include "formats/swift.h"
#include "base/utf8.h"
#include "formats/address.h"

#include <stdio.h>
#include <stdlib.h>

#define LISTED      64   /* devices whose wanted partitions become a fact */
#define BALANCE_BAD 10.0 /* percent, for a warning */

int gy_swift_add(struct gy_reading *r, struct gy_swift_devs *d, const struct gy_swift_dev *dev)
{
    if (d->count == d->room) {
        size_t room = d->room ? d->room * 2 : 16;
        struct gy_swift_dev *grown = realloc(d->list, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(r);
        }
        d->list = grown;
        d->room = room;
    }
    d->list[d->count++] = *dev;
    return GYRE_OK;
}

void gy_swift_fini(struct gy_swift_devs *d)
{
    free(d->list);
}

static bool is_digit(const struct gy_slice *s, size_t i)
{
    return i < s->n && s->p[i] >= '0' && s->p[i] <= '9';
}

/* "e-3" from place i on, applied; false where it ends elsewhere. */
static bool apply_power(struct gy_slice s, size_t i, double *value)
{
    bool down = i + 1 < s.n && s.p[i + 1] == '-';
    unsigned power = 0, digits = 0;
    i += down || (i + 1 < s.n && s.p[i + 1] == '+') ? 2 : 1;
    for (; is_digit(&s, i) && digits < 3; i++, digits++) {
        power = power * 10 + (unsigned)(s.p[i] - '0');
    }
    for (; power; power--) {
        *value = down ? *value / 10 : *value * 10;
    }
    return digits && i == s.n;
}

bool gy_swift_number(struct gy_slice s, double *out)
{
    size_t i = s.n && s.p[0] == '-', digits = 0;
    double value = 0, scale = 1;
    for (; is_digit(&s, i); i++, digits++) {
        value = value * 10 + (s.p[i] - '0');
    }
    if (i < s.n && s.p[i] == '.') {
        for (i++; is_digit(&s, i); i++, digits++) {
            value = value * 10 + (s.p[i] - '0');
            scale *= 10;
        }
    }
    if (digits == 0 || digits > 40) {
        return false;
    }
    value /= scale;
    if (i < s.n && ((s.p[i] != 'e' && s.p[i] != 'E') || !apply_power(s, i, &value))) {
        return false;
    }
    *out = s.p[0] == '-' ? -value : value;
    return value <= 1e300;
}

/* ---- the topology ---- */

static int name_of(struct gy_reading *r, const struct gy_swift_dev *dev, struct gy_buf *name,
                   struct gy_buf *zone)
{
    bool v6 = memchr(dev->ip.p, ':', dev->ip.n) != NULL;
    gy_buf_puts(name, v6 ? "[" : "");
    gy_buf_add(name, dev->ip.p, dev->ip.n);
    gy_buf_puts(name, v6 ? "]" : "");
    gy_buf_puts(name, dev->port.n ? ":" : "");
    gy_buf_add(name, dev->port.p, dev->port.n);
    gy_buf_putc(name, '/');
    gy_buf_add(name, dev->device.p, dev->device.n);
    gy_buf_printf(zone, "r%ju/z%ju/", (uintmax_t)dev->region, (uintmax_t)dev->zone);
    for (size_t i = 0; i < dev->ip.n; i++) { /* a slash would begin another level */
        gy_buf_putc(zone, dev->ip.p[i] == '/' ? '_' : (char)dev->ip.p[i]);
    }
    return name->failed || zone->failed ? gy_read_nomem(r) : GYRE_OK;
}

static int fill(struct gy_reading *r, struct gy_server *s, const struct gy_swift_dev *dev,
                const char *partitions)
{
    char id[24];
    int n = snprintf(id, sizeof id, "%ju", (uintmax_t)dev->id);
    s->weight = dev->weight;
    s->slots = (uint32_t)(dev->assigned < UINT32_MAX ? dev->assigned : UINT32_MAX);
    s->states |= dev->deleted ? GY_STATE_LEAVING : 0;
    int rc = gy_read_text(r, &s->id, (struct gy_slice){(const uint8_t *)id, (size_t)n});
    return rc || !partitions || !*partitions ? rc : gy_read_text(r, &s->owned, gy_str(partitions));
}

int gy_swift_node(struct gy_reading *r, struct gy_pool *p, const struct gy_swift_devs *d, size_t i,
                  const char *partitions)
{
    const struct gy_swift_dev *dev = &d->list[i];
    struct gy_buf name = {0}, zone = {0}, options = {0}, address = {0};
    struct gy_server *s = NULL;
    char why[GY_ADDRESS_WHY];
    int rc = name_of(r, dev, &name, &zone);
    bool dialled = gy_address_join(&address, dev->ip, dev->port);
    if (partitions && *partitions) {
        gy_buf_printf(&options, "partitions=%s", partitions);
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_buf_cstr(&name),
                             .address = dialled ? gy_buf_cstr(&address) : NULL,
                             .weight = 1,
                             .zone = gy_buf_cstr(&zone),
                             .options = gy_buf_size(&options) ? gy_buf_cstr(&options) : NULL};
    rc = rc || !(options.failed || address.failed) ? rc : gy_read_nomem(r);
    if (!rc && !gy_text_check(gy_str(node.zone), 1024, why)) {
        rc = gy_read_fail(r, GYRE_RANGE, dev->at, "the device's ip %s", why);
    }
    rc = rc ? rc : gy_read_both(r, p, dev->at, &node, &s);
    rc = rc ? rc : fill(r, s, dev, partitions);
    gy_buf_fini(&name);
    gy_buf_fini(&zone);
    gy_buf_fini(&options);
    gy_buf_fini(&address);
    return rc;
}

/* ---- facts and notes ---- */

static int by_place(const void *a, const void *b)
{
    const struct gy_swift_dev *x = *(const struct gy_swift_dev *const *)a;
    const struct gy_swift_dev *y = *(const struct gy_swift_dev *const *)b;
    if (x->region != y->region) {
        return x->region < y->region ? -1 : 1;
    }
    if (x->zone != y->zone) {
        return x->zone < y->zone ? -1 : 1;
    }
    size_t n = x->ip.n < y->ip.n ? x->ip.n : y->ip.n;
    int order = n ? memcmp(x->ip.p, y->ip.p, n) : 0;
    return order ? order : x->ip.n < y->ip.n ? -1 : x->ip.n > y->ip.n;
}

/* How many regions, zones and machines there are; a machine in two zones is two. */
static int tell_places(struct gy_reading *r, struct gy_pool *p, const struct gy_swift_devs *d)
{
    const struct gy_swift_dev **sorted = calloc(d->count + 1, sizeof *sorted);
    size_t n = 0, regions = 0, zones = 0;
    bool one_host = true;
    if (!sorted) {
        return gy_read_nomem(r);
    }
    for (size_t i = 0; i < d->count; i++) {
        if (!d->list[i].absent) {
            sorted[n++] = &d->list[i];
        }
    }
    qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 0; i < n; i++) {
        bool region = i == 0 || sorted[i]->region != sorted[i - 1]->region;
        regions += region;
        zones += region || sorted[i]->zone != sorted[i - 1]->zone;
        one_host = one_host && gy_slice_eq(sorted[i]->ip, sorted[0]->ip);
    }
    int rc = gy_read_fact(r, p, "regions", "%zu", regions);
    rc = rc ? rc : gy_read_fact(r, p, "zones", "%zu", zones);
    rc = rc ? rc : gy_read_fact(r, p, "devices", "%zu", n);
    if (!rc && one_host && n > 1) {
        rc = gy_read_note(r, p, GY_LEVEL_WARNING, "one-host", sorted[0]->at,
                          "all %zu devices, in %zu zone%s, are on one machine, %.*s: with it every "
                          "replica is gone",
                          n, zones, zones == 1 ? "" : "s", (int)sorted[0]->ip.n, sorted[0]->ip.p);
    }
    free(sorted);
    return rc;
}

static double sum_weights(const struct gy_swift_devs *d)
{
    double all = 0;
    for (size_t i = 0; i < d->count; i++) {
        all += d->list[i].absent ? 0 : d->list[i].weight;
    }
    return all;
}

/* As Swift computes a builder's balance: the worst device, in percent of what it is to have. */
static double balance_of(const struct gy_swift_devs *d, double all, size_t *worst)
{
    double most = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct gy_swift_dev *dev = &d->list[i];
        double wanted = d->copies * dev->weight / all;
        double off = dev->absent || wanted <= 0 ? 0 : 100 * (double)dev->assigned / wanted - 100;
        off = off < 0 ? -off : off;
        if (off > most) {
            most = off;
            *worst = i;
        }
    }
    return most;
}

static int tell_wanted(struct gy_reading *r, struct gy_pool *p, const struct gy_swift_devs *d,
                       double all)
{
    struct gy_buf text = {0};
    for (size_t i = 0, n = 0; i < d->count; i++) {
        const struct gy_swift_dev *dev = &d->list[i];
        if (!dev->absent) {
            gy_buf_printf(&text, "%sd%ju %.2f", n++ ? ", " : "", (uintmax_t)dev->id,
                          d->copies * dev->weight / all);
        }
    }
    int rc = text.failed ? gy_read_nomem(r)
                         : gy_read_fact(r, p, "wanted_partitions", "%s", gy_buf_cstr(&text));
    gy_buf_fini(&text);
    return rc;
}

static int note_balance(struct gy_reading *r, struct gy_pool *p, const struct gy_swift_devs *d,
                        double all)
{
    size_t worst = 0;
    uint64_t assigned = 0;
    double off = balance_of(d, all, &worst);
    for (size_t i = 0; i < d->count; i++) {
        assigned += d->list[i].assigned;
    }
    int rc = gy_read_fact(r, p, "computed_balance", "%.2f", off);
    if (!rc && assigned == 0) {
        return gy_read_note(r, p, GY_LEVEL_WARNING, "not-rebalanced", d->list[0].at,
                            "no device has a partition: the ring was never rebalanced");
    }
    const struct gy_swift_dev *dev = &d->list[worst];
    if (!rc && off >= BALANCE_BAD) {
        rc = gy_read_note(r, p, GY_LEVEL_WARNING, "unbalanced", dev->at,
                          "device %ju has %ju partitions, where its weight asks for %.2f (%.2f%% "
                          "off): rebalance; if that changes nothing, the weights of zones are too "
                          "unequal for so many replicas",
                          (uintmax_t)dev->id, (uintmax_t)dev->assigned,
                          d->copies * dev->weight / all, off);
    }
    return rc;
}

int gy_swift_judge(struct gy_reading *r, struct gy_pool *p, const struct gy_swift_devs *d)
{
    double all = sum_weights(d);
    int rc = tell_places(r, p, d);
    if (rc || d->count == 0 || d->copies <= 0 || all <= 0) {
        return rc;
    }
    if (d->count <= LISTED) {
        rc = tell_wanted(r, p, d, all);
    }
    return rc ? rc : note_balance(r, p, d, all);
}
