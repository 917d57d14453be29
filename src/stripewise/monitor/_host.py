# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What collectors read: files and commands of a host, with limits of size and time.

All reading is here; parsers take text.  Tests give a `Host` of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

TEXT_BYTES = 16 << 20
"""Largest text that is read at once; larger ones come in pieces."""


class HostError(Exception):
    """Something could not be read.

    Attributes:
        reason: "missing", "denied", "slow", "malformed" or "error", as in `Round.reason`.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Host(ABC):
    """One host as collectors see it."""

    @abstractmethod
    def text(self, path: str) -> str:
        """Return a file, at most `TEXT_BYTES`; bytes that are no UTF-8 become U+FFFD.

        Raises:
            HostError: It cannot be read, or is too large.
        """

    @abstractmethod
    def names(self, pattern: str) -> list[str]:
        """Return the paths that a glob pattern matches, sorted; [] if there are none."""

    @abstractmethod
    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """Run a command without a shell and return its output in pieces.

        Args:
            words: The command and its arguments.
            timeout_seconds: After which it is killed.
            given: What it reads from its standard input, which ends there; a few KiB at most.

        Raises:
            HostError: There is no such command, or it took too long and was killed; if it failed,
                after all that it printed was returned.
        """

    def output(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> str:
        """Return the whole output of a command, at most `TEXT_BYTES`.

        Raises:
            HostError: As for `pieces`, or it is too large.
        """
        found = bytearray()
        for piece in self.pieces(words, timeout_seconds, given):
            found += piece
            if len(found) > TEXT_BYTES:
                raise HostError("malformed", f"{words[0]}: more than {TEXT_BYTES >> 20} MiB")
        return found.decode("utf-8", "replace")
