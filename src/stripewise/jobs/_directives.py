# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The burst buffer's lines in a script: #DW of DataWarp, #BB and #BB_LUA of Slurm.

Slurm's plug-ins stop at the first line that does not begin with a # (empty lines do not count).

Source: src/plugins/burst_buffer/datawarp/burst_buffer_datawarp.c of Slurm 22.05.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from stripewise.jobs._options import header_lines

_MAKERS = (("create_persistent",), ("destroy_persistent",))
_BEGINNING = re.compile(rb"#(DW|BB_LUA|BB)(?![A-Za-z0-9_])")


@dataclass(frozen=True)
class Directive:
    """A line of the burst buffer.

    Attributes:
        kind: "DW", "BB" or "BB_LUA".
        words: What follows, as in ("jobdw", "type=scratch", "capacity=200GiB").
        line: Number in the script, from 1; of the first where it is continued on others.
        start / end: Its bytes, with the newline.
    """

    kind: str
    words: tuple[str, ...]
    line: int
    start: int
    end: int

    @property
    def settings(self) -> dict[str, str]:
        """The words that are NAME=VALUE."""
        return dict(word.split("=", 1) for word in self.words if "=" in word)


def persistent_maker(directives: Iterable[Directive]) -> Directive | None:
    """Return the line that makes or removes a persistent burst buffer; None if there is none."""
    return next((one for one in directives if one.kind == "BB" and one.words[:1] in _MAKERS), None)


def is_directive_line(line: bytes) -> bool:
    """Whether a line is one of the burst buffer's."""
    return _BEGINNING.match(line) is not None


def read_directives(data: bytes) -> tuple[Directive, ...]:
    """Return the directives of a script; a backslash at the end continues one on the next."""
    found: list[Directive] = []
    rest = ""
    for number, start, end in header_lines(data):
        match = _BEGINNING.match(data, start)
        if match is None:
            rest = ""
            continue
        kind = match[1].decode()
        text = data[match.end() : end].decode("utf-8", "surrogateescape").strip()
        first = (number, start)
        if rest and found and found[-1].kind == kind:
            last = found.pop()
            first, text = (last.line, last.start), f"{rest} {text}"
        rest = text[:-1] if text.endswith("\\") else ""
        found.append(Directive(kind, _words(rest or text), *first, end))
    return tuple(found)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # a quote that is not closed
        return tuple(text.split())
