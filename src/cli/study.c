/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.c - `gyre study`: lists the experiments of src/study, or runs one and shows its result as
 * text, JSON or charts. A study's own numbers are options like any other; which there are, and what
 * they are unless given, its row says.
 */
#include "study/study.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/save.h"
#include "cli/study_show.h"
#include "cli/table.h"
#include "study/svg.h"

#include <stdio.h>
#include <time.h>

#define SEED_MAX UINT64_C(0xffffffffff) /* names hold it */
#define UNSET    UINT64_MAX

struct options {
    uint64_t value[GY_STUDY_PARAMS];
    uint64_t seed;
    bool full, json;
    const char *svg;
};

#define STEPS 1000 /* of progress */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_progress(void *ctx, double done)
{
    (void)ctx;
    gy_progress_at((uint64_t)(done * STEPS));
}

/* ---- the list ---- */

static void list_text(struct gy_buf *out)
{
    static const char *const heads[] = {"STUDY", "QUESTION", NULL};
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; gy_studies[i]; i++) {
        gy_table_format(&t, "%s", gy_studies[i]->name);
        gy_table_format(&t, "%s", gy_studies[i]->question);
    }
    gy_table_end(&t, out);
    gy_buf_puts(out, "\n'gyre study NAME' runs one; 'gyre study NAME --help' says what it does and "
                     "how to read it\n");
}

static void list_json(struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_array(&j);
    for (size_t i = 0; gy_studies[i]; i++) {
        gy_json_object(&j);
        gy_json_kstring(&j, "study", gy_studies[i]->name);
        gy_json_kstring(&j, "question", gy_studies[i]->question);
        gy_json_object_end(&j);
    }
    gy_json_array_end(&j);
    gy_buf_putc(out, '\n');
}

static int list(const struct options *o)
{
    struct gy_buf out = {0};
    if (o->svg) {
        gy_complain("study: --svg needs the name of a study; 'gyre study' lists them");
        return GY_EXIT_USAGE;
    }
    (o->json ? list_json : list_text)(&out);
    return gy_out_end(&out);
}

/* ---- one study ---- */

static int show(const struct gy_study *s, const struct options *o, const struct gy_lab *lab,
                const struct gy_result *r)
{
    struct gy_buf out = {0};
    if (o->svg) {
        struct gy_buf svg = {0};
        gy_svg_write(&svg, s, r);
        int rc = gy_save_file(o->svg, &svg);
        gy_buf_fini(&svg);
        if (rc) {
            return rc;
        }
    }
    if (o->json) {
        gy_study_json(&out, s, lab, r);
    } else {
        gy_study_text(&out, s, r);
    }
    return gy_out_end(&out);
}

static int run(const struct gy_study *s, const struct options *o)
{
    struct gy_lab lab = {.seed = o->seed, .now = now_ns, .progress = on_progress};
    struct gy_result r = {0};
    for (size_t i = 0; s->params[i].name; i++) {
        uint64_t usual = o->full ? s->params[i].full : s->params[i].usual;
        lab.value[i] = o->value[i] == UNSET ? usual : o->value[i];
    }
    gy_progress_begin(s->name, STEPS);
    int rc = gy_study_run(s, &lab, &r);
    gy_progress_end();
    rc = rc ? gy_complain_error(&lab.error) : show(s, o, &lab, &r);
    gy_result_fini(&r);
    return rc;
}

/* ---- its options ---- */

static const struct gy_opt COMMON[] = {
    {0, "seed", "N", "another draw of the same experiment (1)", GY_OPT_UINT,
     offsetof(struct options, seed), 0, SEED_MAX, NULL},
    {0, "full", NULL, "more of everything: smoother, and slower", GY_OPT_FLAG,
     offsetof(struct options, full), 0, 0, NULL},
    {0, "svg", "FILE", "write the charts to FILE as well", GY_OPT_TEXT,
     offsetof(struct options, svg), 0, 0, NULL},
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct options, json), 0, 0, NULL},
    {0},
};
#define COMMONS (sizeof COMMON / sizeof COMMON[0])

/* The options of a study: its numbers, then the common ones; help is room for the texts. */
static void options_of(const struct gy_study *s, struct gy_opt opts[GY_STUDY_PARAMS + COMMONS],
                       char help[GY_STUDY_PARAMS][128])
{
    size_t n = 0;
    for (; s->params[n].name; n++) {
        const struct gy_param *p = &s->params[n];
        int len =
            snprintf(help[n], sizeof help[n], "%s (%llu", p->help, (unsigned long long)p->usual);
        if (p->full != p->usual) {
            len += snprintf(help[n] + len, sizeof help[n] - (size_t)len, "; --full: %llu",
                            (unsigned long long)p->full);
        }
        snprintf(help[n] + len, sizeof help[n] - (size_t)len, ")");
        opts[n] = (struct gy_opt){
            .name = p->name,
            .arg = "N",
            .help = help[n],
            .kind = GY_OPT_UINT,
            .offset = offsetof(struct options, value) + n * sizeof(uint64_t),
            .min = p->min,
            .max = p->max,
        };
    }
    memcpy(opts + n, COMMON, sizeof COMMON);
}

static int cmd_one(const struct gy_study *s, int argc, char **argv)
{
    /* Who completes a line looks at them after the return. */
    static struct gy_opt opts[GY_STUDY_PARAMS + COMMONS];
    static char help[GY_STUDY_PARAMS][128], command[64], plain[64], chart[96], about[2048];
    static const char *const examples[] = {plain, chart, NULL};
    struct options o = {.seed = 1};
    char **words;
    int count;
    memset(o.value, 0xff, sizeof o.value);
    options_of(s, opts, help);
    snprintf(command, sizeof command, "gyre study %s", s->name);
    snprintf(plain, sizeof plain, "%s", command);
    snprintf(chart, sizeof chart, "%s --seed 7 --svg %s.svg", command, s->name);
    snprintf(about, sizeof about, "%c%s\n\n%s\n\nclaims it checks (docs/articles.md):\n  %s",
             s->question[0] & ~0x20, s->question + 1, s->about, s->claims);
    struct gy_usage u = {command, "", about, opts, examples, 0, 0, GY_EXITS};
    int rc = gy_opt_parse(&u, argc, argv, &o, &words, &count);
    return rc == GY_GO_ON ? run(s, &o) : rc;
}

const char *gy_study_sub(unsigned i, const char **summary)
{
    for (unsigned k = 0; gy_studies[k]; k++) {
        if (k == i) {
            *summary = gy_studies[k]->question;
            return gy_studies[k]->name;
        }
    }
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[32];
    char q[GY_QUOTE];
    size_t n = 0;
    for (; gy_studies[n] && n < 32; n++) {
        names[n] = gy_studies[n]->name;
    }
    const char *near = gyre_nearest(name, names, n);
    gy_complain("study: unknown study %s%s%s%s", gy_utf8_quote(q, gy_str(name)),
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    gy_complain("'gyre study' lists them");
    return GY_EXIT_USAGE;
}

int gy_cmd_study(int argc, char **argv)
{
    static const char *const examples[] = {
        "gyre study",
        "gyre study movement",
        "gyre study balance --nodes 40 --seed 7 --svg balance.svg",
        NULL,
    };
    static const struct gy_usage usage = {
        "gyre study",
        "[NAME]",
        "Runs an experiment, or lists them. Each is reproducible by its seed; what a clock measured "
        "is marked\nas such. A study may have options besides these: 'gyre study NAME --help' shows "
        "them, what it does\nand how to read it.",
        COMMON,
        examples,
        0,
        1,
        GY_EXITS,
    };
    /* The study's name is what decides which options there are, so it comes first. */
    if (argc > 1 && argv[1][0] != '-') {
        const struct gy_study *s = gy_study_find(argv[1]);
        return s ? cmd_one(s, argc - 1, argv + 1) : unknown(argv[1]);
    }
    struct options o = {.seed = 1};
    char **words;
    int count;
    int rc = gy_opt_parse(&usage, argc, argv, &o, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (count) {
        gy_complain("study: the name comes first: gyre study NAME [OPTION...]");
        return GY_EXIT_USAGE;
    }
    return list(&o);
}
