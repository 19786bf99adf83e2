/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_sizes.c - see live_sizes.h. Slots are asked of in batches, each two round trips. What a
 * server says is believed only so far as it can be true: an answer of another type, more keys than
 * were asked for, or more bytes than a slot can have is an error. A name lives until the next
 * answer is read, so the question of its size is queued before.
 */
#include "cli/live_sizes.h"
#include "cli/live.h"
#include "cli/progress.h"

#include <stdio.h>

enum { BATCH = 128, NAMES = 4096 /* of keys that are asked for at once */ };

#define ANSWER_MAX ((size_t)256 << 20) /* the names of one slot's keys */

struct batch {
    struct gy_sync *s;
    uint64_t sample;
    uint32_t slot[BATCH];
    uint64_t keys[BATCH];
    size_t named[BATCH];
    size_t n;
};

/* One answer, of this type (or of `other`), which may be an error. */
static int take(struct batch *b, const char *asked, char type, char other, struct gy_reply **out,
                gyre_error_t *e)
{
    int rc = gy_sync_read(b->s, out, e);
    const struct gy_reply *r = *out;
    if (!rc && r->type == '-') {
        rc = gy_format_fail(e, GYRE_REFUSED, NULL, "the server says: %.*s", (int)r->text.n,
                            r->text.p);
    } else if (!rc && ((r->type != type && r->type != other) || r->integer < 0)) {
        rc = gy_format_fail(e, GYRE_REFUSED, NULL, "it answers %s with no %s", asked,
                            type == ':' ? "number" : "list of keys");
    }
    return rc;
}

static int count_keys(struct batch *b, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < b->n; i++) {
        char slot[16];
        snprintf(slot, sizeof slot, "%u", b->slot[i]);
        gy_sync_cmd(b->s, "CLUSTER", "COUNTKEYSINSLOT", slot, NULL);
    }
    for (size_t i = 0; !rc && i < b->n; i++) {
        struct gy_reply *r = NULL;
        rc = take(b, "COUNTKEYSINSLOT", ':', ':', &r, e);
        b->keys[i] = !rc ? (uint64_t)r->integer : 0;
        gy_reply_free(r);
    }
    return rc;
}

static uint64_t wanted(const struct batch *b, size_t i)
{
    return b->keys[i] < b->sample ? b->keys[i] : b->sample;
}

/* Queues the question of each key's size. */
static int ask_sizes(struct batch *b, size_t i, const struct gy_reply *names, gyre_error_t *e)
{
    if (names->count > wanted(b, i)) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "it answers GETKEYSINSLOT with %zu keys, asked for %llu",
                              names->count, (unsigned long long)wanted(b, i));
    }
    for (size_t k = 0; k < names->count; k++) {
        if (names->item[k].type != '$') {
            return gy_format_fail(e, GYRE_REFUSED, NULL,
                                  "it answers GETKEYSINSLOT with something that is no key");
        }
        struct gy_slice words[] = {GY_LIT("MEMORY"), GY_LIT("USAGE"), names->item[k].text};
        gy_sync_add(b->s, 3, words);
    }
    b->named[i] = names->count;
    return GYRE_OK;
}

static int name_keys(struct batch *b, size_t from, size_t to, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = from; i < to; i++) {
        char slot[16], some[24];
        snprintf(slot, sizeof slot, "%u", b->slot[i]);
        snprintf(some, sizeof some, "%llu", (unsigned long long)wanted(b, i));
        gy_sync_cmd(b->s, "CLUSTER", "GETKEYSINSLOT", slot, some, NULL);
    }
    for (size_t i = from; !rc && i < to; i++) {
        struct gy_reply *r = NULL;
        rc = take(b, "GETKEYSINSLOT", '*', '*', &r, e);
        rc = rc ? rc : ask_sizes(b, i, r, e);
        gy_reply_free(r);
    }
    return rc;
}

static int refuse_size(uint32_t slot, gyre_error_t *e)
{
    return gy_format_fail(e, GYRE_REFUSED, NULL,
                          "by its answers slot %u has more bytes than a slot can have (%llu)", slot,
                          (unsigned long long)GY_SLOT_BYTES_MAX);
}

/* The keys looked at, and by them all of the slot. One that has gone meanwhile ('_') counts as
 * nothing. */
static int weigh_slot(struct batch *b, size_t i, uint64_t *size, gyre_error_t *e)
{
    uint64_t bytes = 0;
    int rc = GYRE_OK;
    for (size_t k = 0; !rc && k < b->named[i]; k++) {
        struct gy_reply *r = NULL;
        rc = take(b, "MEMORY USAGE", ':', '_', &r, e);
        if (!rc && (uint64_t)r->integer > GY_SLOT_BYTES_MAX - bytes) {
            rc = refuse_size(b->slot[i], e);
        }
        bytes += !rc ? (uint64_t)r->integer : 0;
        gy_reply_free(r);
    }
    double all = b->named[i] ? (double)bytes / (double)b->named[i] * (double)b->keys[i] : 0;
    if (!rc && all > (double)GY_SLOT_BYTES_MAX) {
        rc = refuse_size(b->slot[i], e);
    }
    *size = !rc ? (uint64_t)all : 0;
    return rc;
}

/* Where the slots end whose keys are asked for together: long names would fill the memory. */
static size_t portion(const struct batch *b, size_t from)
{
    size_t to = from;
    uint64_t names = 0;
    do {
        names += wanted(b, to++);
    } while (to < b->n && wanted(b, to) <= NAMES - (names < NAMES ? names : NAMES));
    return to;
}

static int ask(struct batch *b, uint64_t *sizes, gyre_error_t *e)
{
    int rc = count_keys(b, e);
    for (size_t from = 0, to; !rc && from < b->n; from = to) {
        to = portion(b, from);
        rc = name_keys(b, from, to, e);
        for (size_t i = from; !rc && i < to; i++) {
            rc = weigh_slot(b, i, &sizes[b->slot[i]], e);
        }
    }
    b->n = 0;
    return rc;
}

static int ask_master(const char *url, const struct gyre_node *node,
                      const struct gy_slot_owners *owners, uint32_t number, struct batch *b,
                      uint64_t *sizes, uint64_t *done, gyre_error_t *e)
{
    int rc = GYRE_OK;
    b->s = NULL;
    for (uint32_t slot = 0; !rc && slot < GY_REDIS_SLOTS; slot++) {
        if (owners->server[slot] != number) {
            continue;
        }
        if (!b->s) {
            rc = gy_live_connect(url, node->address, ANSWER_MAX, &b->s, e);
        }
        b->slot[b->n++] = slot;
        if (!rc && b->n == BATCH) {
            rc = ask(b, sizes, e);
        }
        gy_progress_at(++*done);
    }
    if (!rc && b->n) {
        rc = ask(b, sizes, e);
    }
    gy_sync_close(b->s);
    b->n = 0;
    if (rc && !*e->file && node->address && !strstr(e->message, node->address)) {
        snprintf(e->file, sizeof e->file, "%.250s", node->address);
        e->code = rc;
    }
    return rc;
}

int gy_live_sizes(const char *url, const gyre_topology_t *t, const struct gy_slot_owners *owners,
                  uint64_t sample, uint64_t *sizes, gyre_error_t *e)
{
    struct batch b = {.sample = sample};
    uint64_t done = 0;
    int rc = GYRE_OK;
    memset(sizes, 0, GY_REDIS_SLOTS * sizeof *sizes);
    gy_progress_begin("weighing slots", GY_REDIS_SLOTS);
    for (uint32_t i = 0; !rc && i < gyre_topology_count(t); i++) {
        rc = ask_master(url, gyre_topology_node(t, i), owners, i + 1, &b, sizes, &done, e);
    }
    gy_progress_end();
    return rc;
}
