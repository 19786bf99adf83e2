/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - the engine of the fuzz targets where libFuzzer is not linked in.
 *
 * Takes libFuzzer's arguments (-runs=N -seed=N, folders of inputs; other options are ignored), runs
 * every input once, then N mutations of them. The same seed and corpus give the same inputs. The
 * input being run is copied to an exact-size heap block, so that a sanitizer sees an overrun of one
 * byte; on a crash it is written to ./crash-<pid>. Threads: one.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 16, MAX_SEEDS = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    uint8_t *p;
    size_t n;
};

static struct input seeds[MAX_SEEDS];
static size_t nseeds;
static uint64_t rng_state;
static uint8_t current[LONGEST];
static size_t current_n;

/* splitmix64: short, and the same everywhere. */
static uint64_t rng(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return n ? (size_t)(rng() % n) : 0;
}

/* Async-signal-safe: only write(2) of what is already there, then the default action. */
static void on_crash(int sig)
{
    static const char msg[] = "\ndriver: crashed; the input follows\n";

    if (write(2, msg, sizeof(msg) - 1) < 0 || write(2, current, current_n) < 0) {
        _exit(2);
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

static void run_one(const uint8_t *p, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1);

    if (!exact) {
        abort();
    }
    memcpy(current, p, n);
    current_n = n;
    memcpy(exact, p, n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static int load_file(const char *path)
{
    static uint8_t block[LONGEST];
    FILE *f = fopen(path, "rb");
    struct input *in = &seeds[nseeds];

    if (!f) {
        perror(path);
        return -1;
    }
    in->n = fread(block, 1, sizeof(block), f);
    fclose(f);
    in->p = malloc(in->n ? in->n : 1);
    if (!in->p) {
        return -1;
    }
    memcpy(in->p, block, in->n);
    nseeds++;
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_dir(const char *dir)
{
    struct dirent **names = NULL;
    int rc = 0, n = scandir(dir, &names, NULL, by_name);

    if (n < 0) {
        perror(dir);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char path[4096];

        if (names[i]->d_name[0] != '.' && nseeds < MAX_SEEDS && !rc) {
            snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
            rc = load_file(path);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

/* One change in place; returns the new length. `other` feeds splices. */
static size_t mutate_once(uint8_t *p, size_t n, const struct input *other)
{
    static const uint8_t odd[] = {0,   1,   '\r', '\n', '*', '$', ':', '-',
                                  '0', '9', ' ',  '"',  '{', '}', 127, 255};
    size_t at = below(n + 1), len;

    switch (below(6)) {
    case 0: /* flip a bit */
        if (at < n) {
            p[at] = (uint8_t)(p[at] ^ (1u << below(8)));
        }
        return n;
    case 1: /* a byte that means something in some format */
        if (at < n) {
            p[at] = odd[below(sizeof(odd))];
        }
        return n;
    case 2: /* insert */
        if (n < LONGEST) {
            memmove(p + at + 1, p + at, n - at);
            p[at] = below(2) ? odd[below(sizeof(odd))] : (uint8_t)rng();
            n++;
        }
        return n;
    case 3: /* delete a run */
        len = below(n - at < 16 ? n - at + 1 : 16);
        memmove(p + at, p + at + len, n - at - len);
        return n - len;
    case 4: /* cut short */
        return at;
    default: /* overwrite or extend with a piece of another input */
        len = below(other->n + 1);
        len = len < LONGEST - at ? len : LONGEST - at;
        if (len) {
            memcpy(p + at, other->p + below(other->n - len + 1), len);
        }
        return at + len > n ? at + len : n;
    }
}

static void fuzz(uint64_t runs)
{
    static uint8_t work[LONGEST];

    for (uint64_t i = 0; i < runs; i++) {
        const struct input *in = &seeds[below(nseeds)];
        size_t n = in->n, changes = 1 + below(8);

        memcpy(work, in->p, n);
        while (changes--) {
            n = mutate_once(work, n, &seeds[below(nseeds)]);
        }
        run_one(work, n);
    }
}

int main(int argc, char **argv)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    uint64_t runs = 0;

    rng_state = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0) {
            runs = strtoull(argv[i] + 6, NULL, 10);
        } else if (strncmp(argv[i], "-seed=", 6) == 0) {
            rng_state = strtoull(argv[i] + 6, NULL, 10);
        } else if (argv[i][0] != '-' && load_dir(argv[i]) != 0) {
            return 1;
        }
    }
    if (nseeds == 0) {
        fprintf(stderr, "driver: no inputs\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
        signal(crashes[i], on_crash);
    }
    for (size_t i = 0; i < nseeds; i++) {
        run_one(seeds[i].p, seeds[i].n);
    }
    fuzz(runs);
    printf("driver: %zu inputs and %llu mutations\n", nseeds, (unsigned long long)runs);
    for (size_t i = 0; i < nseeds; i++) {
        free(seeds[i].p);
    }
    return 0;
}
