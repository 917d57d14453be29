# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the feeds, finds inputs in directory trees, and keeps their files open for reading.

Links are not followed: they must not lead out of a tree that users can write to.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import resource
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from stripewise.centre.database.ingest._base import Claim, Feed
from stripewise.centre.database.ingest._evidence import EvidenceFeed
from stripewise.centre.database.ingest._report import ReportFeed
from stripewise.centre.database.ingest._results import CampaignFeed, StudyFeed
from stripewise.centre.database.ingest._samples import SamplesFeed
from stripewise.centre.database.ingest._scheduler import SchedulerFeed
from stripewise.core import temporary_directory
from stripewise.core.inputs import open_input

PARTIAL = ".darshan_partial"
_TEMPORARY = (PARTIAL, ".tmp", ".temp", ".part", ".partial", ".filepart", ".swp", "~")
_MOST_NAMED = 20


@dataclass(frozen=True)
class Stamp:
    """State by which a change of a file is detected; for several files, their combined state.

    Attributes:
        size_bytes: Sum of the sizes.
        changed_ns: Latest change of content, owner or name.
        modified_seconds: Latest change of content.
        owner: Number of the user; the smallest if the files belong to several.
        is_mixed: Whether the files belong to several users.
        inodes: Inode of each file.
    """

    size_bytes: int
    changed_ns: int
    modified_seconds: float
    owner: int
    is_mixed: bool = False
    inodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Input:
    """A file, or several files of one directory, that form one input.

    Attributes:
        path: Path of the file or the directory.
        names: Names of the files in the directory; empty if `path` is a file.
        stamp: State of the files when they were found.
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
        """Key of the path, as text even if the path is not."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()


@dataclass
class PassedOver:
    """What a walk skipped: counts and first names, by reason."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: Path | str) -> None:
        """Count one more entry that was skipped."""
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
    """Return the combined state of files.

    Raises:
        OSError: A file does not exist any more, or is not a regular file.
    """
    found = [os.lstat(path) for path in files]
    for path, one in zip(files, found, strict=True):
        if not stat.S_ISREG(one.st_mode):
            raise OSError(f"{path} is not a regular file")
    return _stamp(found)


def stamp_of_open(files: Sequence[BinaryIO]) -> Stamp:
    """Return the combined state of open files."""
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
    """Yield the inputs below roots, with directories sorted by name.

    Args:
        roots: Files and directories; if one of them is a link, it is followed.
        passed: Collects what is not an input.
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
        # where everybody can write, files of other users do not form one input
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
    """Return why an entry of a directory is not an input, or "" if it may be one."""
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


# The feeds, and which of them reads an input.

FEEDS: tuple[Feed, ...] = (
    ReportFeed(), SamplesFeed(), SchedulerFeed(), StudyFeed(), CampaignFeed(), EvidenceFeed(),
)  # fmt: skip
"""Feeds in the order in which they are tried: those that read least come first."""


def feed_of(path: Path, head: bytes) -> Feed | None:
    """Return the feed that reads an input, or None if no feed does."""
    return next((feed for feed in FEEDS if feed.recognises(path, head)), None)


def claim_of(directory: Path, names: Collection[str]) -> Claim | None:
    """Return the files of a directory that together are one input."""
    for feed in FEEDS:
        if (claim := feed.claim(directory, names)) is not None:
            return claim
    return None


def summaries() -> list[str]:
    """Return descriptions of what can be stored, for display."""
    return [feed.summary for feed in FEEDS]


# The files of an input are kept open, so that exactly the files that were found are read.
#
# Whoever runs the ingest may read the files of all users. A user who replaces a file or a
# directory by a link must not have another user's run read as their own.


class ChangedError(Exception):
    """An input is not any more what was found."""


@contextmanager
def held(one: Input) -> Iterator[Path]:
    """Open the files of an input and yield a path that leads only to these open files.

    Raises:
        ChangedError: They are not the files that were found.
        OSError: A file cannot be opened.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a run has a file for each node
    with ExitStack() as stack:
        files = [stack.enter_context(open_input(path)) for _, path in one.files]
        if stamp_of_open(files) != one.stamp:
            raise ChangedError("it changed before it was read")
        directory = stack.enter_context(TemporaryDirectory(dir=_directory(os.getpid())))
        place = Path(directory) / one.path.name
        for (name, _), file in zip(one.files, files, strict=True):
            link = place / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f"/proc/{os.getpid()}/fd/{file.fileno()}")
        yield place


@cache
def _directory(process: int) -> Path:
    """Return a process's directory; one for each input would cost as much as reading the input."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_directory("inputs"))
