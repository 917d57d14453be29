/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What libc writes and reads when a program flushes without a lock, by lines, and when it seeks in
 * a file that it both writes and reads, as assemblers do. */
#define _GNU_SOURCE
#include <stdio.h>

static void by_lines(void)
{
    FILE *stream = fopen("lines", "w");
    setvbuf(stream, NULL, _IOLBF, 0);
    for (int i = 0; i < 10; i++) {
        fprintf(stream, "line %d", i);
        fputc_unlocked('\n', stream);
        fputs("two\n", stream);
    }
    fclose(stream);
}

static void without_lock(void)
{
    FILE *stream = fopen("unlocked", "w");
    for (int i = 0; i < 5; i++)
        fputs("0123456789", stream);
    fflush_unlocked(stream);
    fputs("the end", stream);
    fclose(stream);
}

static void with_seeks(void)
{
    FILE *stream = fopen("sought", "w+");
    fseek(stream, 272, SEEK_SET);
    fputs("123456789", stream);
    fseek(stream, 64, SEEK_SET);
    fputs("inside", stream);
    fseek(stream, 288, SEEK_SET); /* beyond the end */
    fputs("outside", stream);
    fseek(stream, 295, SEEK_SET); /* the end: libc reads nothing */
    fputs("on", stream);
    fseek(stream, 0, SEEK_SET);
    fputs("first", stream);
    fclose(stream);
}

int main(void)
{
    by_lines();
    without_lock();
    with_seeks();
    return 0;
}
