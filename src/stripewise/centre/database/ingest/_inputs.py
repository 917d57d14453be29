# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the feeds, finds inputs in directory trees, and holds their files open for reading.

Links are not followed: a tree that users write to must not lead out of itself.
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
            raise OSError(f"{path} is not a regular file")
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


# The feeds, and which of them an input is of.

FEEDS: tuple[Feed, ...] = (
    ReportFeed(), SamplesFeed(), SchedulerFeed(), StudyFeed(), CampaignFeed(), EvidenceFeed(),
)  # fmt: skip
"""In the order in which they are asked: those that look at little first."""


def feed_of(path: Path, head: bytes) -> Feed | None:
    """Return the feed of an input; None: it is of no kind that is taken in."""
    return next((feed for feed in FEEDS if feed.recognises(path, head)), None)


def claim_of(directory: Path, names: Collection[str]) -> Claim | None:
    """Return the files of a directory that together are one input."""
    for feed in FEEDS:
        if (claim := feed.claim(directory, names)) is not None:
            return claim
    return None


def summaries() -> list[str]:
    """Return what can be taken in, for people."""
    return [feed.summary for feed in FEEDS]


# Files of an input held open: what is read is what was found, wherever its path leads by then.
#
# Whoever takes in may read the files of all users.  A user who puts a link where a file or a
# directory was must not have somebody else's run read as their own.


class ChangedError(Exception):
    """An input is no longer what was found."""


@contextmanager
def held(one: Input) -> Iterator[Path]:
    """Open the files of an input; give a path that leads to them, and to nothing else.

    Raises:
        ChangedError: They are not the files that were found.
        OSError: One cannot be opened.
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
    """Return a directory of a process: one for each input would take as long as reading it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_directory("inputs"))
