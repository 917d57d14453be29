/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a tree, and of the files and directories in it. */
#include "metadata.h"

#include <stdlib.h>
#include <string.h>

int64_t sw_tree_size(int64_t depth, int64_t width)
{
    int64_t all = 1;
    int64_t level = 1;
    for (int64_t d = 0; d < depth && all <= SW_MOST_DIRECTORIES; d++) {
        level *= width;
        all += level;
    }
    return all;
}

/* Makes "/tree.1/tree.4": for each directory its parent's path and its own number. */
static int fill_paths(struct sw_tree *tree, int64_t width)
{
    size_t used = 0;
    size_t room = 0;
    for (int64_t k = 0; k < tree->n_directories; k++) {
        size_t parent = k == 0 ? 0 : tree->starts[(k - 1) / width];
        size_t bytes = k == 0 ? 0 : tree->starts[(k - 1) / width + 1] - parent;
        if (used + bytes + 32 > room) {
            room = 2 * (used + bytes + 32);
            char *more = realloc(tree->text, room);
            if (more == NULL)
                return -1;
            tree->text = more;
        }
        tree->starts[k] = used;
        memmove(tree->text + used, tree->text + parent, bytes);
        used += bytes;
        if (k > 0)
            used += (size_t)snprintf(tree->text + used, 32, "/tree.%lld", (long long)k);
        tree->starts[k + 1] = used;
        if (used - tree->starts[k] > tree->longest)
            tree->longest = used - tree->starts[k];
    }
    return tree->longest < SW_PATH_BYTES / 2 ? 0 : -1;
}

int sw_tree_make(const struct sw_options *options, struct sw_tree *tree)
{
    int64_t inner = options->depth > 0 ? sw_tree_size(options->depth - 1, options->width) : 0;
    *tree = (struct sw_tree){.n_directories = sw_tree_size(options->depth, options->width)};
    tree->first = options->leaves ? inner : 0;
    int64_t holding = tree->n_directories - tree->first;
    tree->per_directory = (options->files + holding - 1) / holding;
    if (tree->per_directory < 1)
        tree->per_directory = 1;
    tree->starts = calloc((size_t)tree->n_directories + 1, sizeof *tree->starts);
    return tree->starts == NULL ? -1 : fill_paths(tree, options->width > 0 ? options->width : 1);
}

void sw_tree_free(struct sw_tree *tree)
{
    free(tree->text);
    free(tree->starts);
    *tree = (struct sw_tree){0};
}

void sw_names_begin(struct sw_names *names, const struct sw_tree *tree, const struct sw_job *job,
                    bool shared, const char *kind, int owner)
{
    int bytes =
        shared ? snprintf(names->path, sizeof names->path, "%s/shared", job->directory)
               : snprintf(names->path, sizeof names->path, "%s/rank.%d", job->directory, owner);
    names->tree = tree;
    names->root = (size_t)bytes;
    names->directory = -1;
    snprintf(names->label, sizeof names->label, "/%s.%d.", kind, owner);
}

static size_t enter(struct sw_names *names, int64_t directory)
{
    const struct sw_tree *tree = names->tree;
    size_t bytes = tree->starts[directory + 1] - tree->starts[directory];
    memcpy(names->path + names->root, tree->text + tree->starts[directory], bytes);
    names->directory = directory;
    return names->root + bytes;
}

const char *sw_name_of_directory(struct sw_names *names, int64_t directory)
{
    names->path[enter(names, directory)] = '\0';
    names->directory = -1;
    return names->path;
}

const char *sw_name_of(struct sw_names *names, int64_t number)
{
    int64_t directory = names->tree->first + number / names->tree->per_directory;
    char digits[24];
    char *first = digits + sizeof digits - 1;
    if (directory != names->directory) {
        size_t used = enter(names, directory);
        size_t bytes = strlen(names->label);
        memcpy(names->path + used, names->label, bytes);
        names->stem = used + bytes;
    }
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    memcpy(names->path + names->stem, first, (size_t)(digits + sizeof digits - first));
    return names->path;
}
