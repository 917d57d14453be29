# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts that may be long, as lines: small ones asked together, others streamed one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stripewise.monitor._host import Host
from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lctl import Parameters

_LINE_BYTES = 4096
_GROUP_BYTES = 2 << 20
"""Texts that are asked together are at most so large."""


class LongTexts:
    """Reads parameters by lines, and remembers how long each was."""

    def __init__(self, timeout_seconds: float) -> None:
        """Allow so much time for a text that is asked by itself."""
        self._timeout_seconds = timeout_seconds
        self._sizes: dict[str, int] = {}

    def read(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[tuple[str, Iterable[str] | Problem]]:
        """Return the lines of each text, to be read before the next, or why there are none.

        Lines that are streamed raise HostError where they cannot be read.

        Raises:
            HostError: `lctl` takes too long.
        """
        small = [name for name in names if self._sizes.get(name, _GROUP_BYTES) < _GROUP_BYTES]
        for group in _groups(small, self._sizes):
            yield from self._together(host, parameters, group)
        for name in sorted(set(names) - set(small)):
            pieces = parameters.pieces(host, name, self._timeout_seconds)
            yield name, self._counted(name, lines_of(pieces))

    def _together(
        self, host: Host, parameters: Parameters, group: Sequence[str]
    ) -> Iterator[tuple[str, Iterable[str] | Problem]]:
        values, problems = parameters.read(host, group)
        why = problems[0] if problems else Problem("it is gone")
        for name in group:
            text = values.pop(name, None)
            if text is None:
                yield name, why
            else:
                yield name, self._counted(name, lines_of([text.encode()]))

    def _counted(self, name: str, lines: Iterable[str]) -> Iterator[str]:
        size = 0
        self._sizes.pop(name, None)
        for line in lines:
            size += len(line)
            yield line
        self._sizes[name] = size


def lines_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Split pieces of a text into lines with their ends; an endless line is cut."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield f"{line.decode('utf-8', 'replace')}\n"
        if len(rest) > _LINE_BYTES:
            yield rest[:_LINE_BYTES].decode("utf-8", "replace")
            rest = b""
    if rest:
        yield rest.decode("utf-8", "replace")


def _groups(names: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Share names out so that the texts of each group are small together."""
    group: list[str] = []
    total = 0
    for name in names:
        if group and total + sizes[name] > _GROUP_BYTES:
            yield group
            group, total = [], 0
        group.append(name)
        total += sizes[name]
    if group:
        yield group
