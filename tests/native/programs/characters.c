/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Copies standard input to standard output in ways whose transfers libc makes by itself:
 *   characters fgetc | getc | getchar | scanf | fscanf */
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    char word[64];
    int found;
    if (strcmp(way, "fgetc") == 0)
        while ((found = fgetc(stdin)) != EOF)
            fputc(found, stdout);
    else if (strcmp(way, "getc") == 0)
        while ((found = getc_unlocked(stdin)) != EOF)
            putc_unlocked(found, stdout);
    else if (strcmp(way, "getchar") == 0)
        while ((found = getchar()) != EOF)
            putchar(found);
    else if (strcmp(way, "scanf") == 0)
        while (scanf("%63s", word) == 1)
            puts(word);
    else
        while (fscanf(stdin, "%63s", word) == 1)
            printf("%s\n", word);
    return ferror(stdin) || ferror(stdout);
}
