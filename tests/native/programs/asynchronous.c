/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* POSIX asynchronous I/O: single requests and a list. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static ssize_t finish(struct aiocb *request)
{
    const struct aiocb *list[] = {request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return aio_return(request);
}

int main(void)
{
    static char data[4096];
    int fd = open("async", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct aiocb request = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 4096};
    if (aio_write(&request) != 0 || finish(&request) != 4096)
        return 1;
    if (aio_read(&request) != 0 || finish(&request) != 4096)
        return 2;
    struct aiocb first = {.aio_fildes = fd,
                          .aio_buf = data,
                          .aio_nbytes = 100,
                          .aio_offset = 4096,
                          .aio_lio_opcode = LIO_WRITE};
    struct aiocb second = {
        .aio_fildes = fd, .aio_buf = data, .aio_nbytes = 50, .aio_lio_opcode = LIO_READ};
    struct aiocb *list[] = {&first, NULL, &second};
    if (lio_listio(LIO_WAIT, list, 3, NULL) != 0)
        return 3;
    return finish(&first) != 100 || finish(&second) != 50 || close(fd) != 0;
}
