# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Single calls of MPI-IO and of the system beneath it, by file."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._usage import DATA, READS, SYSTEM, WRITES
from stripewise.model import IoLayer, Trace
from stripewise.readers import expand

MOST_CALLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Side:
    """One direction of one file.

    Attributes:
        program: Calls of MPI-IO in this direction, as `readers.expand` gives them.
        system: System calls in this direction beneath any MPI-IO call of this direction.
        modify: System reads beneath writes that found something.
        serves: (n_system,) int64: place in `program` of the call that each serves.
        complete: False where only the first calls were looked at.
    """

    program: NDArray[Any]
    system: NDArray[Any]
    modify: NDArray[Any]
    serves: NDArray[np.int64]
    complete: bool

    @functools.cached_property
    def gaps(self) -> NDArray[np.int64]:
        """Distances between the end of a process's system call and the start of its next."""
        calls = self.system
        if len(calls) < 2:
            return np.zeros(0, np.int64)
        same = calls["process"][1:] == calls["process"][:-1]
        jump = calls["offset"][1:] - (calls["offset"][:-1] + calls["bytes"][:-1])
        distances: NDArray[np.int64] = np.abs(jump[same & (jump != 0)])
        return distances


class FileCalls:
    """MPI-IO calls of one file and the system's beneath them."""

    def __init__(self, calls: NDArray[Any], complete: bool) -> None:
        """Take calls of one file, in order, with `parent_index` among them."""
        self.calls = calls
        self.complete = complete
        self.is_program = (calls["layer"] == IoLayer.MPIIO) & np.isin(calls["op"], DATA)
        beneath = np.isin(calls["layer"], SYSTEM) & np.isin(calls["op"], DATA)
        self.beneath = beneath & (calls["parent_index"] >= 0)

    def side(self, writing: bool) -> Side:
        """The calls of one direction."""
        ops = WRITES if writing else READS
        asked = self.is_program & np.isin(self.calls["op"], ops)
        parent_op = self.calls["op"][np.maximum(self.calls["parent_index"], 0)]
        under = self.beneath & np.isin(parent_op, ops)
        system = under & np.isin(self.calls["op"], ops)
        modify = under & np.isin(self.calls["op"], READS) & (self.calls["bytes"] > 0) & writing
        place = np.cumsum(asked) - 1
        return Side(
            program=self.calls[asked],
            system=self.calls[system],
            modify=self.calls[modify],
            serves=place[self.calls["parent_index"][system]],
            complete=self.complete,
        )


def single_calls(trace: Trace | None) -> dict[int, FileCalls]:
    """Calls by file (index of the path), of files that were used through MPI-IO."""
    if trace is None or not len(trace.rows):
        return {}
    rows = trace.rows
    files = np.unique(rows["file"][rows["layer"] == IoLayer.MPIIO])
    chosen = (
        np.isin(rows["file"], files[files >= 0])
        & np.isin(rows["layer"], (IoLayer.MPIIO, *SYSTEM))
        & np.isin(rows["op"], DATA)
    )
    found: dict[int, FileCalls] = {}
    wanted = rows[chosen]
    left = MOST_CALLS
    for file in files[files >= 0].tolist():
        mine = wanted[wanted["file"] == file]
        kept = mine[np.cumsum(mine["count"]) <= left]
        left -= int(kept["count"].sum())
        if len(kept):
            found[file] = FileCalls(expand(trace, kept), len(kept) == len(mine))
    return found
