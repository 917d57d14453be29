# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copying files without their blocks where the file system can (reflinks), holes kept."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

FICLONE = 0x40049409
"""ioctl number; Source: linux/fs.h, _IOW(0x94, 9, int)."""

_BLOCK_BYTES = 64 << 20


def copy_file(source: Path, target: Path) -> None:
    """Copy a regular file to a name that does not exist, with mode and times.

    Raises:
        OSError: The source cannot be read or the target not written.
    """
    with source.open("rb") as reader:
        status = os.fstat(reader.fileno())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        writer = os.open(target, flags, 0o600)
        try:
            if not _clone(reader.fileno(), writer):
                _copy_data(reader.fileno(), writer, status.st_size)
            os.fchmod(writer, stat.S_IMODE(status.st_mode))
            os.utime(writer, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(writer)


def can_clone(source: Path, directory: Path) -> bool:
    """Whether a file of `source`'s file system can be reflinked into `directory`."""
    probe = directory / f".reflink-{os.getpid()}"
    try:
        with source.open("rb") as reader, probe.open("xb") as writer:
            return _clone(reader.fileno(), writer.fileno())
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)


def _clone(source: int, target: int) -> bool:
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError:
        return False
    return True


def _copy_data(source: int, target: int, size: int) -> None:
    """Copy what is not a hole."""
    os.ftruncate(target, size)
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            start, end = end, size  # no holes on this file system
        _copy_range(source, target, start, end)


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    position = start
    while position < end:
        wanted = min(_BLOCK_BYTES, end - position)
        try:
            done = os.copy_file_range(source, target, wanted, position, position)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
                raise
            done = 0
        if done == 0:
            data = os.pread(source, min(wanted, 1 << 20), position)
            if not data:
                return  # it became shorter
            done = os.pwrite(target, data, position)
        position += done
