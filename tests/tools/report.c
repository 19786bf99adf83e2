/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - what the run found, as a table on stdout and as JSON. Called when no client runs.
 */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct total {
    struct chk_hist hist;
    uint64_t reads, writes, multi, ambiguous, unreadable, ttl_checked;
    const struct chk_client *worst;
    struct chk_error error[64];
    unsigned nerror;
};

static void add_error(struct total *t, const struct chk_error *e)
{
    unsigned i = 0, max = sizeof t->error / sizeof t->error[0];
    while (i < t->nerror && strcmp(t->error[i].text, e->text) != 0) {
        i++;
    }
    if (i == t->nerror && i < max) {
        t->error[t->nerror++] = *e;
    } else {
        t->error[i < max ? i : max - 1].count += e->count;
    }
}

static void sum(struct total *t, const struct chk_client *clients, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct chk_client *c = &clients[i];
        chk_hist_merge(&t->hist, &c->hist);
        t->reads += c->reads;
        t->writes += c->writes;
        t->multi += c->multi;
        t->ambiguous += c->ambiguous;
        t->unreadable += c->unreadable;
        t->ttl_checked += c->ttl_checked;
        t->worst = t->worst == NULL || c->worst > t->worst->worst ? c : t->worst;
        for (unsigned j = 0; j < c->nerror; j++) {
            add_error(t, &c->error[j]);
        }
    }
}

static void json_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s != '\0'; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch == '"' || ch == '\\') {
            fprintf(f, "\\%c", ch);
        } else if (ch < 0x20 || ch >= 0x7f) {
            fprintf(f, "\\u%04x", ch);
        } else {
            fputc(ch, f);
        }
    }
    fputc('"', f);
}

static void json(FILE *f, struct chk_world *w, const struct total *t,
                 const struct chk_client *clients, double seconds)
{
    const char *comma = "";
    fprintf(f,
            "{\"ops\":%llu,\"reads\":%llu,\"writes\":%llu,\"multi\":%llu,\"seconds\":%.3f,"
            "\"ops_per_s\":%.1f,\"keys\":%u,\"clients\":%u,\"lost\":%llu,\"stale\":%llu,"
            "\"resurrected\":%llu,\"wrong\":%llu,\"errors_total\":%llu,\"ambiguous\":%llu,"
            "\"unreadable\":%llu,\"ttl_checked\":%llu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
            "\"p999_ms\":%.3f,\"longest_wait_ms\":%.3f,\"longest_wait_at_s\":%.3f,"
            "\"longest_wait_op\":",
            (unsigned long long)w->ops, (unsigned long long)t->reads, (unsigned long long)t->writes,
            (unsigned long long)t->multi, seconds, seconds > 0 ? (double)w->ops / seconds : 0,
            w->conf.keys, w->conf.clients, (unsigned long long)w->fault[CHK_LOST],
            (unsigned long long)w->fault[CHK_STALE], (unsigned long long)w->fault[CHK_RESURRECTED],
            (unsigned long long)w->fault[CHK_WRONG], (unsigned long long)w->errors,
            (unsigned long long)t->ambiguous, (unsigned long long)t->unreadable,
            (unsigned long long)t->ttl_checked, chk_hist_ms(&t->hist, 0.5),
            chk_hist_ms(&t->hist, 0.99), chk_hist_ms(&t->hist, 0.999),
            (double)t->worst->worst / 1e6, (double)t->worst->worst_at / 1e9);
    json_string(f, t->worst->worst_op);
    fputs(",\"errors\":{", f);
    for (unsigned i = 0; i < t->nerror; i++, comma = ",") {
        fputs(comma, f);
        json_string(f, t->error[i].text);
        fprintf(f, ":%llu", (unsigned long long)t->error[i].count);
    }
    fputs("},\"violations\":[", f);
    comma = "";
    for (unsigned i = 0; i < w->conf.clients; i++) {
        for (unsigned j = 0; j < clients[i].nfault; j++, comma = ",") {
            fputs(comma, f);
            json_string(f, clients[i].fault[j]);
        }
    }
    fputs("]}\n", f);
}

static void table(const struct chk_world *w, const struct total *t,
                  const struct chk_client *clients, double seconds)
{
    printf("operations   %llu in %.1f s (%.0f/s): %llu reads, %llu writes, %llu multi-key\n",
           (unsigned long long)w->ops, seconds, seconds > 0 ? (double)w->ops / seconds : 0,
           (unsigned long long)t->reads, (unsigned long long)t->writes,
           (unsigned long long)t->multi);
    printf("latency      p50 %.2f ms, p99 %.2f ms, p999 %.2f ms\n", chk_hist_ms(&t->hist, 0.5),
           chk_hist_ms(&t->hist, 0.99), chk_hist_ms(&t->hist, 0.999));
    printf("longest wait %.1f ms: %s at %.3f s\n", (double)t->worst->worst / 1e6,
           t->worst->worst_op, (double)t->worst->worst_at / 1e9);
    printf("lost %llu  stale %llu  resurrected %llu  wrong %llu  unreadable %llu  ambiguous "
           "%llu  errors %llu\n",
           (unsigned long long)w->fault[CHK_LOST], (unsigned long long)w->fault[CHK_STALE],
           (unsigned long long)w->fault[CHK_RESURRECTED], (unsigned long long)w->fault[CHK_WRONG],
           (unsigned long long)t->unreadable, (unsigned long long)t->ambiguous,
           (unsigned long long)w->errors);
    for (unsigned i = 0; i < t->nerror; i++) {
        printf("  %8llu  %s\n", (unsigned long long)t->error[i].count, t->error[i].text);
    }
    for (unsigned i = 0; i < w->conf.clients; i++) {
        for (unsigned j = 0; j < clients[i].nfault; j++) {
            printf("  %s\n", clients[i].fault[j]);
        }
    }
}

int chk_report(struct chk_world *w, struct chk_client *clients, double seconds)
{
    struct total *t = calloc(1, sizeof *t);
    bool bad = t == NULL;
    if (t == NULL) {
        return 3;
    }
    sum(t, clients, w->conf.clients);
    for (int i = CHK_FINE + 1; i < CHK_FAULTS; i++) {
        bad |= w->fault[i] != 0;
    }
    bad |= t->unreadable != 0;
    if (w->conf.json == NULL) {
        table(w, t, clients, seconds);
    } else {
        FILE *f = strcmp(w->conf.json, "-") == 0 ? stdout : fopen(w->conf.json, "w");
        if (f == NULL) {
            perror(w->conf.json);
            bad = true;
        } else {
            json(f, w, t, clients, seconds);
            bad |= f == stdout ? fflush(f) != 0 : fclose(f) != 0;
        }
    }
    free(t);
    return bad ? 1 : 0;
}
