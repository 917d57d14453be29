/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Writes more than the file size limit lets through; exits with errno of fclose(). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int main(void)
{
    const struct rlimit limit = {1000, 1000};
    char bytes[3000];
    FILE *stream = fopen("lost", "w");
    memset(bytes, 'x', sizeof bytes);
    signal(SIGXFSZ, SIG_IGN);
    if (stream == NULL || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    fwrite(bytes, 1, sizeof bytes, stream);
    errno = 0;
    return fclose(stream) == EOF ? errno : 0;
}
