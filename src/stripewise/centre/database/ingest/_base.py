# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a feed (one kind of input) and the digests that identify inputs."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.centre.database._records import Record
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.core.errors import TraceError
from stripewise.core.inputs import InputBudget, open_input

HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class InputReading:
    """Result of reading an input.

    Attributes:
        records: Records to store, all or none.
        problems: What could not be read, one sentence each.
    """

    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Files of a directory that together are one input.

    Attributes:
        names: Names relative to the directory; empty if the input is not complete yet.
        whole: Whether nothing else in the directory, or below it, is an input.
    """

    names: tuple[str, ...]
    whole: bool = False


class RefusedError(TraceError):
    """An input must not be stored as it is, whatever its content."""


class Feed(ABC):
    """One kind of input.

    Attributes:
        name: Short name, such as "darshan".
        summary: Description for a list.
        budget: Size limit of one file; a larger one is refused before it is read.
        needs_trust: Whether the input reports on other users than its owner: then only files of
            root, or of the user who runs the ingest, are accepted.
    """

    name: str
    summary: str
    needs_trust = False
    budget: InputBudget

    @abstractmethod
    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether an input is of this kind, judged by its content.

        Args:
            path: Path of a file, or of a directory of which `claim` returned files.
            head: First bytes of the file; b"" for a directory.
        """

    @abstractmethod
    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read an input.

        Args:
            path: Where the input is.
            origin: Digest, name and cluster of the input; the feed sets the kind.

        Raises:
            StripewiseError: Nothing of the input can be used.
        """

    def content_bytes(self, path: Path) -> int:
        """Return how many bytes of a file are its content; what follows them is ignored.

        Raises:
            OSError: The file cannot be read.
            StripewiseError: The content is larger than the budget of its kind.
        """
        with open_input(path) as file:
            size = os.fstat(file.fileno()).st_size
        self.budget.check_bytes(size, path)
        return size

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Return the files of a directory that are one input, or None if there is none.

        Args:
            directory: The directory.
            names: Names of its entries.
        """
        return None


# Digests of contents, and of the facts that identify a thing across several inputs.

_PIECE = 1 << 20


def identity(*parts: Any) -> str:
    """Return a digest of the facts that identify a thing, whichever file reports it."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def content_digest(files: Iterable[tuple[str, Path]], content_bytes: Callable[[Path], int]) -> str:
    """Return the SHA-256 of a file, or of the names and contents of several.

    Args:
        files: Name within the input and path of each file.
        content_bytes: Function that returns how many bytes of a file are its content.

    Raises:
        OSError: A file cannot be read.
        StripewiseError: A file is larger than its budget.
    """
    each = [(name, _file_digest(path, content_bytes(path))) for name, path in files]
    if len(each) == 1:
        return each[0][1]
    lines = (f"{digest} {name}\n".encode("utf-8", "surrogateescape") for name, digest in each)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _file_digest(path: Path, left: int) -> str:
    found = hashlib.sha256()
    with open_input(path) as file:
        while piece := file.read(min(left, _PIECE)):
            found.update(piece)
            left -= len(piece)
    return found.hexdigest()
