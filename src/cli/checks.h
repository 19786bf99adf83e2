/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks.h - what `gyre doctor` looks for, as one table: a code, how bad it is, what it means, what
 * to do, and a pure function over a pool and, where it can be placed, its map. A check either tells
 * which servers it holds for (is), and the sentence is made of that, or looks for itself (look), or
 * has neither: a note of its code tells it.
 * To add one: a row in CHECKS (checks.c) and its function in checks_slots.c or checks_fleet.c.
 *
 * Invariant: an ERROR means that a change now could lose keys, or could not finish. Findings keep
 * `failed` once memory ran out; it is looked at in the end. Threads: one thread an object.
 */
#ifndef GY_CLI_CHECKS_H
#define GY_CLI_CHECKS_H

#include "base/buf.h"
#include "formats/pools.h"

enum gy_severity { GY_FOUND_NOTE, GY_FOUND_WARNING, GY_FOUND_ERROR, GY_SEVERITIES };
const char *gy_severity_name(enum gy_severity s);

struct gy_patient {
    const struct gy_pool *pool;
    const gyre_map_t *map; /* NULL: its keys cannot be placed */
    uint32_t masters;      /* that are up and have slots */
    uint64_t slots;        /* which they have */
};

struct gy_finding {
    enum gy_severity severity;
    const char *code, *todo; /* todo NULL: nothing in general */
    unsigned line;           /* of the first server; 0: of no line */
    char *text;
    uint32_t *servers; /* places in the pool's servers, all of them */
    size_t server_count;
};

struct gy_findings {
    struct gy_finding *list; /* the worst first, after gy_checks_run */
    size_t count;
    bool failed; /* out of memory */
};

struct gy_check {
    const char *code;
    enum gy_severity severity;
    const char *means, *todo;
    bool (*is)(const struct gy_patient *p, const struct gy_server *s);
    const char *one, *many; /* with is: "has no replica", "have no replica" */
    void (*look)(const struct gy_check *self, const struct gy_patient *p, struct gy_findings *out);
};

const struct gy_check *gy_checks(size_t *count);
/* Every check, and the reader's notes that no check covers. */
void gy_checks_run(const struct gy_pool *pool, const gyre_map_t *map, struct gy_findings *out);
void gy_findings_fini(struct gy_findings *f);

/* ---- for checks ---- */

/* One finding; its servers come by gy_found_server. NULL: out of memory. */
struct gy_finding *gy_found(struct gy_findings *out, const struct gy_check *check,
                            enum gy_severity severity, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void gy_found_server(struct gy_findings *out, struct gy_finding *f, const struct gy_pool *p,
                     const struct gy_server *s);
bool gy_server_holds(const struct gy_server *s); /* slots or tokens */
/* A primary that is up. */
bool gy_server_serves(const struct gy_server *s);

/* checks_slots.c */
void gy_check_gaps(const struct gy_check *self, const struct gy_patient *p,
                   struct gy_findings *out);
void gy_check_open(const struct gy_check *self, const struct gy_patient *p,
                   struct gy_findings *out);
void gy_check_stray(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out);
void gy_check_uneven(const struct gy_check *self, const struct gy_patient *p,
                     struct gy_findings *out);
bool gy_is_leftover(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_empty(const struct gy_patient *p, const struct gy_server *s);

/* checks_fleet.c */
bool gy_is_owner_down(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_owner_suspect(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_down(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_changing(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_undialled(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_forgotten(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_disconnected(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_loading(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_out(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_single(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_orphan(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_same_host(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_same_loopback(const struct gy_patient *p, const struct gy_server *s);
bool gy_is_same_zone(const struct gy_patient *p, const struct gy_server *s);
void gy_check_endpoints(const struct gy_check *self, const struct gy_patient *p,
                        struct gy_findings *out);
void gy_check_hosts(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out);
void gy_check_zones(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out);
void gy_check_weights(const struct gy_check *self, const struct gy_patient *p,
                      struct gy_findings *out);
void gy_check_spread(const struct gy_check *self, const struct gy_patient *p,
                     struct gy_findings *out);

#endif
