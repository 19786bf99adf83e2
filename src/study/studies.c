/* SPDX-License-Identifier: Apache-2.0 */
/* studies.c - the table of studies, in the order in which one would read them. */
#include "study/studies.h"

#include <string.h>

const struct gy_study *const gy_studies[] = {
    &gy_study_movement,   &gy_study_balance,    &gy_study_failure,
    &gy_study_views,      &gy_study_bounded,    &gy_study_hashes,
    &gy_study_collisions, &gy_study_search,     &gy_study_latency,
    &gy_study_repair,     &gy_study_hashtable,  &gy_study_rehash,
    &gy_study_cdn,        &gy_study_experiment, NULL,
};

const struct gy_study *gy_study_find(const char *name)
{
    size_t i = 0;
    while (gy_studies[i] && strcmp(gy_studies[i]->name, name) != 0) {
        i++;
    }
    return gy_studies[i];
}

int gy_study_run(const struct gy_study *s, struct gy_lab *lab, struct gy_result *r)
{
    int rc = s->run(lab, r);
    if (!rc && gy_result_failed(r)) {
        rc = GYRE_NOMEM;
    }
    lab->error.code = rc;
    return rc;
}
