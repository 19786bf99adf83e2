/* SPDX-License-Identifier: Apache-2.0 */
/* nginx.h - upstream blocks of nginx. See format.h. Threads: any. */
#ifndef GY_FORMATS_NGINX_H
#define GY_FORMATS_NGINX_H

#include "formats/format.h"

int gy_nginx_sniff(struct gy_slice head);
int gy_nginx_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_nginx_write(struct gy_writing *w);

#endif
