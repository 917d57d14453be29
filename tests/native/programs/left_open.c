/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Leaves streams open that all write to one file, one of them through a pipe's descriptor. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    FILE *streams[5];
    for (int i = 0; i < 5; i++)
        streams[i] = i == 2 ? fdopen(dup(1), "a") : fopen("log", "a");
    for (int i = 0; i < 5; i++)
        fprintf(streams[(i * 3) % 5], "stream %d\n", (i * 3) % 5);
    printf("standard output\n");
    return 0;
}
