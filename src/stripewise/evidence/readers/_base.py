# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a source of evidence on what a run did."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TypeVar

from stripewise.core.errors import StripewiseError, TraceError
from stripewise.core.inputs import InputBudget, open_input
from stripewise.evidence.trace import Evidence

LONGEST_LINE = 1 << 16
_HEAD_BYTES = 4096
_TEXTS_TRIED = 4
T = TypeVar("T")


class Source(ABC):
    """One kind of trace, log or profile.

    Attributes:
        name: Short name, as "darshan".
        summary: Description for the list of readable formats: "a Darshan log".
        kind: Name in the statistics database; empty if it is the same as `name`.
        budget: Budget for reading one file.
    """

    name: str
    summary: str
    kind: str = ""
    budget: InputBudget

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Return whether `path` is of this kind, judged by its content, never only by its name.

        It reads little and never raises; a path that cannot be read is not recognised.
        """

    @abstractmethod
    def read_one(self, path: Path) -> Evidence:
        """Read one path of one run; what is missing or damaged is mentioned in the notes.

        Raises:
            TraceError: Nothing in it can be read.
            OSError: It cannot be opened.
        """

    def read(self, path: Path) -> Evidence:
        """Read one path of one run.

        Raises:
            TraceError: Nothing in it can be read.
        """
        try:
            return self.read_one(path)
        except StripewiseError:
            raise
        except OSError as error:
            raise TraceError(f"{path}: cannot be read ({error.strerror})") from error

    def read_several(self, paths: Sequence[Path]) -> Evidence:
        """Read several paths of one run; most kinds have one path per run.

        Raises:
            TraceError: Nothing in them can be read, or they do not belong together.
        """
        if len(paths) != 1:
            raise TraceError(f"{len(paths)} paths given; {self.summary} is one path: name one run")
        return self.read(paths[0])


class RankLogs(Source):
    """A directory with a text of each rank, or the text of one of them.

    Attributes:
        file_name: Pattern for the name of a rank's text; the first group is the rank.
    """

    file_name: re.Pattern[str]

    @abstractmethod
    def is_call(self, line: str) -> bool:
        """Return whether a line of a text is a call in the form of this kind."""

    def texts(self, path: Path) -> dict[int, Path]:
        """Return texts by rank; a single text whose name contains no rank is rank 0's."""
        if path.is_dir():
            return files_by_rank(path, self.file_name)
        match = self.file_name.fullmatch(path.name)
        return {int(match[1]) if match else 0: path}

    def recognises(self, path: Path) -> bool:
        """Look for a call among the first lines of some texts."""
        files = list(self.texts(path).values())[:_TEXTS_TRIED]
        return any(begins_with_line(file, self.is_call) for file in files)


def begins_with(path: Path, magic: bytes) -> bool:
    """Return whether `path` is a regular file that begins with `magic`; False if unreadable."""
    return head_of(path, len(magic)) == magic


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a regular file; empty if there is none that can be read."""
    try:
        with open_input(path) as file:
            return file.read(size)
    except OSError:
        return b""


def files_by_rank(directory: Path, name: re.Pattern[str]) -> dict[int, Path]:
    """Return files by rank, in order, whose names match; the rank is the first group."""
    try:
        entries = list(directory.iterdir())
    except OSError:
        return {}
    found = {int(match[1]): entry for entry in entries if (match := name.fullmatch(entry.name))}
    return dict(sorted(found.items()))


def begins_with_line(path: Path, is_line: Callable[[str], bool]) -> bool:
    """Return whether one of the first lines of a file satisfies `is_line`."""
    lines = head_of(path, _HEAD_BYTES).decode("utf-8", "replace").splitlines()[:40]
    return any(is_line(line) for line in lines)


def parsed_lines(path: Path, parse: Callable[[str], T | None], notes: list[str]) -> Iterator[T]:
    """Yield the parsed lines of a regular file; non-UTF-8 bytes become surrogates.

    Args:
        path: Path of the file.
        parse: Parser of a line; it returns None for a line without content.
        notes: List that gets messages on what cannot be read, after the last line.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    unread, line = 0, "\n"
    file = open_input(path)
    with TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        while text := lines.readline(LONGEST_LINE):
            line = text
            found = parse(line)
            if found is not None:
                yield found
            elif line.strip():
                unread += 1
    if not line.endswith("\n"):
        notes.append(f"{path.name}: cut off in its last line")
    if unread:
        notes.append(f"{path.name}: {unread} lines are no calls and are left out")
