/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_tree.c - a red-black tree, as in the maps of C++ and Java. It only grows, so it is the
 * left-leaning form (Sedgewick, "Left-leaning red-black trees", 2008): red links lean left, no two
 * in a row, as many black ones on every way down. Nodes lie in one block and are named by their
 * places in it; 0 is none.
 */
#include "study/counted.h"

#include <stdbool.h>
#include <stdlib.h>

struct node {
    uint64_t at;
    uint32_t left, right;
    bool red;
};

struct tree {
    struct node *node; /* [0] is not used */
    size_t n;
    uint32_t root;
};

static uint32_t rotate_left(struct node *v, uint32_t h)
{
    uint32_t x = v[h].right;
    v[h].right = v[x].left;
    v[x].left = h;
    v[x].red = v[h].red;
    v[h].red = true;
    return x;
}

static uint32_t rotate_right(struct node *v, uint32_t h)
{
    uint32_t x = v[h].left;
    v[h].left = v[x].right;
    v[x].right = h;
    v[x].red = v[h].red;
    v[h].red = true;
    return x;
}

/* Recursion is as deep as the tree: 2 log2(n). */
static uint32_t insert(struct node *v, uint32_t h, uint32_t fresh)
{
    if (!h) {
        return fresh;
    }
    if (v[fresh].at < v[h].at) {
        v[h].left = insert(v, v[h].left, fresh);
    } else {
        v[h].right = insert(v, v[h].right, fresh);
    }
    if (v[v[h].right].red && !v[v[h].left].red) {
        h = rotate_left(v, h);
    }
    if (v[v[h].left].red && v[v[v[h].left].left].red) {
        h = rotate_right(v, h);
    }
    if (v[v[h].left].red && v[v[h].right].red) {
        v[h].red = true;
        v[v[h].left].red = false;
        v[v[h].right].red = false;
    }
    return h;
}

static void tree_free(void *set)
{
    struct tree *t = set;
    if (t) {
        free(t->node);
        free(t);
    }
}

static void *tree_build(const uint64_t *positions, size_t n)
{
    struct tree *t = calloc(1, sizeof *t);
    if (t) {
        t->n = n;
        t->node = calloc(n + 1, sizeof *t->node);
    }
    if (!t || !t->node) {
        tree_free(t);
        return NULL;
    }
    for (size_t i = 1; i <= n; i++) {
        t->node[i] = (struct node){.at = positions[i - 1], .red = true};
        t->root = insert(t->node, t->root, (uint32_t)i);
        t->node[t->root].red = false;
    }
    return t;
}

static uint64_t leftmost(const struct tree *t)
{
    uint32_t h = t->root;
    while (t->node[h].left) {
        h = t->node[h].left;
    }
    return t->node[h].at;
}

static uint64_t tree_find(const void *set, uint64_t x, uint64_t *compared)
{
    const struct tree *t = set;
    uint32_t best = 0;
    for (uint32_t h = t->root; h;) {
        (*compared)++;
        if (t->node[h].at >= x) {
            best = h;
            h = t->node[h].left;
        } else {
            h = t->node[h].right;
        }
    }
    return best ? t->node[best].at : leftmost(t);
}

static size_t tree_bytes(const void *set)
{
    return ((const struct tree *)set)->n * sizeof(struct node);
}

const struct gy_search gy_search_tree = {"red-black tree", tree_build, tree_free, tree_find,
                                         tree_bytes};
