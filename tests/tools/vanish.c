/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vanish.c - preloaded into gyre: VANISH=N:PATH removes PATH right after the N-th time that its
 * state was asked for, as somebody else may at that very moment.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int stat(const char *restrict path, struct stat *restrict out)
{
    static long seen;
    const char *victim = getenv("VANISH");
    const char *name = victim ? strchr(victim, ':') : NULL;
    int rc = fstatat(AT_FDCWD, path, out, 0);
    if (rc == 0 && name && strcmp(name + 1, path) == 0 && ++seen == strtol(victim, NULL, 10)) {
        unlink(path);
    }
    return rc;
}
