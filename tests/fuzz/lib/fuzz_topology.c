/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_topology.c - topologies out of lines of text, for the library's own placements and every
 * imitated system: any settings and nodes are refused with a reason or make a map that keeps its
 * promises. A line is a letter and words parted by tabs:
 *
 *     s KEY VALUE                                a setting
 *     n NAME WEIGHT ZONE OPTIONS ADDRESS SLOT    a node; words may be missing
 *     r SLOT                                     a slot given up
 *     x BYTES                                    the secret
 *     k KEY                                      a key to ask for
 *
 * Numbers are cut short, so that no input asks for more points or slots than a run can make.
 */
#include <stdlib.h>
#include <string.h>

#include "gyre.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* reach.c's; elsewhere there is none. */
__attribute__((weak)) void fuzz_built(const gyre_topology_t *t);

enum { NODES = 12, KEYS = 16, WORDS = 7, SHORT = 3, REPLICAS = 4, TEXT = 1 << 14 };

struct input {
    char text[TEXT];
    gyre_topology_t *t;
    const void *key[KEYS];
    size_t len[KEYS], keys;
};

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* A refusal says why and has a code; nothing is printed, so that messages are read whole here. */
static void refused(int err, const gyre_error_t *e)
{
    must(err < 0 && e->code == err && *e->message && strlen(e->message) < sizeof e->message);
}

/* Runs of digits are cut to SHORT. */
static char *cut_numbers(char *word)
{
    char *to = word;
    unsigned run = 0;
    for (const char *p = word; *p; p++) {
        run = *p >= '0' && *p <= '9' ? run + 1 : 0;
        if (run <= SHORT) {
            *to++ = *p;
        }
    }
    *to = '\0';
    return word;
}

static double read_weight(char *word)
{
    char *end;
    unsigned long whole = strtoul(cut_numbers(word), &end, 10);
    unsigned long rest = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return (double)(whole % 100) + (double)(rest % 1000) / 1000;
}

static void add_node(struct input *in, char *const word[WORDS])
{
    gyre_error_t e = {0};
    struct gyre_node node = {.size = sizeof node,
                             .name = word[1],
                             .weight = *word[2] ? read_weight(word[2]) : 1,
                             .zone = *word[3] ? word[3] : NULL,
                             .options = *word[4] ? word[4] : NULL,
                             .address = *word[5] ? word[5] : NULL,
                             .slot = (uint32_t)strtoul(cut_numbers(word[6]), NULL, 10)};
    if (gyre_topology_count(in->t) < NODES) {
        int err = gyre_topology_add(in->t, &node, &e);
        if (err) {
            refused(err, &e);
        }
    }
}

static void take_line(struct input *in, char *line, size_t len)
{
    char *word[WORDS];
    gyre_error_t e = {0};
    int err = GYRE_OK;
    for (unsigned i = 0; i < WORDS; i++) { /* missing words are the empty end of the line */
        word[i] = line;
        line += strcspn(line, i + 1 < WORDS ? "\t" : "");
        if (*line) {
            *line++ = '\0';
        }
    }
    uint32_t slot;
    switch (word[0][0]) {
    case 's':
        err = gyre_topology_set(in->t, word[1], cut_numbers(word[2]), &e);
        break;
    case 'n':
        add_node(in, word);
        break;
    case 'r':
        slot = (uint32_t)strtoul(cut_numbers(word[1]), NULL, 10);
        err = gyre_topology_set_removed(in->t, &slot, 1, &e);
        break;
    case 'x':
        err = gyre_topology_set_secret(in->t, word[1], strlen(word[1]), &e);
        break;
    case 'k':
        if (in->keys < KEYS) {
            in->key[in->keys] = word[1];
            in->len[in->keys++] = len - (size_t)(word[1] - word[0]);
        }
        break;
    default:
        break;
    }
    if (err) {
        refused(err, &e);
    }
}

static void check_replicas(const gyre_map_t *m, const void *key, size_t len, uint32_t first)
{
    uint32_t out[REPLICAS];
    size_t n = gyre_map_replicas(m, key, len, out, REPLICAS, NULL);
    must(first == GYRE_NONE ? n == 0 : n >= 1 && out[0] == first);
    for (size_t i = 0; i < n; i++) {
        must(out[i] < gyre_map_count(m) && gyre_map_node(m, out[i])->weight > 0);
        for (size_t j = 0; j < i; j++) {
            must(out[i] != out[j]);
        }
    }
}

static void check_map(const struct input *in, gyre_map_t *m)
{
    uint32_t batch[KEYS];
    double sum = 0;
    gyre_map_locate_batch(m, in->key, in->len, in->keys, batch);
    for (size_t i = 0; i < in->keys; i++) {
        struct gyre_explain x = {.size = sizeof x};
        uint32_t node = gyre_map_locate(m, in->key[i], in->len[i]);
        int err = gyre_map_explain(m, in->key[i], in->len[i], &x);
        must(node == batch[i] && x.node == node && (err == GYRE_OK || err == GYRE_EMPTY));
        must(node == GYRE_NONE || node < gyre_map_count(m));
        check_replicas(m, in->key[i], in->len[i], node);
    }
    for (uint32_t i = 0; i < gyre_map_count(m); i++) {
        sum += gyre_map_share(m, i);
    }
    must(sum < 1.000001);
    must(gyre_map_same(m, m));
}

/* What was got for each setting, set again, makes the same map: so a file that is written reads
 * back. */
static void check_again(const gyre_topology_t *t, gyre_map_t *m)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    gyre_topology_t *again = gyre_topology_clone(t);
    gyre_map_t *twin = NULL;
    must(again != NULL);
    for (size_t i = 0; i < n; i++) {
        must(!gyre_topology_set(again, all[i].key, gyre_topology_get(t, all[i].key), NULL));
    }
    must(!gyre_map_build(again, &twin, NULL) && gyre_map_same(m, twin));
    gyre_topology_free(again);
    gyre_map_unref(twin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input *in = calloc(1, sizeof *in);
    gyre_error_t e = {0};
    gyre_map_t *m;
    must(in && (in->t = gyre_topology_new()));
    size = size < TEXT - 1 ? size : TEXT - 1;
    if (size) {
        memcpy(in->text, data, size);
    }
    for (char *p = in->text, *end = in->text + size; p < end;) {
        char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        *stop = '\0';
        take_line(in, p, (size_t)(stop - p));
        p = stop + 1;
    }
    int err = gyre_map_build(in->t, &m, &e);
    if (err) {
        refused(err, &e);
        must(!m);
    } else {
        check_map(in, m);
        check_again(in->t, m);
        if (fuzz_built) {
            fuzz_built(in->t);
        }
        gyre_map_unref(m);
    }
    gyre_topology_free(in->t);
    free(in);
    return 0;
}
