# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a source: something that tells what a run did, read into `Evidence`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from stripewise.errors import TraceError
from stripewise.inputs import open_input
from stripewise.model import Evidence


class Source(ABC):
    """One kind of trace, log or profile.

    Attributes:
        name: Short, as in "darshan".
        summary: What it is, for the list of what can be read: "a Darshan log".
    """

    name: str
    summary: str

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Whether `path` holds this kind, judged by its content, never by its name alone.

        Reads little, never raises; a path that cannot be read is not recognised.
        """

    @abstractmethod
    def read(self, path: Path) -> Evidence:
        """Read what one path tells of one run.

        What is missing or damaged is left out and told in the notes.

        Raises:
            TraceError: Nothing of it can be read.
        """

    def read_several(self, paths: Sequence[Path]) -> Evidence:
        """Read paths that together tell of one run; most kinds have one path a run.

        Raises:
            TraceError: Nothing of it can be read, or they do not belong together.
        """
        if len(paths) != 1:
            raise TraceError(f"{len(paths)} paths given; {self.summary} is one path: name one run")
        return self.read(paths[0])


def begins_with(path: Path, magic: bytes) -> bool:
    """Whether `path` is a regular file that begins with `magic`; False if it cannot be read."""
    return head_of(path, len(magic)) == magic


def head_of(path: Path, size: int) -> bytes:
    """First bytes of a regular file; empty if there is none or it cannot be read."""
    try:
        with open_input(path) as file:
            return file.read(size)
    except OSError:
        return b""


def open_text(path: Path) -> TextIO:
    """Open a regular file of a trace as text; bytes that are not UTF-8 are kept as surrogates.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    return TextIOWrapper(
        open_input(path), encoding="utf-8", errors="surrogateescape", newline="\n"
    )
