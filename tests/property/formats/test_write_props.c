/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_write_props.c - the law of formats/write.h on random fleets: what is written, read by the
 * same format, is the same map and the same nodes, key for key; written again it is the same text;
 * and its own content says which format it is. Names are hostile: there a writer may refuse, with
 * a reason, but never write something else. Fleets without such names must be written.
 */
#include "base/num.h"
#include "formats/address.h"
#include "formats/format.h"
#include "lib/fleet_gen.h"

#define KEYS 60

/* One way to fill a format: its settings, and how its servers are called. */
struct form {
    const char *format;
    const char *settings[8][2]; /* ends with NULL; a value "a|b" is a choice */
    enum { BY_NAME, BY_ADDRESS, BY_HOST } names;
    bool sockets, drained, zones;
    const char *options; /* of some nodes; % is their number */
    unsigned heaviest;
};

static const struct form FORMS[] = {
    {"twemproxy",
     {{"like", "twemproxy"},
      {"distribution", "ketama|modula"},
      {"hash", "md5|crc32a|fnv1a_64"},
      {"hash_tag", "{}|"}},
     BY_NAME,
     true,
     false,
     false,
     NULL,
     9},
    {"nginx",
     {{"like", "nginx"}, {"distribution", "consistent|plain"}},
     BY_ADDRESS,
     false,
     false,
     false,
     "down",
     5},
    {"haproxy",
     {{"like", "haproxy"},
      {"hash_type", "consistent|map-based"},
      {"hash", "sdbm|djb2|wt6|crc32"},
      {"avalanche", "0|1"},
      {"balance", "fhdr|hdr|uri|uri_whole|url_param"},
      {"hash_key", "id|id32"}},
     BY_NAME,
     true,
     true,
     false,
     "id=%",
     20},
    {"haproxy",
     {{"like", "haproxy"}, {"hash_type", "consistent"}, {"hash_key", "addr|addr-port"}},
     BY_NAME,
     false,
     true,
     false,
     "disabled",
     20},
    {"envoy",
     {{"like", "envoy"},
      {"distribution", "ring_hash|maglev"},
      {"hash", "XX_HASH|MURMUR_HASH_2"},
      {"minimum_ring_size", "1024|100"},
      {"maximum_ring_size", "8388608|3000"},
      {"table_size", "65537|251"}},
     BY_NAME,
     true,
     true,
     true,
     NULL,
     9},
    {"memcached",
     {{"like", "libmemcached"},
      {"distribution", "consistent|modula"},
      {"hash", "md5|default|crc|murmur3"},
      {"sort_hosts", "0|1"}},
     BY_ADDRESS,
     true,
     false,
     false,
     NULL,
     9},
    {"memcached", {{"like", "npm-memcached"}}, BY_ADDRESS, false, false, false, "vnodes=%", 9},
    {"memcached", {{"like", "libketama"}}, BY_HOST, false, false, false, NULL, 900},
    {"cassandra-tokens",
     {{"like", "cassandra"},
      {"partitioner", "Murmur3Partitioner|RandomPartitioner"},
      {"replicas", "1|3"}},
     BY_NAME,
     true,
     true,
     true,
     "tokens=%,-%9",
     1},
    {"gyre",
     {{"algorithm", "ring|rendezvous|maglev"},
      {"points", "20"},
      {"replicas", "2|1"},
      {"spread", "zone|none"}},
     BY_NAME,
     true,
     true,
     true,
     NULL,
     9},
};

#define FORM_COUNT (sizeof FORMS / sizeof FORMS[0])

/* What ends a word, a line, a block or a text somewhere, or is markup. */
static const char *const HOSTILE[] = {
    "a b",   "a;}",     "\"q\"",      "it's", "a\\b",   "#c",    "$x",   "${x}", "{a: 1}", "- a",
    "a: b",  "x\ny: 1", "a\r",        "\t",   "&a",     "*a",    "!a",   "%a",   "@a",     "`a`",
    "null",  "~",       "\xc3\xa9",   "\xff", "\x1b[m", "a,b",   "a/?3", "a|b",  "1.5",    "0x1",
    "[::1]", "::",      "/tmp/a b.s", "a@7",  "",       "a\x7f", "yes",  "<<",   "--x",    "a#b",
};

static const char *pick(struct prop *p, const char *words, char out[32])
{
    size_t n = 1;
    for (const char *c = words; *c; c++) {
        n += *c == '|';
    }
    for (size_t i = prop_below(p, n); i; i--) {
        words += strcspn(words, "|") + 1;
    }
    snprintf(out, 32, "%.*s", (int)strcspn(words, "|"), words);
    return out;
}

/* The pattern with each '%' being the next of three numbers. */
static void fill(char out[64], const char *pattern, unsigned a, unsigned b, unsigned c)
{
    const unsigned numbers[] = {a, b, c};
    size_t w = 0;
    for (size_t i = 0; *pattern && w < 50; pattern++) {
        w += *pattern == '%' ? (size_t)snprintf(out + w, 64 - w, "%u", numbers[i++])
                             : (size_t)snprintf(out + w, 64 - w, "%c", *pattern);
    }
}

/* Different for each i; sockets only where the form has them. */
static void gen_address(struct prop *p, const struct form *f, unsigned i, char out[64])
{
    static const char *const hosts[] = {"10.0.%.%:%", "[2001:db8::%:%]:%", "cache-%.x%:%",
                                        "unix:/run/%/%-%.sock"};
    bool numbers = strcmp(f->format, "haproxy") == 0 && !f->sockets;
    /* Envoy has names or sockets in one cluster: the fleet's first draw decides. */
    uint64_t kind = prop_below(p, numbers ? 2 : f->sockets ? 4 : 3);
    kind = kind == 2 && strcmp(f->format, "envoy") == 0 ? 0 : kind;
    fill(out, hosts[f->names == BY_HOST ? 0 : kind], i / 250, i % 250, 1 + (i * 7) % 65535);
}

static void gen_name(struct prop *p, const struct form *f, unsigned i, const char *address,
                     bool hostile, char out[64])
{
    static const char *const tame[] = {"cache-%", "%", "x.y_%:1", "Cache%"};
    if (hostile && prop_below(p, 3) == 0) {
        snprintf(out, 64, "%s%u", HOSTILE[prop_below(p, sizeof HOSTILE / sizeof HOSTILE[0])],
                 prop_below(p, 3) ? i : 0);
    } else if (f->names == BY_NAME) {
        fill(out, tame[prop_below(p, 4)], i, 0, 0);
    } else {
        snprintf(out, 64, "%s", strncmp(address, "unix:", 5) == 0 ? address + 5 : address);
    }
}

static void gen_node(struct prop *p, const struct form *f, gyre_topology_t *t, unsigned i,
                     bool hostile)
{
    char name[64], address[64], options[64] = "", zone[32] = "";
    gen_address(p, f, i, address);
    gen_name(p, f, i, address, hostile, name);
    if (f->zones) {
        gen_zone(p, zone);
    }
    if (f->options && (strcmp(f->format, "cassandra-tokens") == 0 || prop_below(p, 2))) {
        fill(options, f->options, i + 1, i + 1, 0);
        char *minus =
            strstr(gyre_topology_get(t, "partitioner"), "Random") ? strchr(options, '-') : NULL;
        if (minus) {
            *minus = '1';
        }
    }
    double weight = 1 + (double)prop_below(p, f->heaviest);
    weight = f->drained && i && prop_below(p, 6) == 5 ? 0 : weight;
    struct gyre_node n = {.size = sizeof n,
                          .name = name,
                          .address = address,
                          .weight = weight,
                          .zone = *zone ? zone : NULL,
                          .options = *options ? options : NULL};
    (void)!gyre_topology_add(t, &n, NULL); /* a hostile name may stand twice */
}

static gyre_topology_t *gen(struct prop *p, const struct form *f, bool hostile)
{
    gyre_topology_t *t = gyre_topology_new();
    char word[32];
    must(t ? GYRE_OK : GYRE_NOMEM);
    for (size_t i = 0; i < 8 && f->settings[i][0]; i++) {
        must(gyre_topology_set(t, f->settings[i][0], pick(p, f->settings[i][1], word), NULL));
    }
    unsigned n = (unsigned)prop_size(p, 1, 40);
    for (unsigned i = 0; i < n; i++) {
        gen_node(p, f, t, i, hostile);
    }
    return t;
}

static const char *owner(const gyre_map_t *m, unsigned key)
{
    char text[GY_NUM_TEXT];
    int n = snprintf(text, sizeof text, "key:{%u}%u", key / 2, key);
    const struct gyre_node *node = gyre_map_node(m, gyre_map_locate(m, text, (size_t)n));
    return node ? node->name : "";
}

static bool same_owners(const gyre_map_t *a, const gyre_map_t *b)
{
    for (unsigned i = 0; i < KEYS; i++) {
        if (strcmp(owner(a, i), owner(b, i)) != 0) {
            return false;
        }
    }
    return true;
}

static struct gy_pools *read_back(const struct gy_written *w, const char *format)
{
    struct gy_source from = {.file = "f", .format = format};
    struct gy_pools *pools = NULL;
    gyre_error_t e = {0};
    if (gy_pools_parse((struct gy_slice){gy_buf_head(&w->text), gy_buf_size(&w->text)}, &from,
                       &pools, &e)) {
        printf("%u:%u: %s\n%.*s\n", e.line, e.column, e.message, (int)gy_buf_size(&w->text),
               gy_buf_head(&w->text));
        exit(2);
    }
    return pools;
}

/* What was written, by somebody else's reading of it. */
static bool holds(struct prop *p, const struct gy_format *f, const gyre_topology_t *t,
                  const gyre_map_t *map, struct gy_written *w, bool hostile)
{
    struct gy_pools *pools = read_back(w, hostile ? f->name : NULL);
    struct gy_written again = {0};
    PROP(pools->format == f);
    PROP(pools->count == 1);
    const gyre_topology_t *back = pools->list[0]->config->topology;
    size_t i = 0;
    for (size_t k = 0; k < gyre_topology_count(t); k++) {
        const struct gyre_node *a = gyre_topology_node(t, k);
        const struct gyre_node *b = gyre_topology_find(back, a->name);
        PROP(b || a->weight == 0);
        PROP(!b || a->weight == b->weight);
        PROP(!b || gy_address_same(a->address, b->address));
        i += b != NULL;
    }
    PROP(i == gyre_topology_count(back));
    gyre_map_t *other = gen_map(back);
    PROP(same_owners(map, other));
    struct gy_to_write what = {
        .topology = back, .from = pools->list[0], .from_format = pools->format};
    must(gy_format_write(f, &what, &again, NULL));
    /* Where some of HAProxy's ids are written, all are from then on. */
    PROP(strcmp(f->name, "haproxy") == 0 ||
         strcmp(gy_buf_cstr(&w->text), gy_buf_cstr(&again.text)) == 0);
    gy_written_fini(&again);
    gyre_map_unref(other);
    gy_pools_free(pools);
    return true;
}

static bool try(struct prop *p, bool hostile)
{
    const struct form *f = &FORMS[prop_below(p, FORM_COUNT)];
    const struct gy_format *format;
    struct gy_written w = {0};
    gyre_error_t e = {0};
    gyre_map_t *map = NULL;
    must(gy_format_find(f->format, &format, NULL));
    gyre_topology_t *t = gen(p, f, hostile);
    struct gy_to_write what = {.topology = t};
    bool good = true;
    if (gyre_map_build(t, &map, NULL) == GYRE_OK) {
        int rc = gy_format_write(format, &what, &w, &e);
        if (!hostile && rc) {
            printf("%s: %s\n%s\n", f->format, e.message, gy_buf_cstr(&w.text));
        }
        PROP(!rc || hostile);
        PROP(rc ? *e.message != '\0' : gy_buf_size(&w.losses) == 0 || f->zones);
        good = rc || holds(p, format, t, map, &w, hostile);
    }
    gyre_map_unref(map);
    gy_written_fini(&w);
    gyre_topology_free(t);
    return good;
}

static bool is_read_back(struct prop *p)
{
    return try(p, false);
}

static bool hostile_names_stay_names(struct prop *p)
{
    return try(p, true);
}

int main(void)
{
    return prop_run("what is written is read back", is_read_back, 200) |
           prop_run("hostile names stay names", hostile_names_stay_names, 200);
}
