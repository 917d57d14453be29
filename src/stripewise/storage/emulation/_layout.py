# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sets layouts of files and directories on emulated storage, which new files inherit."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stripewise.core.errors import StorageError, UsageError

ATTRIBUTE = "user.stripewise.layout"
"""Extended attribute that contains a layout, as "count size index"."""
ALL_TARGETS = -1
STRIPE_GRAIN = 64 << 10
"""Stripe sizes are multiples of it. Source: documented, lfs-setstripe(1)."""
LARGEST_STRIPE = (1 << 32) - STRIPE_GRAIN
MOST_STRIPES = 65535
_NO_ATTRIBUTE = (errno.ENODATA, errno.ENOTSUP)


@dataclass(frozen=True)
class Layout:
    """Division of a file into stripes.

    Attributes:
        stripe_count: Number of targets; -1: all of them, 0: the storage's default.
        stripe_size: Size in bytes; 0: the storage's default.
        first_target: Index of the first target; -1: the storage chooses.
    """

    stripe_count: int = 0
    stripe_size: int = 0
    first_target: int = -1

    def __post_init__(self) -> None:
        if not ALL_TARGETS <= self.stripe_count <= MOST_STRIPES:
            raise UsageError(
                f"stripe count {self.stripe_count}: give a number of targets, -1 for all of "
                "them, or 0 for the storage's default"
            )
        size = self.stripe_size
        if size < 0 or size > LARGEST_STRIPE or size % STRIPE_GRAIN:
            raise UsageError(
                f"stripe size {size}: give a multiple of 64 KiB below 4 GiB, such as 1M, "
                "or 0 for the storage's default"
            )
        if not -1 <= self.first_target <= MOST_STRIPES:
            raise UsageError(
                f"first target {self.first_target}: give an index from 0, or -1 to let the "
                "storage choose"
            )

    @property
    def text(self) -> str:
        """Text of the layout in the attribute."""
        return f"{self.stripe_count} {self.stripe_size} {self.first_target}"

    def over(self, other: Layout) -> Layout:
        """Return this layout with its unspecified values taken from another one."""
        return Layout(
            self.stripe_count or other.stripe_count,
            self.stripe_size or other.stripe_size,
            self.first_target if self.first_target >= 0 else other.first_target,
        )

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Parse the text of an attribute.

        Raises:
            UsageError: The text is not a layout.
        """
        words = text.split()
        try:
            count, size, index = map(int, words)
        except ValueError:
            raise UsageError(
                f"{ATTRIBUTE} = {text[:40]!r} is not a layout; set it with `stripewise machine "
                f"layout set`"
            ) from None
        return cls(count, size, index)


@dataclass(frozen=True)
class FoundLayout:
    """A layout, and its origin.

    Attributes:
        layout: Layout as it is stored there.
        source: File or directory that has it; None if the storage's default applies.
    """

    layout: Layout
    source: Path | None


def own_layout(path: Path) -> Layout | None:
    """Return the layout that a file or directory has itself, None if it has none.

    Raises:
        UsageError: It does not exist, or its attribute is not a layout.
    """
    try:
        data = os.getxattr(path, ATTRIBUTE)
    except OSError as error:
        if error.errno in _NO_ATTRIBUTE:
            return None
        raise UsageError(f"{path}: {error.strerror}; give an existing file or directory") from None
    try:
        return Layout.parse(data.decode("ascii", "replace").rstrip("\0\n"))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def find_layout(path: Path) -> FoundLayout:
    """Return the layout that a file has, or that new files in a directory get.

    Without an own layout, that of the closest directory above with one applies; values that a
    file's layout does not specify are taken from that directory.

    Raises:
        UsageError: It does not exist, or its attribute is not a layout.
    """
    path = path.absolute()
    own = own_layout(path)
    if own is not None and path.is_dir():
        return FoundLayout(own, path)
    for above in path.parents:
        if (inherited := own_layout(above)) is not None:
            break
    else:
        return FoundLayout(own or Layout(), path if own else None)
    return FoundLayout(own.over(inherited), path) if own else FoundLayout(inherited, above)


def layout_text(path: Path, *, inherited: bool = False) -> str:
    """Return the layout stored with a file or directory; empty if there is no valid one.

    Args:
        path: Path of the file or directory.
        inherited: Whether to include what a directory inherits from those above it.
    """
    try:
        if inherited:
            found = find_layout(path)
            return found.layout.text if found.source is not None else ""
        own = own_layout(path)
    except UsageError:
        return ""
    return own.text if own is not None else ""


def set_layout(path: Path, layout: Layout, *, even_with_data: bool = False) -> None:
    """Set the layout of a directory for its new files, or create an empty file with it.

    Args:
        path: Path of the file or directory.
        layout: Layout to store.
        even_with_data: Whether the file may have data: it is a copy of one with this layout.

    Raises:
        UsageError: The file has data, or its directory does not exist.
        StorageError: The file system supports no user attributes, or refuses.
    """
    made = False
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            made = True
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is neither a file nor a directory")
        if stat.S_ISREG(status.st_mode) and status.st_size and not even_with_data:
            raise UsageError(
                f"{path} has data, and the layout of a file cannot change any more; set that of "
                "its directory and copy the file, or remove it first"
            )
        _store(path, layout)
    except FileNotFoundError:
        raise UsageError(f"{path}: {path.parent} is not a directory; make it first") from None
    except OSError as error:
        if made:
            path.unlink(missing_ok=True)
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot set a layout of {path}: {error.strerror}") from error


def remove_layout(path: Path) -> None:
    """Remove a directory's own layout, so that it inherits again; no error without one."""
    try:
        os.removexattr(path, ATTRIBUTE)
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTE:
            raise StorageError(f"cannot change {path}: {error.strerror}") from error


def check_attributes(directory: Path) -> None:
    """Raise an error for a directory on a file system that cannot store layouts.

    Raises:
        StorageError: The attributes do not work; the message contains the reason.
    """
    name = f"{ATTRIBUTE}.try"
    try:
        os.setxattr(directory, name, b"1")
        os.removexattr(directory, name)
    except OSError as error:
        raise _refused(directory, error) from error


def _store(path: Path, layout: Layout) -> None:
    try:
        os.setxattr(path, ATTRIBUTE, layout.text.encode("ascii"))
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> StorageError:
    if error.errno == errno.ENOTSUP:
        return StorageError(
            f"{path}: this file system keeps no user attributes (user_xattr), where the layout "
            "of emulated storage is kept; work in a directory on ext4, XFS or Btrfs"
        )
    return StorageError(
        f"{path}: cannot set an attribute: {error.strerror}; give a directory that you can write"
    )
