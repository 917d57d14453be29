/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stdio in its usual forms. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[64];
    FILE *stream = fopen("stream", "w+");
    if (stream == NULL)
        return 1;
    fwrite("0123456789", 1, 10, stream);
    fprintf(stream, "%s %d\n", "line", 7);
    fputs("more\n", stream);
    fflush(stream);
    rewind(stream);
    if (fgets(text, sizeof text, stream) == NULL || strcmp(text, "0123456789line 7\n") != 0)
        return 2;
    fseek(stream, 0, SEEK_SET);
    if (fread(text, 2, 5, stream) != 5)
        return 3;
    return fclose(stream);
}
