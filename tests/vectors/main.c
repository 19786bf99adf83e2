/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - vectors DIR...: every *.tsv below the directories (MANIFEST.tsv aside) is checked
 * against the library; a line a system, the first failure of each file, and "N passed, N failed" at
 * the end. Exit 0 only if something passed and nothing failed. What is not understood has failed.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vectors/vectors.h"

enum { DEPTH_MAX = 16, PATH_ROOM = 4096 };

struct system {
    const char *name;
    check_fn *check; /* NULL: files of systems we do not know */
    size_t files, passed, failed;
};

static struct system systems[] = {
    {.name = "seeds", .check = check_seeds},
    {.name = "aerospike", .check = check_aerospike},
    {.name = "cassandra", .check = check_cassandra},
    {.name = "clickhouse", .check = check_clickhouse},
    {.name = "couchbase", .check = check_couchbase},
    {.name = "elasticsearch", .check = check_elasticsearch},
    {.name = "envoy", .check = check_envoy},
    {.name = "grpc", .check = check_grpc},
    {.name = "guava", .check = check_guava},
    {.name = "haproxy", .check = check_haproxy},
    {.name = "libketama", .check = check_libketama},
    {.name = "libmemcached", .check = check_libmemcached},
    {.name = "jump", .check = check_jump},
    {.name = "kafka", .check = check_kafka},
    {.name = "mcrouter", .check = check_mcrouter},
    {.name = "mongodb", .check = check_mongodb},
    {.name = "nginx", .check = check_nginx},
    {.name = "npm-hashring", .check = check_npm_hashring},
    {.name = "npm-ketama", .check = check_npm_ketama},
    {.name = "npm-memcached", .check = check_npm_memcached},
    {.name = "redis-cluster", .check = check_redis_cluster},
    {.name = "riak", .check = check_riak},
#ifndef VECTORS_NO_SWIFT /* tools/cross.sh: without zlib and jansson */
    {.name = "swift", .check = check_swift},
#endif
    {.name = "twemproxy", .check = check_twemproxy},
    {.name = "uhashring", .check = check_uhashring},
    {.name = "vitess", .check = check_vitess},
    {.name = "unknown"},
};
enum { SYSTEMS = sizeof systems / sizeof systems[0] };

void pass(struct verdict *v)
{
    v->passed++;
}

__attribute__((format(printf, 2, 0))) static void explain(struct verdict *v, const char *format,
                                                          va_list ap)
{
    if (!v->why[0]) {
        vsnprintf(v->why, sizeof v->why, format, ap);
    }
}

void fail(struct verdict *v, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    explain(v, format, ap);
    va_end(ap);
    v->failed++;
}

void refuse(struct verdict *v, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    explain(v, format, ap);
    va_end(ap);
    v->refused = true;
}

static struct system *find_system(const char *name)
{
    size_t i = 0;
    while (i < SYSTEMS - 1 && (!name || strcmp(systems[i].name, name) != 0)) {
        i++;
    }
    return &systems[i];
}

static void check_file(const char *path)
{
    struct vfile f;
    struct verdict v = {0};
    bool good = vf_read(&f, path);
    const char *name = vf_get(&f, "system"), *mode = vf_get(&f, "mode");
    struct system *s = find_system(name);
    if (!good) {
        refuse(&v, "%s", f.error);
    } else if (!s->check) {
        refuse(&v, "unknown system '%s'", name ? name : "");
    } else if (mode && strcmp(mode, "hash") == 0) {
        check_hashes(&f, &v);
    } else {
        s->check(&f, &v);
    }
    if (v.refused) {
        v.passed = 0;
        v.failed = f.rows ? f.rows : 1;
    }
    if (v.failed) {
        printf("%s: %s\n", path, v.why);
    }
    s->files++;
    s->passed += v.passed;
    s->failed += v.failed;
    vf_free(&f);
}

static int not_dots(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static bool is_vector_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".tsv") == 0 && strcmp(name, "MANIFEST.tsv") != 0;
}

static void no_good(const char *path, const char *why)
{
    printf("%s: %s\n", path, why);
    systems[SYSTEMS - 1].failed++;
}

static void check_path(const char *path, unsigned depth)
{
    struct stat st;
    if (stat(path, &st)) {
        no_good(path, "cannot be read");
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        if (is_vector_file(path) || depth == 0) {
            check_file(path);
        }
        return;
    }
    struct dirent **entry;
    int n = depth < DEPTH_MAX ? scandir(path, &entry, not_dots, alphasort) : -1;
    if (n < 0) {
        no_good(path, "cannot be listed");
        return;
    }
    for (int i = 0; i < n; i++) {
        char below[PATH_ROOM];
        if (snprintf(below, sizeof below, "%s/%s", path, entry[i]->d_name) < PATH_ROOM) {
            check_path(below, depth + 1);
        } else {
            no_good(path, "has a path too long below it");
        }
        free(entry[i]);
    }
    free(entry);
}

int main(int argc, char **argv)
{
    size_t files = 0, passed = 0, failed = 0;
    if (argc < 2) {
        fputs("usage: vectors DIR...\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        check_path(argv[i], 0);
    }
    for (size_t i = 0; i < SYSTEMS; i++) {
        const struct system *s = &systems[i];
        if (s->files || s->failed) {
            printf("%-16s %zu files, %zu passed, %zu failed\n", s->name, s->files, s->passed,
                   s->failed);
        }
        files += s->files;
        passed += s->passed;
        failed += s->failed;
    }
    if (!files && !failed) {
        puts("no vector files there");
        failed = 1;
    }
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed || !passed;
}
