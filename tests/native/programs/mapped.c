/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A shared writable mapping, which no wrapper sees. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int fd = open(count > 1 ? arguments[1] : "mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(fd, 4096) != 0)
        return 1;
    char *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return 2;
    data[0] = 1;
    return close(fd);
}
