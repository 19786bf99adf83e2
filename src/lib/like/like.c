/* SPDX-License-Identifier: Apache-2.0 */
/*
 * like.c - the table of imitated systems, what their build functions read, and what follows every
 * build: a node that got no place takes no keys. Threads: build one, the rest any.
 */
#include "lib/like/like.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

/* Built by map.c, whose rules it reads from `mode`. */
const struct gy_like gy_like_sample = {.name = "sample"};

static const struct gy_like *const systems[] = {
#define SYSTEM(id, word, object) &gy_like_##object,
    GY_LIKES(SYSTEM)
#undef SYSTEM
};

const struct gy_like *gy_like_of(uint64_t id)
{
    return id > GY_LIKE_NOTHING && id < GY_LIKE_COUNT ? systems[id - 1] : NULL;
}

const struct gy_like_setting *gy_like_setting(const struct gy_like *like, enum gy_setting id)
{
    for (const struct gy_like_setting *row = like->settings; row && row->fallback; row++) {
        if (row->id == id) {
            return row;
        }
    }
    return NULL;
}

/* ---- settings ---- */

const char *gy_like_text(const struct gy_like_job *job, enum gy_setting id)
{
    return gy_settings_text(job->s, id);
}

uint64_t gy_like_number(const struct gy_like_job *job, enum gy_setting id)
{
    const struct gy_like *like = gy_like_of(job->s->value[GY_SET_LIKE]);
    const struct gy_like_setting *row = gy_like_setting(like, id);
    char text[GY_SETTING_TEXT];
    uint64_t value = 0;
    if (row) { /* checked when it was set; a default that is no value reads 0 */
        (void)gy_value_read("", row->kind, row->values, gy_settings_text(job->s, id), &value, text,
                            NULL);
    }
    return value;
}

unsigned gy_like_word(const struct gy_like_job *job, enum gy_setting id)
{
    return (unsigned)gy_like_number(job, id);
}

/* ---- options of nodes ---- */

/* The next word of an option text, and what follows it. */
static const char *next_word(const char *text, size_t *len)
{
    text += strspn(text, " \t");
    *len = strcspn(text, " \t");
    return text;
}

const char *gy_like_option(const struct gyre_node *node, const char *word, size_t *len)
{
    size_t word_len = strlen(word), n;
    const char *p = next_word(node->options ? node->options : "", &n);
    for (; n; p = next_word(p + n, &n)) {
        if (n >= word_len && memcmp(p, word, word_len) == 0 &&
            (n == word_len || p[word_len] == '=')) {
            *len = n > word_len ? n - word_len - 1 : 0;
            return n > word_len ? p + word_len + 1 : p + n;
        }
    }
    return NULL;
}

bool gy_like_has(const struct gyre_node *node, const char *word)
{
    size_t len;
    return gy_like_option(node, word, &len) != NULL;
}

int gy_like_option_number(const struct gyre_node *node, const char *word, uint64_t most,
                          uint64_t *out, gyre_error_t *e)
{
    size_t len;
    char shown[GY_SHOW];
    const char *p = gy_like_option(node, word, &len);
    uint64_t v = 0;
    bool good = len != 0;
    if (!p) {
        return GYRE_OK;
    }
    for (size_t i = 0; good && i < len; i++) {
        unsigned digit = (unsigned)(p[i] - '0');
        good = digit <= 9 && v <= (most - digit) / 10 && digit <= most;
        v = v * 10 + digit;
    }
    if (!good) {
        return gy_fail(e, GYRE_RANGE, "node '%s': %s is no whole number up to %llu",
                       gy_show(node->name, shown), word, (unsigned long long)most);
    }
    *out = v;
    return GYRE_OK;
}

static int check_word(const struct gy_like *like, const struct gyre_node *node, const char *p,
                      size_t len, gyre_error_t *e)
{
    enum { KNOWN = 16, ROOM = 40 };
    const char *known[KNOWN];
    size_t n = 0, key = 0;
    char word[ROOM], name[GY_SHOW], shown[GY_SHOW];
    while (key < len && p[key] != '=') {
        key++;
    }
    for (const struct gy_like_option *o = like->options; o && o->word && n < KNOWN; o++) {
        if (strlen(o->word) == key && memcmp(o->word, p, key) == 0 &&
            o->takes_value == (key < len)) {
            return GYRE_OK;
        }
        known[n++] = o->word;
    }
    size_t take = key < ROOM - 1 ? key : ROOM - 1;
    memcpy(word, p, take);
    word[take] = '\0';
    const char *near = gyre_nearest(word, known, n);
    return gy_fail(e, GYRE_UNKNOWN, "node '%s': '%s' is no option with like: %s%s%s%s",
                   gy_show(node->name, name), gy_show(word, shown), like->name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int gy_like_check_nodes(const struct gyre_map *m, const struct gy_settings *s, gyre_error_t *e)
{
    const struct gy_like *like = gy_like_of(s->value[GY_SET_LIKE]);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct gyre_node *node = &m->nodes[i];
        size_t n;
        const char *p = next_word(node->options ? node->options : "", &n);
        for (; n; p = next_word(p + n, &n)) {
            char name[GY_SHOW];
            int err = like ? check_word(like, node, p, n, e)
                           : gy_fail(e, GYRE_INVALID,
                                     "node '%s' has options, which are for imitated systems, and "
                                     "`like` names none",
                                     gy_show(node->name, name));
            if (err) {
                return err;
            }
        }
    }
    return GYRE_OK;
}

/* ---- building ---- */

int gy_like_whole_weights(const struct gy_like_job *job, uint64_t most)
{
    for (uint32_t i = 0; i < job->n; i++) {
        const struct gyre_node *node = &job->m->nodes[job->list[i]];
        uint64_t weight = job->m->weight[job->list[i]];
        char name[GY_SHOW];
        if (weight % GY_WEIGHT_STEPS || weight / GY_WEIGHT_STEPS > most) {
            const struct gy_like *like = gy_like_of(job->s->value[GY_SET_LIKE]);
            return gy_fail(job->e, GYRE_RANGE,
                           "node '%s': with like: %s a weight is a whole number up to %llu",
                           gy_show(node->name, name), like->name, (unsigned long long)most);
        }
    }
    return GYRE_OK;
}

/* all[place in the topology] = number in m; list the same without the drained. */
static uint32_t put_in_order(const struct gyre_map *m, uint32_t *all, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        all[m->order[i]] = i;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[all[i]]) {
            list[n++] = all[i];
        }
    }
    return n;
}

/* The walk over the map meets only nodes with a place: the others are drained to it. */
static void drain_placeless(struct gyre_map *m)
{
    m->positive = 0;
    m->heavy = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        m->weight[i] = m->points[i] ? m->weight[i] : 0;
        m->positive += m->weight[i] != 0;
        m->heavy += m->weight[i];
    }
}

int gy_like_build(struct gyre_map *m, const struct gy_settings *s, gyre_error_t *e)
{
    uint32_t *all = gy_mem_alloc((size_t)m->count + 1, sizeof *all);
    uint32_t *list = gy_mem_alloc((size_t)m->count + 1, sizeof *list);
    int err = GYRE_NOMEM;
    if (all && list) {
        struct gy_like_job job = {.m = m, .s = s, .list = list, .all = all, .e = e};
        job.n = put_in_order(m, all, list);
        err = gy_like_of(s->value[GY_SET_LIKE])->build(&job);
    } else {
        gy_fail_nomem(e);
    }
    if (!err) {
        drain_placeless(m);
    }
    gy_mem_free(all);
    gy_mem_free(list);
    return err;
}

uint64_t gy_like_count_tokens(const struct gy_like_job *job)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        size_t len;
        const char *p = gy_like_option(&job->m->nodes[job->list[i]], "tokens", &len);
        n += p != NULL;
        for (size_t at = 0; p && at < len; at++) {
            n += p[at] == ',';
        }
    }
    return n;
}
