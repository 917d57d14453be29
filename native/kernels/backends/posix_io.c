/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "posix_io.h"

#include <errno.h>
#include <unistd.h>

int sw_posix_write(struct sw_session *session, int fd, const char *memory, int64_t bytes,
                   int64_t offset)
{
    while (bytes > 0) {
        ssize_t done = pwrite(fd, memory, (size_t)bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? sw_fail_errno(session, "pwrite")
                            : sw_fail(session, "pwrite", "nothing was written at byte %lld",
                                      (long long)offset);
        memory += done;
        offset += done;
        bytes -= done;
    }
    return 0;
}

int sw_posix_read(struct sw_session *session, int fd, char *memory, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t done = pread(fd, memory, (size_t)bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? sw_fail_errno(session, "pread")
                            : sw_fail(session, "pread", "the file ends at byte %lld",
                                      (long long)offset);
        memory += done;
        offset += done;
        bytes -= done;
    }
    return 0;
}
