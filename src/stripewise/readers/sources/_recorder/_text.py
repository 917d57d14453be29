# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorder's text form, one file a rank: `tstart tend function level type ( arguments )`.

Source: tools/recorder2text.c of Recorder 2.3 to 2.5.  The numbers of the two times and of the
level may be missing in hand-made extracts; such lines are counted, not read.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from stripewise.readers.sources._base import LONGEST_LINE, files_by_rank
from stripewise.readers.sources._recorder._functions import Record

_LINE = re.compile(
    r"\s*(-?[\d.]+(?:[eE][-+]?\d+)?)\s+(-?[\d.]+(?:[eE][-+]?\d+)?)\s+([A-Za-z_]\w*)\s+(\d{1,3})"
    r"\s+(\d{1,3})\s*\((.*)\)\s*"
)
_FILE = re.compile(r"(\d{1,9})\.txt")


def is_line(line: str) -> bool:
    """Whether a line is a call in this form."""
    return len(line) <= LONGEST_LINE and _LINE.fullmatch(line) is not None


def text_files(directory: Path) -> dict[int, Path]:
    """Rank to file, in `_text` below the directory or in itself."""
    return files_by_rank(directory / "_text", _FILE) or files_by_rank(directory, _FILE)


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
