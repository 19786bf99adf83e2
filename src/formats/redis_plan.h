/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_plan.h - a plan for a Redis Cluster, gyre's own form: who there is, who owns which slots,
 * which of them go where, and which replicas should follow another primary. See format.h, and
 * docs/formats.md for the form and for how it is carried out. Read, it is the cluster as it is once
 * the plan has been carried out. Threads: one an object.
 */
#ifndef GY_FORMATS_REDIS_PLAN_H
#define GY_FORMATS_REDIS_PLAN_H

#include "formats/format.h"

int gy_redis_plan_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_redis_plan_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_redis_plan_write(struct gy_writing *w);

#endif
