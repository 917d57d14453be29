# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes files atomically, and handles directory trees without following links."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from stripewise.core.errors import StorageError, StudyError

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC


def check_private(descriptor: int, path: Path) -> None:
    """Refuse a file or directory that another user owns or can write to.

    Raises:
        StudyError: Another user owns it or can write to it; the message has the remedy.
    """
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid():
        raise StudyError(
            f"{path} belongs to {_user(status.st_uid)}, and its commands would run as you; use a "
            "directory of your own"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StudyError(
            f"{path} can be written by other users; check that nobody changed it, then remove "
            f"their access with: chmod go-w {path}"
        )


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"another user (number {number})"


def open_private(path: Path, flags: int, folder: int | None = None) -> int:
    """Open a regular file that only the caller can write; create a new one with private access.

    Raises:
        StudyError: The file belongs to another user, or others can write to it.
        OSError: The file cannot be opened, or is a link.
    """
    descriptor = os.open(path, flags | _SAFE | os.O_NONBLOCK, 0o600, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StudyError(f"{path} is not a regular file; remove it")
        check_private(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def replace_file(folder: int, name: str, data: bytes) -> None:
    """Write a private file atomically into an open directory.

    An existing file or link of that name is replaced, and a link is not followed.

    Raises:
        OSError: The disk is full, read-only, or refuses.
    """
    temporary = f".{name}.{uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def append_durably(descriptor: int, data: bytes) -> None:
    """Append to an open file durably; after an error nothing of the data remains in it.

    Raises:
        OSError: The disk is full, or refuses.
    """
    before = os.fstat(descriptor).st_size
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def sync_directory(directory: Path) -> None:
    """Flush the names in a directory to disk."""
    descriptor = os.open(directory, FOLDER_FLAGS)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(folder: int, name: str) -> None:
    """Remove an entry of an open directory, with everything below it.

    Links are removed, never followed; another file system mounted there is left alone.

    Raises:
        OSError: The entry does not exist, or something in it cannot be removed.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    _make_removable(folder, name, status.st_dev)
    shutil.rmtree(name, dir_fd=folder)


def _make_removable(folder: int, name: str, device: int) -> None:
    """Give the owner access to every directory of a tree."""
    _make_accessible(folder, name, device)
    for _, folders, _, descriptor in os.fwalk(name, dir_fd=folder):
        for inner in folders:
            _make_accessible(descriptor, inner, device)


def _make_accessible(folder: int, name: str, device: int) -> None:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        return
    if status.st_dev != device:
        raise OSError(f"another file system is mounted on {name} in it")
    if status.st_mode & 0o700 != 0o700:
        descriptor = os.open(name, os.O_PATH | _SAFE, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)
        finally:
            os.close(descriptor)


# Files that are written atomically.


@contextmanager
def whole_file(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which replaces `path` if the block succeeds.

    Raises:
        StorageError: The file system refuses the operation.
    """
    place = None
    with _naming(path):
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            place = Path(name)
            os.fchmod(handle, mode)
            os.close(handle)
            yield place
            place.replace(path)
        finally:
            if place is not None:
                place.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that the user named; follow links, and keep the mode of an existing file.

    Raises:
        StorageError: The file cannot be written.
    """
    data = os.fsencode(content)
    with _naming(path):
        target = path.resolve() if path.is_symlink() else path
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a terminal or a pipe
            return
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_mask()
    with whole_file(target, mode) as place, place.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:  # the error already names what was refused
        raise
    except OSError as error:
        why = error.strerror or error
        raise StorageError(f"cannot write {path}: {why}: choose another place") from error


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
