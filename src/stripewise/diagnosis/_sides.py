# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO calls of each file and the system's beneath them, as a trace has them (folded)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._boxes import Budget
from stripewise.diagnosis._order import Gaps, calls_served, find_gaps
from stripewise.diagnosis._sums import Calls
from stripewise.diagnosis._usage import COLLECTIVE, DATA, READS, SYSTEM, WRITES
from stripewise.model import IoLayer, Trace


@dataclass(frozen=True, eq=False)
class Side:
    """One direction of one file; rows are (n,) `TRACE_ROW`.

    Attributes:
        program: Calls of MPI-IO in this direction.
        system: System calls in this direction beneath any MPI-IO call of this direction.
        modify: System reads beneath writes that found something.
        budget: Calls that may be expanded, of all files together.
    """

    program: NDArray[Any]
    system: NDArray[Any]
    modify: NDArray[Any]
    budget: Budget

    @functools.cached_property
    def gaps(self) -> Gaps:
        """System calls that do not begin where the process's last one ended."""
        return find_gaps(self.system, self.budget)

    @functools.cached_property
    def together(self) -> NDArray[Any]:
        """Collective calls of the program."""
        rows: NDArray[Any] = self.program[np.isin(self.program["op"], COLLECTIVE)]
        return rows

    @functools.cached_property
    def aggregating(self) -> NDArray[Any]:
        """System calls beneath collective ones."""
        rows: NDArray[Any] = self.system[np.isin(self.system["parent"], self.together["name"])]
        return rows

    def active(self) -> NDArray[np.int64] | None:
        """How many processes make system calls in each collective call in which any does.

        (n,) int64; None: too many calls.  The k-th collective call of each process is the same
        call.
        """
        at_work = np.isin(self.together["process"], self.aggregating["process"])
        pairs = calls_served(self.together[at_work], self.aggregating, self.budget)
        return None if pairs is None else np.unique(pairs[1], return_counts=True)[1]


Sides = dict[bool, Side]
"""Both directions of a file; True: writing."""


def total(rows: NDArray[Any], of_bytes: int | None = None) -> Calls:
    """Add up (n,) `TRACE_ROW`, or those whose calls move `of_bytes` each; without times."""
    if of_bytes is not None:
        rows = rows[rows["bytes"] == of_bytes]
    moved = int((rows["count"] * rows["bytes"]).sum())
    return Calls(int(rows["count"].sum()), moved, ranks=len(np.unique(rows["process"])))


def sides(trace: Trace | None) -> dict[int, Sides]:
    """Both directions of each file that was used through MPI-IO, by its index."""
    if trace is None:
        return {}
    rows = trace.rows
    rows = rows[np.isin(rows["layer"], (IoLayer.MPIIO, *SYSTEM)) & np.isin(rows["op"], DATA)]
    used = np.unique(rows["file"][rows["layer"] == IoLayer.MPIIO])
    rows = rows[np.isin(rows["file"], used[used >= 0])]
    if not len(rows):
        return {}
    order = np.argsort(rows["file"], kind="stable")
    files, starts = np.unique(rows["file"][order], return_index=True)
    budget = Budget()
    return {
        file: {writing: _side(rows[mine], writing, budget) for writing in (True, False)}
        for file, mine in zip(files.tolist(), np.split(order, starts[1:]), strict=True)
    }


def _side(rows: NDArray[Any], writing: bool, budget: Budget) -> Side:
    """Pick one direction; a function of MPI-IO moves data in one direction only."""
    ops = np.isin(rows["op"], WRITES if writing else READS)
    program = rows[ops & (rows["layer"] == IoLayer.MPIIO)]
    names = np.unique(program["name"])
    beneath = np.isin(rows["parent"], names[names >= 0]) & np.isin(rows["layer"], SYSTEM)
    modify = beneath & ~ops & (rows["bytes"] > 0) & writing
    return Side(program, rows[beneath & ops], rows[modify], budget)
