/* SPDX-License-Identifier: Apache-2.0 */
/* studies.h - every study there is, for the table of them. One a file; see study.h. */
#ifndef GY_STUDY_STUDIES_H
#define GY_STUDY_STUDIES_H

#include "study/study.h"

extern const struct gy_study gy_study_balance, gy_study_bounded, gy_study_cdn, gy_study_collisions,
    gy_study_experiment, gy_study_failure, gy_study_hashes, gy_study_hashtable, gy_study_latency,
    gy_study_movement, gy_study_rehash, gy_study_repair, gy_study_search, gy_study_views;

#endif
