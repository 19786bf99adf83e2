/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c FOLDER - does the corpus of fuzz_topology reach every placement? Each word of the
 * settings `algorithm` and `like` must make a map in one of its inputs at least, or what is mutated
 * from them seldom gets beyond a refusal. Threads: one.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre.h"

enum { LONGEST = 1 << 16, WORDS = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_built(const gyre_topology_t *t);

static char reached[WORDS][64];
static size_t count;

void fuzz_built(const gyre_topology_t *t)
{
    static const char *const keys[] = {"algorithm", "like"};
    for (size_t k = 0; k < 2; k++) {
        char word[64];
        size_t i = 0;
        snprintf(word, sizeof word, "%s: %s", keys[k], gyre_topology_get(t, keys[k]));
        while (i < count && strcmp(reached[i], word) != 0) {
            i++;
        }
        if (i == count && count < WORDS) {
            memcpy(reached[count++], word, sizeof word);
        }
    }
}

static int run_file(const char *folder, const char *name)
{
    static uint8_t text[LONGEST];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return LLVMFuzzerTestOneInput(text, n);
}

/* How many words of the setting were not reached. */
static unsigned missing(const struct gyre_setting *s)
{
    unsigned missed = 0;
    for (const char *word = s->values, *stop; *word; word = *stop ? stop + 1 : stop) {
        char want[64];
        size_t i = 0;
        stop = word + strcspn(word, "|");
        snprintf(want, sizeof want, "%s: %.*s", s->key, (int)(stop - word), word);
        while (i < count && strcmp(reached[i], want) != 0) {
            i++;
        }
        if (i == count) {
            printf("no input makes a map of %s\n", want);
            missed++;
        }
    }
    return missed;
}

int main(int argc, char **argv)
{
    struct dirent **names;
    int n = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1, rc = 0;
    size_t settings;
    const struct gyre_setting *all = gyre_settings(&settings);
    if (n < 0) {
        fprintf(stderr, "usage: reach FOLDER\n");
        return 2;
    }
    for (int i = 0; i < n; i++) {
        rc = rc || (names[i]->d_name[0] != '.' && run_file(argv[1], names[i]->d_name));
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < settings; i++) {
        if (strcmp(all[i].key, "algorithm") == 0 || strcmp(all[i].key, "like") == 0) {
            rc = missing(&all[i]) || rc;
        }
    }
    printf("%zu placements reached\n", count);
    return rc || count < 2;
}
