# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A host for tests of collectors: files, and an `lctl` that prints as Lustre's does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from stripewise.centre.monitor._host import Host, HostError

Parameters = dict[str, str | HostError]
"""Texts of parameters by name, with their last newline, as in /proc and /sys."""


class FakeHost(Host):
    """Answers from dictionaries, which a test may change from round to round.

    Attributes:
        files: Texts by path; an error is raised instead.
        parameters: What `lctl` finds, in its order.  An error stands for a parameter that exists
            and cannot be read; one that is slow ends `lctl`.
        commands: Outputs of other commands by their words; an error is raised after the output
            that precedes it: (b"text", HostError(...)).
        failure: Raised by each `lctl`, before it prints.
        is_older: `lctl` prints as before 2.16: line breaks as the texts have them.
        cut_bytes: `lctl` dies after so much output; None: it does not.
        piece_bytes: Outputs come in pieces of this size.
        asked: Words of all commands so far.
    """

    def __init__(
        self,
        parameters: Mapping[str, str | HostError] | None = None,
        files: Mapping[str, str | HostError] | None = None,
        commands: Mapping[tuple[str, ...], bytes | HostError] | None = None,
        lctl: str = "lctl",
    ) -> None:
        self.parameters: Parameters = dict(parameters or {})
        self.files = dict(files or {})
        self.commands = dict(commands or {})
        self.lctl = lctl
        self.failure: HostError | None = None
        self.is_older = False
        self.cut_bytes: int | None = None
        self.piece_bytes = 1 << 20
        self.asked: list[tuple[str, ...]] = []
        self.timeouts: list[float] = []

    def text(self, path: str) -> str:
        found = self.files.get(path, HostError("missing", f"{path}: no such file"))
        if isinstance(found, HostError):
            raise found
        return found

    def names(self, pattern: str) -> list[str]:
        return sorted(path for path in self.files if fnmatchcase(path, pattern))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        self.asked.append(tuple(words))
        self.timeouts.append(timeout_seconds)
        if words[0] == self.lctl and self.parameters:
            yield from self._lctl(words[1], words[2:])
            return
        found = self.commands.get(
            tuple(words), HostError("missing", f"{words[0]}: there is no such command")
        )
        if isinstance(found, HostError):
            raise found
        yield from self._cut(found)

    def _lctl(self, command: str, rest: Sequence[str]) -> Iterator[bytes]:
        if self.failure is not None:
            raise self.failure
        options = [word for word in rest if word.startswith("-")]
        patterns = [word for word in rest if not word.startswith("-")]
        only_names = command == "list_param" or "-N" in options
        output, errors = self._answer(patterns, only_names, named="-n" not in options)
        if self.cut_bytes is not None and len(output) > self.cut_bytes:
            yield from self._cut(output[: self.cut_bytes])
            raise HostError("error", "lctl: killed by signal 11")
        yield from self._cut(output)
        if errors:
            raise HostError("error", f"lctl: {errors[0]}")

    def _answer(
        self, patterns: Sequence[str], only_names: bool, named: bool
    ) -> tuple[bytes, list[str]]:
        parts: list[str] = []
        errors: list[str] = []
        for pattern in patterns:
            found = (
                [pattern]
                if pattern in self.parameters
                else [name for name in self.parameters if _fits(name, pattern)]
            )
            if not found:
                path = "/".join(_components(pattern))
                errors.append(f"error: get_param: param_path '{path}': No such file or directory")
            for name in found:
                text = self.parameters[name]
                if only_names:
                    parts.append(f"{name}\n")
                elif isinstance(text, HostError) and text.reason == "slow":
                    raise text
                elif isinstance(text, HostError):
                    errors.append(f"error: read_param: '{name}': {text}")
                elif self.is_older:
                    parts.append(printed_before(name, text, named))
                else:
                    parts.append(printed(name, text, named))
        return "".join(parts).encode("utf-8", "surrogateescape"), errors

    def _cut(self, output: bytes) -> Iterator[bytes]:
        for start in range(0, len(output), self.piece_bytes):
            yield output[start : start + self.piece_bytes]


def printed(name: str, text: str, named: bool = True) -> str:
    """Return a parameter as `lctl get_param` prints it."""
    value = text.removesuffix("\n")
    if not named:
        return f"{value}\n" if value else ""
    return f"{name}=\n{value}\n" if "\n" in value else f"{name}={value}\n"


def printed_before(name: str, text: str, named: bool = True) -> str:
    """Return it as before 2.16; a long line may stand below the name."""
    if not named or not text:
        return text
    is_long = "\n" in text.removesuffix("\n") or len(name) + len(text) >= 80
    return f"{name}=\n{text}" if is_long else f"{name}={text}"


def tree(directory: Path) -> Parameters:
    """Return the parameters of a directory tree: obdfilter/fs-OST0000/stats, ..."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        ".".join(path.relative_to(directory).parts): path.read_text(
            encoding="utf-8", errors="surrogateescape"
        )
        for path in paths
    }


def denied(name: str = "") -> HostError:
    """Return what stands for a parameter that only root may read."""
    return HostError("denied", "Permission denied" + (f": {name}" if name else ""))


def _fits(name: str, pattern: str) -> bool:
    parts, wanted = _components(name), _components(pattern)
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _components(name: str) -> list[str]:
    """Split a name at its points, but not within the NID of a client, as `lctl` does."""
    head, exports, rest = name.partition(".exports.")
    if not exports or "@" not in rest:
        return name.split(".")
    address, _, behind = rest.partition("@")
    network, _, tail = behind.partition(".")
    return [*head.split("."), "exports", f"{address}@{network}", *tail.split(".")]
