/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate_peer.c - what a C programmer writes over libmemcached to say where keys are: lines of
 * stdin, each answered by "key<TAB>server". The servers, host:port, are its arguments; placement is
 * weighted ketama, keys hashed by MD5. Beside `gyre locate` in bench/locate.py.
 */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    memcached_st *m = memcached_create(NULL);
    memcached_behavior_set(m, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    for (int i = 1; i < argc; i++) {
        char host[256];
        const char *colon = strchr(argv[i], ':');
        if (!colon) {
            return 2;
        }
        snprintf(host, sizeof host, "%.*s", (int)(colon - argv[i]), argv[i]);
        memcached_server_add_with_weight(m, host, (in_port_t)atoi(colon + 1), 1);
    }
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        n -= line[n - 1] == '\n';
        uint32_t server = memcached_generate_hash(m, line, (size_t)n);
        fwrite(line, 1, (size_t)n, stdout);
        putchar('\t');
        puts(argv[1 + server]);
    }
    memcached_free(m);
    free(line);
    return 0;
}
