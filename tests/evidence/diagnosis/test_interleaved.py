# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Calls that fill each other's holes are told, and the call that would move all is named."""

import itertools
import math

import numpy as np
import pytest
from runs import KIB, MIB, RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.diagnosis._interleaved import Comb, comb_of, comb_of_view, interleaved
from stripewise.evidence.figures import usage
from stripewise.evidence.trace import (
    PIECE_ROW,
    IoLayer,
    Op,
    ShapeKind,
    TraceObject,
    TraceShape,
    TraceView,
)

FILE = "/d/chk.h5"


def shape(extents, block, count=None, stride=None):
    ones = (1,) * len(extents)
    return TraceShape(
        0, ShapeKind.REGULAR, extents, stride or ones, count or ones, block, elements=0
    )


def offset(extents, start):
    return int(np.ravel_multi_index(start, extents))


class Case:
    """Calls of two ranks that each select the same shape at several places."""

    def __init__(self, extents, block, starts, *, count=None, stride=None, n_ranks=2, item=8):
        self.shape = shape(extents, block, count, stride)
        self.extents, self.starts, self.n_ranks, self.item = extents, starts, n_ranks, item
        counted = count or (1,) * len(extents)
        self.size = math.prod(block) * math.prod(counted) * item

    def evidence(self, *, system_bytes=None, seconds=20.0, writing=True):
        run = RunBuilder(n_ranks=self.n_ranks, elapsed=60.0)
        op, n = (Op.WRITE if writing else Op.READ), len(self.starts)
        comb = comb_of(self.shape)
        piece = system_bytes or (comb.run * self.item if comb else self.size)
        total = n * self.size
        run.everyone(FILE, IoLayer.HDF5, {op: (n, total, seconds)})
        run.everyone(FILE, IoLayer.MPIIO, {op: (n, total, seconds / 2)}, own=False)
        below = {op: (total // piece, total, seconds / 4)}
        run.everyone(FILE, IoLayer.POSIX, below, own=False)
        run.objects = (TraceObject(0, IoLayer.HDF5, "/q", self.extents, element_bytes=self.item),)
        run.shapes = (self.shape,)
        name = "H5Dwrite" if writing else "H5Dread"
        for rank, (k, start) in itertools.product(range(self.n_ranks), enumerate(self.starts)):
            place = offset(self.extents, start)
            row = run.call(FILE, IoLayer.HDF5, op, name, rank, k, place, self.size)
            row["object"] = row["shape"] = 0
        return run.evidence()


GRID = (64, 64, 64, 5)


def one_variable(order=range(5)):
    return Case(GRID, (32, 64, 64, 1), [(0, 0, 0, v) for v in order])


CASES = {
    "variables last": (one_variable(), 8, 40, 5, 32 * 64 * 64 * 40),
    "variables backwards": (one_variable(range(4, -1, -1)), 8, 40, 5, 32 * 64 * 64 * 40),
    "three of five": (one_variable((1, 2, 3)), 8, 40, 3, 24),
    "pairs of variables": (
        Case((64, 64, 64, 6), (32, 64, 64, 2), [(0, 0, 0, v) for v in (0, 2, 4)]),
        *(16, 48, 3, 32 * 64 * 64 * 48),
    ),
    "variables in the middle (Fortran order)": (
        Case((64, 4, 512), (64, 1, 512), [(0, v, 0) for v in range(4)]),
        *(4096, 4 * 4096, 4, 64 * 4 * 4096),
    ),
    "strided by the hyperslab": (
        Case((4096,), (1,), [(0,), (1,)], count=(2048,), stride=(2,)),
        *(8, 16, 2, 4096 * 8),
    ),
    "columns": (
        Case((400, 180, 360), (400, 1, 8), [(0, 7, i) for i in range(0, 360, 8)], item=4),
        *(32, 180 * 360 * 4, 45, 1440),
    ),
}


@pytest.mark.parametrize("name", [name for name in CASES if name != "columns"])
def test_calls_that_fill_holes_are_one_finding(name):
    case, piece, period, fillers, merged = CASES[name]
    diagnosis = diagnose(case.evidence())
    found = diagnosis.findings[0]
    assert found.code == "interleaved-calls"
    evidence = found.evidence
    assert (evidence["piece_bytes"], evidence["period_bytes"]) == (piece, period)
    assert (evidence["interleaved_calls"], evidence["merged_bytes"]) == (fillers, merged)
    assert f"Write with one call what these {fillers} calls move" in found.remedy
    assert "H5FD_MPIO_COLLECTIVE" in found.remedy
    assert "in memory" not in found.text
    assert found.cost_seconds <= found.stake_seconds


def test_columns_of_all_rows_are_read_as_blocks():
    starts = [(0, j, i) for j in range(180) for i in range(0, 360, 8)]
    case = Case((400, 180, 360), (400, 1, 8), starts, item=4)
    found = diagnose(case.evidence(writing=False)).findings[0]
    assert found.code == "interleaved-calls"
    assert found.evidence["interleaved_calls"] == 180 * 45
    assert "Read blocks, not columns" in found.remedy


def test_columns_of_one_row_are_read_as_rows():
    case, piece, period, fillers, merged = CASES["columns"]
    found = diagnose(case.evidence(writing=False)).findings[0]
    evidence = found.evidence
    assert (evidence["piece_bytes"], evidence["period_bytes"]) == (piece, period)
    assert (evidence["interleaved_calls"], evidence["merged_bytes"]) == (fillers, merged)
    assert "pieces of up to 1.41 KiB" in found.remedy


@pytest.mark.parametrize(
    ("case", "fields"),
    [
        (Case(GRID, (32, 64, 64, 5), [(0, 0, 0, 0)]), {}),  # one call for all
        (Case(GRID, (32, 64, 64, 1), [(0, 0, 0, 2)]), {}),  # one variable alone
        (one_variable(), {"system_bytes": MIB}),  # gathered before the system
        (Case(GRID, (1, 64, 64, 5), [(z, 0, 0, 0) for z in range(32)]), {}),  # planes
        (Case((64, 32 * KIB), (64, 16 * KIB), [(0, 0), (0, 16 * KIB)]), {}),  # large pieces
    ],
)
def test_other_calls_are_not(case, fields):
    codes = {found.code for found in diagnose(case.evidence(**fields)).findings}
    assert "interleaved-calls" not in codes


def test_holes_that_collective_calls_move_too():
    """Each of five collective calls reads, changes and writes what all five move."""
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    case = one_variable()
    total = 5 * case.size
    run.everyone(FILE, IoLayer.HDF5, {Op.WRITE_COLLECTIVE: (5, total, 20.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (50, 5 * total, 10.0)}, own=False)
    run.objects = (TraceObject(0, IoLayer.HDF5, "/q", GRID, element_bytes=8),)
    run.shapes = (case.shape,)
    for rank, v in itertools.product(range(2), range(5)):
        row = run.call(FILE, IoLayer.HDF5, Op.WRITE_COLLECTIVE, "H5Dwrite", rank, v, v, case.size)
        row["object"] = row["shape"] = 0
    found = diagnose(run.evidence()).findings[0]
    assert found.code == "interleaved-calls"
    assert "moved 50 MiB for 10 MiB" in found.text
    assert "with one call what these 5 calls move" in found.remedy
    assert "COLLECTIVE" not in found.remedy


def test_a_serial_program_has_no_collective_remedy():
    case = Case(GRID, (64, 64, 64, 1), [(0, 0, 0, v) for v in range(5)], n_ranks=1)
    found = diagnose(case.evidence()).findings[0]
    assert found.code == "interleaved-calls"
    assert "COLLECTIVE" not in found.remedy
    assert found.tune == ""


def test_views_of_mpiio_that_lie_between_one_another():
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    size = MIB
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE: (4, 4 * size, 20.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (4 * size // 8, 4 * size, 10.0)}, own=False)
    for rank, v in itertools.product(range(2), range(4)):
        row = run.call(FILE, IoLayer.MPIIO, Op.WRITE, "MPI_File_write", rank, v, 0, size)
        row["view"] = v
    evidence = run.evidence()
    piece = np.zeros(1, PIECE_ROW)
    piece["bytes"], piece["count"] = 8, 1
    views = tuple(TraceView(0, 8 * v, 8, 8, 0, 32, piece) for v in range(4))
    object.__setattr__(evidence.trace, "views", views)
    found = diagnose(evidence).findings[0]
    assert (found.code, found.evidence["merged_bytes"]) == ("interleaved-calls", 32)
    assert comb_of_view(views[0]) == Comb(8, 32, 32)


def test_combs_of_selections():
    assert comb_of(shape((8, 8), (2, 8))) is None
    assert comb_of(shape((8, 8), (1, 4))) is None
    assert comb_of(shape((8, 8), (2, 4))) == Comb(4, 8, 16)
    assert comb_of(shape((8, 8), (2, 1), (1, 3), (1, 2))) == Comb(1, 2, 5)


def test_overlapping_calls_do_not_fill_holes():
    case = Case(GRID, (32, 64, 64, 2), [(0, 0, 0, v) for v in (0, 1, 2)])
    evidence = case.evidence()
    _, (use,) = usage(evidence.profile, evidence.trace)
    assert interleaved(evidence.trace, use, True) is None
