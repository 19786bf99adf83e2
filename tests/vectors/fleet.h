/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - what the files of imitated systems have in common: the nodes of the header made into a
 * topology, settings by name, and rows of key and node checked against the map of it. Every answer
 * is asked for in each way the library has, and must be the same.
 */
#ifndef VECTORS_FLEET_H
#define VECTORS_FLEET_H

#include "gyre.h"
#include "vectors/vectors.h"

/* Words of the field `removal`: the nodes of `down` are as if not there; they are there, unused. */
#define TAKEN_OUT  "list|remove|remove_node|ejected|auto_eject"
#define MARKED_OUT "down|disabled|dead"

struct fleet_node {
    char *shown; /* as the file writes it */
    char *name;  /* decoded */
    double weight;
    bool down;        /* named by the field `down` */
    char option[640]; /* the node's options, may be filled before fleet_add */
};

struct fleet {
    const struct vfile *f;
    struct verdict *v;
    struct fleet_node *node;
    size_t n;
    gyre_topology_t *t;
    gyre_map_t *m;
    bool bad; /* refused; the functions below then do nothing */
};

/* Reads nodes and down; refuses modes that are not in "a|b", fields that are not in `known`, key
 * types other than bytes and utf8. NULL-terminated list; "system version mode hash nodes columns
 * key_type note" are always known. */
void fleet_read(struct fleet *fl, const struct vfile *f, const char *modes,
                const char *const *known, struct verdict *v);
void fleet_free(struct fleet *fl);

/* Refuses the file, with the first reason given. */
void fleet_stop(struct fleet *fl, const char *what, const char *text);
/* The node written so; fl->n, and refused, if there is none. */
size_t fleet_find(struct fleet *fl, const char *shown, size_t len);
/* Refuses unless the field is absent or lists nodes. */
void fleet_among(struct fleet *fl, const char *field);
/* One setting; value NULL does nothing. */
void fleet_set(struct fleet *fl, const char *key, const char *value);
/* Refuses unless the field is absent or has one of the words of "a|b". */
void fleet_want(struct fleet *fl, const char *field, const char *words);
/* Adds the nodes to the topology; those that are down too if with_down. */
void fleet_add(struct fleet *fl, bool with_down);
/* Appends a word to a node's options. */
void fleet_option(struct fleet *fl, size_t i, const char *word, const char *value);
/* item i of a list "a,b,c", decoded; NULL past the end. free() it. */
char *fleet_item(const char *list, size_t i);

/* Builds the map and checks rows of key and node. */
void fleet_check_keys(struct fleet *fl);
/* Builds the map alone: fl->m. */
void fleet_build(struct fleet *fl);
/* The answer for a key: a node of the fleet, NULL if the library is at odds with itself. */
const struct fleet_node *fleet_locate(const struct fleet *fl, const char *key, size_t len);

#endif
