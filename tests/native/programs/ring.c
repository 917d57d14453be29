/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A ring set up by raw system call, behind many other descriptors, left open at exit.  Exit 77:
 * the kernel has none. */
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    struct io_uring_params parameters = {0};
    for (int i = 0; i < 100; i++)
        (void)!dup(1);
    return syscall(SYS_io_uring_setup, 4, &parameters) < 0 ? 77 : 0;
}
