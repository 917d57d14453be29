# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a feed: one kind of input, read into records."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from stripewise.errors import TraceError
from stripewise.fleet._of_profile import Origin
from stripewise.fleet._records import Record
from stripewise.inputs import Budget, open_input

HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Reading:
    """What an input gave.

    Attributes:
        records: To be stored, all or none.
        problems: What of it could not be read, a sentence each.
    """

    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Files of a directory that together are one input.

    Attributes:
        names: Relative to the directory; empty: the input is not complete yet.
        whole: Nothing else in the directory, or below it, is an input.
    """

    names: tuple[str, ...]
    whole: bool = False


class RefusedError(TraceError):
    """An input must not be taken in as it is, whatever its content."""


class Feed(ABC):
    """One kind of input.

    Attributes:
        name: Short, as in "darshan".
        summary: What it is, for a list.
        budget: Of one file; a larger one is refused before it is read.
        needs_trust: It tells of others than its owner: only files of root, or of the user who
            takes them in, are believed.
    """

    name: str
    summary: str
    needs_trust = False
    budget: Budget

    @abstractmethod
    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether `path` is of this kind, judged by its content.

        Args:
            path: Of a file, or of a directory of which `claim` gave files.
            head: First bytes of the file; b"" of a directory.
        """

    @abstractmethod
    def read(self, path: Path, origin: Origin) -> Reading:
        """Read an input.

        Args:
            path: Of it.
            origin: Its digest, name and cluster; its kind is the feed's to say.

        Raises:
            StripewiseError: Nothing of it can be used.
        """

    def content_bytes(self, path: Path) -> int:
        """Return how many bytes of a file are its content; what follows them is not looked at.

        Raises:
            OSError: It cannot be read.
            StripewiseError: There are more than the budget of its kind allows.
        """
        with open_input(path) as file:
            size = os.fstat(file.fileno()).st_size
        self.budget.check_bytes(size, path)
        return size

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Return the files of a directory that are one input; None: there is none.

        Args:
            directory: Of the files.
            names: What is in it.
        """
        return None
