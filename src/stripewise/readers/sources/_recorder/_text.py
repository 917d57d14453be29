# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorder's text form, one file a rank: `tstart tend function level type ( arguments )`.

Source: tools/recorder2text.c of Recorder 2.3 to 2.5.  The numbers of the two times and of the
level may be missing in hand-made extracts; such lines are counted, not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from stripewise.readers.sources._base import open_text
from stripewise.readers.sources._recorder._record import RankRecords, Record

_LINE = re.compile(
    r"\s*(-?[\d.]+(?:[eE][-+]?\d+)?)\s+(-?[\d.]+(?:[eE][-+]?\d+)?)\s+([A-Za-z_]\w*)\s+(\d{1,3})"
    r"\s+(\d{1,3})\s*\((.*)\)\s*"
)
_LONGEST_LINE = 1 << 16
_FILE = re.compile(r"(\d{1,9})\.txt")


def is_line(line: str) -> bool:
    """Whether a line is a call in this form."""
    return len(line) <= _LONGEST_LINE and _LINE.fullmatch(line) is not None


def text_files(directory: Path) -> dict[int, Path]:
    """Rank to file, in the directory itself or in `_text` below it."""
    for place in (directory / "_text", directory):
        try:
            found = {
                int(match[1]): entry
                for entry in place.iterdir()
                if (match := _FILE.fullmatch(entry.name))
            }
        except OSError:
            continue
        if found:
            return dict(sorted(found.items()))
    return {}


def read_text(path: Path, rank: int) -> RankRecords:
    """Calls of one rank."""
    result = RankRecords(rank, iter(()))
    result.records = _records(path, result.notes)
    return result


def _records(path: Path, notes: list[str]) -> Iterator[Record]:
    unread, line = 0, "\n"
    with open_text(path) as file:
        while text := file.readline(_LONGEST_LINE):
            line = text
            record = parse_line(line)
            if record is not None:
                yield record
            elif line.strip():
                unread += 1
    if not line.endswith("\n"):
        notes.append(f"{path.name}: cut off in its last line")
    if unread:
        notes.append(f"{path.name}: {unread} lines are no calls and are left out")


def parse_line(line: str) -> Record | None:
    """One call; None if the line is none."""
    match = _LINE.fullmatch(line.rstrip("\n"))
    if match is None:
        return None
    try:
        start, end = float(match[1]), float(match[2])
    except ValueError:
        return None
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        return None
    return Record(start, end, match[3], int(match[4]), tuple(match[6].split()))
