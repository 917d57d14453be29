# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A host of dictionaries, for tests of collectors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from stripewise.monitor import Host, HostError

_PIECE_BYTES = 16
"""Small, so that lines come in several pieces."""


class FakeHost(Host):
    """Files and commands as a test has them; both may be changed between two rounds.

    Attributes:
        files: Path to what it holds, or to the error that reading it raises.
        commands: Words to what the command prints, or the error that it raises; a pair is what
            it prints before it fails.
        given: Words and standard input of each command that was run.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes | HostError] | None = None,
        commands: Mapping[tuple[str, ...], bytes | HostError | tuple[bytes, HostError]]
        | None = None,
    ) -> None:
        """Take copies of the dictionaries."""
        self.files = dict(files or {})
        self.commands = dict(commands or {})
        self.given: list[tuple[tuple[str, ...], bytes]] = []

    def text(self, path: str) -> str:
        """Return a file."""
        held = self.files.get(path, HostError("missing", f"{path}: no such file"))
        if isinstance(held, HostError):
            raise held
        return held if isinstance(held, str) else held.decode("utf-8", "replace")

    def names(self, pattern: str) -> list[str]:
        """Return the files and their directories that a pattern matches; `*` stays in its part."""
        parts = pattern.split("/")
        return sorted(path for path in self._paths() if _is_match(path.split("/"), parts))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """Return what a command prints."""
        self.given.append((tuple(words), given))
        missing = HostError("missing", f"{words[0]}: no such command")
        held = self.commands.get(tuple(words), missing)
        printed, error = held if isinstance(held, tuple) else (held, None)
        if isinstance(printed, HostError):
            raise printed
        for start in range(0, len(printed), _PIECE_BYTES):
            yield printed[start : start + _PIECE_BYTES]
        if error is not None:
            raise error

    def _paths(self) -> set[str]:
        found = set(self.files)
        for path in self.files:
            while (path := os.path.dirname(path)) not in ("", "/"):
                found.add(path)
        return found


def _is_match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))
