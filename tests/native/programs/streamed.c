/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* streamed HOW CALLS ["open"]: writes to a stream, which it leaves open if asked to; "read"
 * reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char data[100000];

static void step(const char *how, int i, FILE *stream)
{
    if (strcmp(how, "equal") == 0)
        fwrite(data, 1, 100, stream);
    if (strcmp(how, "growing") == 0)
        fwrite(data, 1, 1000 + 37 * (size_t)i, stream);
    if (strcmp(how, "printed") == 0 || strcmp(how, "lines") == 0)
        fprintf(stream, "%d %f\n", i, i * 0.5);
    if (strcmp(how, "characters") == 0)
        fputc('x', stream);
    if (strcmp(how, "unbuffered") == 0)
        fputs("some text", stream);
    if (strcmp(how, "mixed") == 0) {
        fputc('x', stream);
        fwrite(data, 1, 99, stream);
        if (i % 100 == 99)
            fflush(stream);
        if (i % 70 == 69)
            fseek(stream, 10, SEEK_SET);
    }
}

int main(int count, char **arguments)
{
    const char *how = arguments[1];
    int reads = strncmp(how, "read", 4) == 0;
    FILE *stream = fopen("out", reads ? "r" : "w");
    if (strcmp(how, "lines") == 0)
        setvbuf(stream, NULL, _IOLBF, 4096);
    if (strcmp(how, "unbuffered") == 0)
        setvbuf(stream, NULL, _IONBF, 0);
    for (int i = 0; i < atoi(arguments[2]); i++) {
        if (strcmp(how, "read") == 0 && fread(data, 1, 100, stream) != 100)
            break;
        if (strcmp(how, "read-large") == 0 && fread(data, 1, 10000, stream) != 10000)
            break;
        if (strcmp(how, "read-lines") == 0 && fgets(data, sizeof data, stream) == NULL)
            break;
        if (!reads)
            step(how, i, stream);
    }
    return count > 3 ? 0 : fclose(stream);
}
