# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the counters of a file do not hold, as the marks on them say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import FileFlag, Gap, Part

READS_MAPPED = "the program reads files through memory mappings: that I/O is not counted"
WRITES_MAPPED = "the program writes files through shared memory mappings: that I/O is not counted"
UNFETCHED = (
    "the program does not ask for the results of asynchronous requests (aio_return): what these "
    "moved is not counted"
)
_OPENED = (
    (FileFlag.OPENED_READ, Part.READ_BYTES),
    (FileFlag.OPENED_WRITE, Part.WRITE_BYTES),
)


def gaps_of_files(rows: NDArray[Any]) -> Iterator[Gap]:
    """Say what is not known of files.

    Args:
        rows: (n,) `COUNTER_ROW`.
    """
    for flag, part, why in (
        (FileFlag.MAPPED, Part.READ_BYTES, READS_MAPPED),
        (FileFlag.MAPPED_SHARED, Part.BYTES, WRITES_MAPPED),
    ):
        yield from _gap(rows, flag, part, why)
    yield from gaps_of_opened(rows, FileFlag.UNFETCHED, UNFETCHED)


def gaps_of_opened(rows: NDArray[Any], flag: FileFlag, why: str) -> Iterator[Gap]:
    """Say the same of what marked files were opened for: to read, to write, or both."""
    marked = rows["file"][(rows["flags"] & flag) != 0]
    if len(marked):
        of_marked = rows[np.isin(rows["file"], marked)]
        for opened, part in _OPENED:
            yield from _gap(of_marked, opened, part, why)


def _gap(rows: NDArray[Any], flag: FileFlag, part: Part, why: str) -> Iterator[Gap]:
    files = frozenset(rows["file"][(rows["flags"] & flag) != 0].tolist())
    if files:
        yield Gap(part | Part.SECONDS, why, files)
