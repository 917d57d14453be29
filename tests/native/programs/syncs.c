/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Writes through a descriptor and a stream; ends with both open if asked to. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int leave_open = count > 1 && strcmp(arguments[1], "open") == 0;
    int fd = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int reader = open("written", O_RDONLY);
    FILE *stream = fopen("stream", "w");
    if (write(fd, "data", 4) != 4 || fputc('c', stream) == EOF || fputs("text", stream) == EOF)
        return 1;
    close(reader);
    if (leave_open)
        return 0;
    return close(fd) | fclose(stream);
}
