# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""POSIX and stdio calls -> byte ranges per file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import EventFlag, Pieces, Trace
from stripewise.readers._access_common import (
    collective_of,
    groups,
    number_in_rank,
    ranks_of,
    writing_of,
)
from stripewise.readers._rows import take_rows


def offset_pieces(trace: Trace, rows: NDArray[Any], most: int) -> tuple[Pieces, ...]:
    """Group calls by file and direction; folded runs stay folded.

    Args:
        trace: Of one run.
        rows: Its data calls whose offsets are bytes of the file.
        most: Rows of pieces that are made.
    """
    found = []
    for (_, writing), places in groups(rows["file"], writing_of(rows).astype(np.int64)):
        mine = rows if len(places) == len(rows) <= most else take_rows(rows, places[:most])
        notes = []
        if len(mine) < len(places):
            notes.append(f"{len(places) - len(mine)} runs of calls beyond the bound are left out")
        most -= len(mine)
        found.append(contiguous(trace, mine, bool(writing), "offsets", notes))
    return tuple(found)


def contiguous(
    trace: Trace, rows: NDArray[Any], writing: bool, source: str, notes: list[str]
) -> Pieces:
    """Runs of calls, each of one range of bytes at `offset`, as pieces of their file."""
    unknown = (rows["flags"] & EventFlag.NO_OFFSET) != 0
    path = trace.paths[int(rows["file"][0])]
    if unknown.any():
        notes = [*notes, f"{int(rows['count'][unknown].sum())} calls have no known offset"]
        rows = rows[~unknown]
    rank, n_ranks = ranks_of(trace, rows["rank"].astype(np.int64))
    order = number_in_rank(rank, rows["process"], rows["thread"], rows["sequence"])
    return Pieces(
        file=path,
        writing=writing,
        rank=rank,
        offset=rows["offset"].copy(),
        size=rows["bytes"].copy(),
        repeat=rows["count"].copy(),
        inner=rows["inner"].copy(),
        stride=rows["stride"].copy(),
        order=order,
        collective=collective_of(rows),
        call=np.arange(len(rows)),
        n_ranks=n_ranks,
        source=source,
        notes=tuple(notes),
    )
