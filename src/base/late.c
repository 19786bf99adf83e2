/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.c - see late.h. Threads: one.
 */
#include "base/late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool gy_late_load(const char *soname, const char *const *names, size_t n, void *functions,
                  char *why, size_t why_size)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_size, "%s", dlerror()); /* it names the library */
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        void *function = dlsym(library, names[i]);
        if (!function) {
            snprintf(why, why_size, "%s has no %s", soname, names[i]);
            return false;
        }
        /* Bytes, for C has no conversion from one pointer to the other; POSIX has. */
        memcpy((char *)functions + i * sizeof function, &function, sizeof function);
    }
    return true;
}
