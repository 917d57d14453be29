# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The table "Summary of all tests" of IOR, in its three generations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stripewise.calibration.readers._ior_setup import Summary
from stripewise.calibration.readers._ior_test import cell_int
from stripewise.calibration.readers._lines import number, whole

_OLD = ("Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)",
        "Mean(OPs)", "StdDev", "Mean(s)")  # fmt: skip
_OLD_MORE = ("#Tasks", "tPN", "reps", "fPP", "reord", "reordoff", "reordrand", "seed", "segcnt",
             "blksiz", "xsize", "aggsize", "RefNum", "API")  # fmt: skip
"""Columns of IOR 2.10 in the order of its rows; its header names them otherwise."""


def columns_of(line: str) -> tuple[str, ...]:
    """Return the columns if a line is the header of the table; (): it is none."""
    if not line.startswith("Operation "):
        return ()
    if "Max (MiB)" in line:
        return _OLD
    words = tuple(line.split())
    return words if "Max(MiB)" in words and "Mean(MiB)" in words else ()


def summary_of(line: str, columns: Sequence[str]) -> Summary | None:
    """Return a row of the table; None: the line is none."""
    words = line.split()
    if not words or words[0] not in ("write", "read"):
        return None
    if words[-1] == "EXCEL":
        words.pop()
        columns = (*_OLD, *_OLD_MORE) if len(words) > len(_OLD) else _OLD
    if len(words) != len(columns):
        return None
    cells: dict[str, str] = {}
    for column, word in zip(columns, words, strict=True):
        cells.setdefault(column, word)
    return _row(cells)


def _row(cells: Mapping[str, str]) -> Summary | None:
    rates = [number(cells.get(key, "")) for key in ("Min(MiB)", "Mean(MiB)", "Max(MiB)")]
    low, mean, high = rates
    if low is None or mean is None or high is None:
        return None
    own = cells.get("fPP")
    test = whole(cells.get("Test#", ""), 1_000_000)
    moved = cell_int(cells, "aggsize")
    return Summary(
        cells["Operation"], low, mean, high, cell_int(cells, "reps"),
        -1 if test is None else test, cell_int(cells, "#Tasks"), cell_int(cells, "tPN"),
        cell_int(cells, "blksiz"), cell_int(cells, "xsize"), cell_int(cells, "segcnt"),
        None if own not in ("0", "1") else own == "1",
        "1" in (cells.get("reord"), cells.get("reordrand")), cells.get("API", ""), moved,
    )  # fmt: skip


def json_summary(row: Mapping[str, str]) -> Summary | None:
    """Return a row of the summary in JSON; None: it is damaged."""
    names = {"Min(MiB)": "bwMinMIB", "Mean(MiB)": "bwMeanMIB", "Max(MiB)": "bwMaxMIB",
             "reps": "repetitions", "Test#": "TestID", "#Tasks": "numTasks",
             "tPN": "tasksPerNode", "blksiz": "blockSize", "xsize": "transferSize",
             "segcnt": "segmentCount", "fPP": "filePerProc", "reord": "reorderTasks",
             "reordrand": "reorderTasksRandom", "API": "API",
             "Operation": "operation"}  # fmt: skip
    cells = {mine: row[theirs] for mine, theirs in names.items() if theirs in row}
    return _row(cells) if cells.get("Operation") in ("write", "read") else None
