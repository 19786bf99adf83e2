/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - see keys.h. */
#include "cli/keys.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_MAX  ((size_t)512 << 20) /* the largest string Redis takes, hence the largest key */
#define READ_MIN ((size_t)256 << 10)

/* Not where keys are typed. */
static void show_progress(struct gy_keys *k)
{
    struct stat st;
    bool sized = fstat(k->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    if (k->shown && !gy_term_is(k->fd) && asprintf(&k->doing, "reading %s", k->name) >= 0) {
        gy_progress_begin(k->doing, sized ? (uint64_t)st.st_size : 0);
    } else {
        k->doing = NULL;
    }
}

static int open_file(struct gy_keys *k, const char *path, char separator)
{
    bool dash = strcmp(path, "-") == 0;
    k->separator = separator;
    k->name = dash ? "stdin" : path;
    k->fd = dash ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (k->fd < 0) {
        gy_complain("%s: cannot be opened: %s", path, strerror(errno));
        return GY_EXIT_USAGE;
    }
    show_progress(k);
    return GY_EXIT_OK;
}

int gy_keys_open(struct gy_keys *k, const struct gy_keys_from *from, char **args, int count,
                 bool optional)
{
    memset(k, 0, sizeof *k);
    k->from = *from;
    k->fd = -1;
    k->shown = optional || !gy_term_is(STDOUT_FILENO);
    int rc = gy_requests_init(&k->requests, &k->from.request);
    if (rc) {
        return rc;
    }
    bool dash = count == 1 && strcmp(args[0], "-") == 0;
    int sources = (from->lines != NULL) + (from->nul != NULL) + (count > 0);
    if (sources > 1) {
        gy_complain("keys come from one place: arguments, --keys or --keys0");
        return GY_EXIT_USAGE;
    }
    if (from->nul) {
        return open_file(k, from->nul, '\0');
    }
    if (from->lines || dash) {
        return open_file(k, from->lines ? from->lines : "-", '\n');
    }
    if (count || optional) {
        k->args = args;
        k->arg_count = count;
        return GY_EXIT_OK;
    }
    if (gy_term_is(STDIN_FILENO)) {
        gy_complain("no keys: give them as arguments, with --keys FILE, or on stdin");
        return GY_EXIT_USAGE;
    }
    return open_file(k, "-", '\n');
}

int gy_keys_none(const struct gy_keys_from *from)
{
    if (from->request.recipe || from->request.headers) {
        gy_complain("--key says how keys are made, but there are none: give URLs with --keys FILE");
        return GY_EXIT_USAGE;
    }
    return GY_EXIT_OK;
}

static int malformed(const struct gy_keys *k, const char *why)
{
    uint64_t at = k->number + k->count + 1;
    gy_complain("%s:%llu: %s", k->args ? "argument" : k->name, (unsigned long long)at, why);
    return GY_EXIT_USAGE;
}

/* The buffer may move while it grows, so keys are offsets in it until the batch is whole. */
static int make(struct gy_keys *k, struct gy_slice line)
{
    size_t from = k->made.len;
    const char *wrong = gy_request_key(&k->requests, line, &k->made, &k->given[k->count]);
    if (wrong) {
        return malformed(k, wrong);
    }
    k->len[k->count++] = k->made.len - from;
    return k->made.failed ? gy_complain_memory() : GY_EXIT_OK;
}

static void find_made(struct gy_keys *k)
{
    const uint8_t *at = gy_buf_head(&k->made);
    for (size_t i = 0; i < k->count; i++) {
        k->key[i] = at;
        at += k->len[i];
    }
}

static void hand_over(struct gy_keys *k, const uint8_t *key, size_t len)
{
    k->given[k->count] = (struct gy_slice){key, len};
    k->key[k->count] = key;
    k->len[k->count] = len;
    k->count++;
}

static int hand_out(struct gy_keys *k, uint8_t *key, size_t len)
{
    if (k->from.encoded && !gy_term_decode(key, &len)) {
        return malformed(k, "'%' must be followed by two hex digits (--encoded)");
    }
    if (k->requests.recipe) {
        return make(k, (struct gy_slice){key, len});
    }
    hand_over(k, key, len);
    return GY_EXIT_OK;
}

static int next_args(struct gy_keys *k)
{
    int rc = GY_EXIT_OK;
    while (!rc && k->count < GY_KEYS_BATCH && k->arg_count > 0) {
        char *arg = *k->args;
        rc = hand_out(k, (uint8_t *)arg, strlen(arg));
        k->args++;
        k->arg_count--;
    }
    return rc;
}

/* One read behind what the buffer holds. */
static int fill(struct gy_keys *k)
{
    if (gy_buf_size(&k->buf) > KEY_MAX) {
        gy_complain("%s:%llu: a key longer than %zu MB", k->name,
                    (unsigned long long)(k->number + 1), KEY_MAX >> 20);
        return GY_EXIT_USAGE;
    }
    if (!gy_buf_reserve(&k->buf, READ_MIN)) {
        return gy_complain_memory();
    }
    for (;;) {
        ssize_t n = read(k->fd, k->buf.data + k->buf.len, k->buf.cap - k->buf.len);
        if (n >= 0) {
            k->ended = n == 0;
            k->buf.len += (size_t)n;
            k->read += (uint64_t)n;
            gy_progress_at(k->read);
            return GY_EXIT_OK;
        }
        if (errno != EINTR) {
            gy_complain("%s: cannot be read: %s", k->name, strerror(errno));
            return GY_EXIT_USAGE;
        }
    }
}

static void warn_of_cr(struct gy_keys *k)
{
    if (!k->warned && !k->requests.recipe && k->separator == '\n') {
        k->warned = true;
        gy_complain("%s: lines end in CR LF; the CR is taken as part of each key", k->name);
    }
}

/* Every whole key in the buffer, up to a batch; at the end of the file what is left is one too. */
static int cut(struct gy_keys *k)
{
    uint8_t *base = k->buf.data ? k->buf.data + k->buf.off : NULL;
    size_t size = gy_buf_size(&k->buf);
    bool plain = !k->from.encoded && !k->requests.recipe;
    int rc = GY_EXIT_OK;
    while (!rc && k->count < GY_KEYS_BATCH && k->used < size) {
        size_t from = k->used + k->seen;
        uint8_t *sep = memchr(base + from, k->separator, size - from);
        if (!sep && !k->ended) {
            k->seen = size - k->used;
            break;
        }
        size_t len = (size_t)((sep ? sep : base + size) - (base + k->used));
        if (len && base[k->used + len - 1] == '\r') {
            warn_of_cr(k);
        }
        if (plain) {
            hand_over(k, base + k->used, len);
        } else {
            rc = hand_out(k, base + k->used, len);
        }
        k->used += len + (sep != NULL);
        k->seen = 0;
    }
    return rc;
}

static int next_lines(struct gy_keys *k)
{
    gy_buf_consume(&k->buf, k->used);
    k->used = 0;
    int rc = cut(k);
    while (!rc && k->count == 0 && !k->ended) {
        rc = fill(k);
        if (!rc) {
            rc = cut(k);
        }
    }
    return rc;
}

int gy_keys_next(struct gy_keys *k)
{
    k->number += k->count;
    k->count = 0;
    gy_buf_reset(&k->made);
    int rc = k->fd < 0 ? next_args(k) : next_lines(k);
    if (!rc && k->requests.recipe) {
        find_made(k);
    }
    return rc;
}

bool gy_keys_more(const struct gy_keys *k)
{
    size_t left = gy_buf_size(&k->buf) - k->used;
    return left && (k->ended || memchr(gy_buf_head(&k->buf) + k->used, k->separator, left));
}

void gy_keys_close(struct gy_keys *k)
{
    if (k->doing) {
        gy_progress_end();
        free(k->doing);
    }
    if (k->fd > STDIN_FILENO) {
        close(k->fd);
    }
    gy_requests_fini(&k->requests);
    gy_buf_fini(&k->made);
    gy_buf_fini(&k->buf);
}
