/* SPDX-License-Identifier: Apache-2.0 */
/* study_show.h - a study's result as text and as JSON. Threads: main only. */
#ifndef GY_CLI_STUDY_SHOW_H
#define GY_CLI_STUDY_SHOW_H

#include "study/study.h"

void gy_study_text(struct gy_buf *out, const struct gy_study *s, const struct gy_result *r);
void gy_study_json(struct gy_buf *out, const struct gy_study *s, const struct gy_lab *lab,
                   const struct gy_result *r);

#endif
