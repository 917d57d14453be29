# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directory trees -> inputs, with what was passed over and why.

Links are not followed: a tree that users write to must not lead out of itself.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from stripewise.fleet.ingest._registry import claim_of

PARTIAL = ".darshan_partial"
_TEMPORARY = (PARTIAL, ".tmp", ".temp", ".part", ".partial", ".filepart", ".swp", "~")
_MOST_NAMED = 20


@dataclass(frozen=True)
class Stamp:
    """What tells whether a file changed; of several files, all together.

    Attributes:
        size_bytes: Sum.
        changed_ns: Latest change of content, owner or name.
        modified_seconds: Latest change of content.
        owner: Number of the user; the least if they are of several.
        is_mixed: They are of several users.
        inodes: Of each.
    """

    size_bytes: int
    changed_ns: int
    modified_seconds: float
    owner: int
    is_mixed: bool = False
    inodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Input:
    """A file, or files of one directory that are one input.

    Attributes:
        path: Of the file or the directory.
        names: Files of the directory; empty: `path` is a file.
        stamp: As it was found.
    """

    path: Path
    names: tuple[str, ...]
    stamp: Stamp

    @property
    def files(self) -> list[tuple[str, Path]]:
        """Name within the input, and path, of each file."""
        if not self.names:
            return [("", self.path)]
        return [(name, self.path / name) for name in self.names]

    @property
    def place(self) -> str:
        """Key of the path: paths need not be text."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()


@dataclass
class PassedOver:
    """What a walk passed over: counts and first names by reason."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: Path | str) -> None:
        """Note one more."""
        self.counts[reason] += 1
        named = self.names.setdefault(reason, [])
        if len(named) < _MOST_NAMED:
            named.append(str(path))


TEMPORARY = "temporary or hidden"
UNFINISHED_LOG = "log of a run that did not end (.darshan_partial)"
LINK = "link, not followed"
SPECIAL = "no regular file"
UNREADABLE = "cannot be read"
INCOMPLETE = "not finished yet"


def stamp_of(files: Sequence[Path]) -> Stamp:
    """Return the stamp of files.

    Raises:
        OSError: One is gone, or no regular file.
    """
    found = [os.lstat(path) for path in files]
    for path, one in zip(files, found, strict=True):
        if not stat.S_ISREG(one.st_mode):
            raise OSError(f"{path} is no regular file")
    return _stamp(found)


def stamp_of_open(files: Sequence[BinaryIO]) -> Stamp:
    """Return the stamp of files that are open."""
    return _stamp([os.fstat(file.fileno()) for file in files])


def _stamp(found: Sequence[os.stat_result]) -> Stamp:
    owners = {one.st_uid for one in found}
    return Stamp(
        sum(one.st_size for one in found),
        max(one.st_ctime_ns for one in found),
        max(one.st_mtime for one in found),
        min(owners),
        len(owners) > 1,
        tuple(one.st_ino for one in found),
    )


def walk(roots: Sequence[Path], passed: PassedOver) -> Iterator[Input]:
    """Yield the inputs below roots, directories in order of name.

    Args:
        roots: Files and directories; links among them are followed.
        passed: Takes what is no input.
    """
    for root in roots:
        real = Path(os.path.realpath(root))
        if real.is_dir():
            yield from _below(real, passed)
        else:
            yield from _one(real, (), passed)


def _below(directory: Path, passed: PassedOver) -> Iterator[Input]:
    waiting = [directory]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = {entry.name: entry for entry in entries}
            open_to_all = os.lstat(here).st_mode & stat.S_IWOTH
        except OSError as error:
            passed.add(UNREADABLE, f"{here}: {error.strerror}")
            continue
        # where everybody can write, somebody else's files do not belong together
        claim = None if open_to_all else claim_of(here, found)
        if claim is not None:
            if claim.names:
                yield from _one(here, claim.names, passed)
            else:
                passed.add(INCOMPLETE, here)
            if claim.whole:
                continue
        taken = set(claim.names) if claim is not None else set()
        below: list[Path] = []
        for name in sorted(found.keys() - taken):
            path = here / name
            if reason := _reason(found[name]):
                passed.add(reason, path)
            elif found[name].is_dir(follow_symlinks=False):
                below.append(path)
            else:
                yield from _one(path, (), passed)
        waiting += reversed(below)


def _reason(entry: os.DirEntry[str]) -> str:
    """Why an entry of a directory is no input; "" if it may be one."""
    name = entry.name
    if name.endswith(PARTIAL):
        return UNFINISHED_LOG
    if name.startswith(".") or name.endswith(_TEMPORARY):
        return TEMPORARY
    if entry.is_symlink():
        return LINK
    if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
        return SPECIAL
    return ""


def _one(path: Path, names: tuple[str, ...], passed: PassedOver) -> Iterator[Input]:
    files = [path / name for name in names] or [path]
    try:
        stamp = stamp_of(files)
    except OSError as error:
        passed.add(UNREADABLE, f"{path}: {error.strerror or error}")
        return
    yield Input(path, names, stamp)
