/* SPDX-License-Identifier: Apache-2.0 */
/* live_sizes.c - see live_sizes.h. Slots are asked of in batches, each three round trips. */
#include "cli/live_sizes.h"
#include "cli/live.h"
#include "cli/progress.h"

#include <stdio.h>

enum { BATCH = 128 };

struct batch {
    struct gy_sync *s;
    uint32_t slot[BATCH];
    uint64_t keys[BATCH];
    struct gy_reply *names[BATCH];
    size_t n;
    char sample[24];
};

static int refuse(const struct gy_reply *r, gyre_error_t *e)
{
    return r->type == '-' ? gy_format_fail(e, GYRE_REFUSED, NULL, "the server says: %.*s",
                                           (int)r->text.n, r->text.p)
                          : GYRE_OK;
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
        rc = gy_sync_read(b->s, &r, e);
        rc = rc ? rc : refuse(r, e);
        b->keys[i] = !rc && r->type == ':' && r->integer > 0 ? (uint64_t)r->integer : 0;
        gy_reply_free(r);
    }
    return rc;
}

static int name_keys(struct batch *b, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < b->n; i++) {
        char slot[16];
        snprintf(slot, sizeof slot, "%u", b->slot[i]);
        gy_sync_cmd(b->s, "CLUSTER", "GETKEYSINSLOT", slot, b->keys[i] ? b->sample : "0", NULL);
    }
    for (size_t i = 0; !rc && i < b->n; i++) {
        struct gy_reply *r = NULL;
        rc = gy_sync_read(b->s, &r, e);
        rc = rc ? rc : refuse(r, e);
        b->names[i] = r;
    }
    return rc;
}

/* A key that has gone meanwhile counts as nothing. */
static int weigh_keys(struct batch *b, uint64_t *sizes, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < b->n; i++) {
        for (size_t k = 0; k < b->names[i]->count; k++) {
            struct gy_slice words[] = {GY_LIT("MEMORY"), GY_LIT("USAGE"),
                                       b->names[i]->item[k].text};
            gy_sync_add(b->s, 3, words);
        }
    }
    for (size_t i = 0; !rc && i < b->n; i++) {
        uint64_t bytes = 0, looked = b->names[i]->count;
        for (size_t k = 0; !rc && k < looked; k++) {
            struct gy_reply *r = NULL;
            rc = gy_sync_read(b->s, &r, e);
            rc = rc ? rc : refuse(r, e);
            bytes += !rc && r->type == ':' && r->integer > 0 ? (uint64_t)r->integer : 0;
            gy_reply_free(r);
        }
        sizes[b->slot[i]] =
            looked ? (uint64_t)((double)bytes / (double)looked * (double)b->keys[i]) : 0;
    }
    return rc;
}

static int ask(struct batch *b, uint64_t *sizes, gyre_error_t *e)
{
    int rc = count_keys(b, e);
    rc = rc ? rc : name_keys(b, e);
    rc = rc ? rc : weigh_keys(b, sizes, e);
    for (size_t i = 0; i < b->n; i++) {
        gy_reply_free(b->names[i]);
        b->names[i] = NULL;
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
            rc = gy_live_connect(url, node->address, &b->s, e);
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
    if (rc && e && !*e->file && node->address) {
        snprintf(e->file, sizeof e->file, "%.250s", node->address);
        e->code = rc;
    }
    return rc;
}

int gy_live_sizes(const char *url, const gyre_topology_t *t, const struct gy_slot_owners *owners,
                  uint64_t sample, uint64_t *sizes, gyre_error_t *e)
{
    struct batch b = {.n = 0};
    uint64_t done = 0;
    int rc = GYRE_OK;
    memset(sizes, 0, GY_REDIS_SLOTS * sizeof *sizes);
    snprintf(b.sample, sizeof b.sample, "%llu", (unsigned long long)sample);
    gy_progress_begin("weighing slots", GY_REDIS_SLOTS);
    for (uint32_t i = 0; !rc && i < gyre_topology_count(t); i++) {
        rc = ask_master(url, gyre_topology_node(t, i), owners, i + 1, &b, sizes, &done, e);
    }
    gy_progress_end();
    return rc;
}
