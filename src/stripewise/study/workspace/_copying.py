# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copies files by reflink if possible, after a check of space and quota."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

from stripewise.core.errors import StorageError
from stripewise.present import size_text

FICLONE = 0x40049409
"""ioctl number; Source: linux/fs.h, _IOW(0x94, 9, int)."""

_BLOCK_BYTES = 64 << 20


def copy_file(source: Path, target: Path) -> None:
    """Copy a regular file to a path that does not exist, with mode and times.

    Raises:
        OSError: The source cannot be read or the target cannot be written.
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
    """Return whether a file of `source`'s file system can be reflinked into `directory`."""
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
    """Copy the data without the holes."""
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
                return  # the file became shorter
            done = os.pwrite(target, data, position)
        position += done


# Check whether a directory has enough space, including quota.

RESERVE_BYTES = 64 << 20
"""Space to leave free on every file system: journals, reports, other users' small files."""


def check_free(directory: Path, needed_bytes: int, purpose: str) -> None:
    """Refuse if the file system has less than `needed_bytes` plus a reserve free.

    Raises:
        StorageError: There is too little; the message has what is needed and free, and the remedy.
    """
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        raise StorageError(f"cannot use {directory}: {error.strerror or error}") from error
    if free < needed_bytes + RESERVE_BYTES:
        wanted = f"{size_text(needed_bytes)} and {size_text(RESERVE_BYTES)} of reserve"
        raise StorageError(_refusal(directory, wanted, purpose, size_text(free)))


def check_quota(directory: Path, needed_bytes: int, purpose: str) -> None:
    """Refuse if a quota does not allow `needed_bytes`, which are reserved briefly to test it.

    File systems that cannot reserve space are not tested.

    Raises:
        StorageError: The quota or the file system does not allow so much.
    """
    if needed_bytes <= 0:
        return
    try:
        with tempfile.TemporaryFile(dir=directory, prefix=".space-") as stream:
            code = _reserve(stream.fileno(), needed_bytes)
    except OSError as error:
        raise StorageError(f"cannot write in {directory}: {error.strerror or error}") from error
    if code in (errno.EDQUOT, errno.ENOSPC):
        wanted = size_text(needed_bytes)
        raise StorageError(_refusal(directory, wanted, purpose, os.strerror(code).lower()))


def _reserve(file: int, size: int) -> int:
    """Call fallocate (the libc function posix_fallocate would write every block instead)."""
    fallocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if fallocate is None:
        return errno.EOPNOTSUPP
    fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return 0 if fallocate(file, 0, 0, size) == 0 else ctypes.get_errno()


def _refusal(directory: Path, needed: str, purpose: str, available: str) -> str:
    return (
        f"{purpose} needs {needed} in {directory}, and there is: {available}; "
        "free some space, or put the study elsewhere with --study-dir"
    )
