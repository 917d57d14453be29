// SPDX-FileCopyrightText: 2026 The Stripewise developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Stands for lctl in benchmarks/monitor_agent.py: list_param and get_param [-n] over a tree of
// files, the names' points as directories.  Like the real one it globs each name, and copies what
// it reads.

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 20];

// Names are paths below the tree with points for slashes; no name here has a client's NID.
static void swap(char *text, char from, char to)
{
    for (; *text; text++)
        if (*text == from)
            *text = to;
}

static int print_value(const char *path, const char *name, int named)
{
    int file = open(path, O_RDONLY);
    ssize_t size, total = 0;

    if (file < 0)
        return 1;
    while ((size = read(file, buffer + total, sizeof(buffer) - total)) > 0) {
        total += size;
        if (total == sizeof(buffer)) {
            fwrite(buffer, 1, total, stdout);
            total = 0;
            named = 0;
        }
    }
    close(file);
    if (named) {
        int is_long = total && memchr(buffer, '\n', total - 1) != NULL;

        printf(is_long ? "%s=\n" : "%s=", name);
    }
    fwrite(buffer, 1, total, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const char *tree = TREE;
    int lists = argc > 1 && !strcmp(argv[1], "list_param");
    int named = 1, failed = 0;
    static char out[1 << 16];

    setvbuf(stdout, out, _IOFBF, sizeof(out));
    for (int i = 2; i < argc; i++) {
        char path[4096];
        glob_t found;

        if (!strcmp(argv[i], "-n")) {
            named = 0;
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", tree, argv[i]);
        swap(path + strlen(tree), '.', '/');
        if (glob(path, 0, NULL, &found)) {
            fprintf(stderr, "error: %s: param_path '%s': No such file or directory\n", argv[1],
                    argv[i]);
            failed = 1;
            continue;
        }
        for (size_t j = 0; j < found.gl_pathc; j++) {
            char name[4096];

            snprintf(name, sizeof(name), "%s", found.gl_pathv[j] + strlen(tree) + 1);
            swap(name, '/', '.');
            if (lists)
                puts(name);
            else
                failed |= print_value(found.gl_pathv[j], name, named);
        }
        globfree(&found);
    }
    return failed;
}
