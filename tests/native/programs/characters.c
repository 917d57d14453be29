/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Copies standard input to standard output in ways whose transfers libc makes by itself:
 *   characters fgetc | getc | getchar | scanf | fscanf
 *   characters sought    one character of each 2000 bytes, after a seek
 *   ... FILE             reads that file instead
 *   characters wide      writes 10,000 wide characters to the file "out" */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static int write_wide(void)
{
    FILE *stream = fopen("out", "w");
    for (int i = 0; i < 10000; i++)
        fputwc(L'x', stream);
    return fclose(stream);
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    char word[64];
    int found;
    if (strcmp(way, "wide") == 0)
        return write_wide();
    if (count > 2 && freopen(arguments[2], "r", stdin) == NULL)
        return 1;
    if (strcmp(way, "sought") == 0)
        for (long place = 7; fseek(stdin, place, SEEK_SET) == 0 && (found = getc(stdin)) != EOF;
             place += 2000)
            putchar(found);
    else if (strcmp(way, "fgetc") == 0)
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
