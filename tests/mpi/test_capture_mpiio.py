# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO in the trace: names, places, views, and the system writes below."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from capture_harness import Call, calls, captured
from runtime_harness import FAMILIES, program, require

from stripewise.evidence.trace import EventFlag, IoLayer, Op, OpenBit, Trace, expand

pytestmark = pytest.mark.mpi

POINTER, SHARED, SPLIT = EventFlag.POINTER, EventFlag.SHARED, EventFlag.SPLIT
NONBLOCKING, WAIT = EventFlag.NONBLOCKING, EventFlag.WAIT
NONE = EventFlag(0)
OPENED = int(OpenBit.READ | OpenBit.WRITE | OpenBit.CREATE)

Row = tuple[str, Op, EventFlag, int | None, int]


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def plain(rank: int) -> list[Row]:
    """Calls of views.c before the view, without their prefix."""
    return [
        ("open", Op.OPEN, NONE, OPENED, 0),
        ("set_size", Op.META, NONE, 4096, 0),
        ("write_at", Op.WRITE, NONE, 64 * rank, 64),
        ("seek", Op.META, NONE, None, 0),
        ("write", Op.WRITE, POINTER, 256 * (rank + 1), 64),
        ("read", Op.READ, POINTER, 256 * (rank + 1) + 64, 32),
    ]


VIEWED: list[Row] = [
    ("set_view", Op.META, NONE, None, 0),
    ("write_at_all", Op.WRITE_COLLECTIVE, NONE, 40, 32),
    ("write_all", Op.WRITE_COLLECTIVE, POINTER, 0, 16),
    ("write_all", Op.WRITE_COLLECTIVE, POINTER, 4, 16),
    ("write_all", Op.WRITE_COLLECTIVE, POINTER, 8, 16),
    ("iwrite_at", Op.WRITE, NONBLOCKING, 16, 8),
    ("iwrite", Op.WRITE, NONBLOCKING | POINTER, 12, 24),
    ("Waitall", Op.META, WAIT, None, 0),
    ("write_all_begin", Op.WRITE_COLLECTIVE, SPLIT | POINTER, 18, 16),
    ("write_all_end", Op.META, SPLIT, None, 0),
    ("set_view", Op.META, NONE, None, 0),
    ("read_at", Op.READ, NONE, 3, 12),
]
AFTERWARDS: list[Row] = [
    ("set_view", Op.META, NONE, None, 0),
    ("write_ordered", Op.WRITE_COLLECTIVE, SHARED, None, 8),
    ("write_shared", Op.WRITE, SHARED, None, 16),
    ("sync", Op.SYNC, NONE, None, 0),
    ("write_at", Op.WRITE, EventFlag.FAILED, 7, 0),
    ("close", Op.CLOSE, NONE, None, 0),
]


def in_rows(found: list[Call]) -> list[Row]:
    return [
        (c.name.removeprefix("MPI_").removeprefix("File_"), c.op, c.flags, c.offset, c.bytes)
        for c in found
    ]


def check_views(trace: Trace, rank: int, found: list[Call]) -> None:
    """Pairs of ints, those of two ranks alternate; the same view is one record."""
    waits = {"MPI_Waitall", "MPI_File_write_all_end"}
    through = [c for c in found[len(plain(0)) :][: len(VIEWED)] if c.name not in waits]
    assert len({c.view for c in through}) == 1
    view = trace.views[through[0].view]
    assert (view.displacement, view.etype_bytes) == (1024 + 8 * rank, 4)
    assert (view.filetype_bytes, view.lower, view.extent) == (8, 0, 16)
    assert [(int(p["offset"]), int(p["bytes"])) for p in view.pieces] == [(0, 8)]
    assert {c.view for c in found[: len(plain(0))]} == {-1}
    bytes_again = trace.views[found[-5].view]
    assert (bytes_again.displacement, bytes_again.extent, bytes_again.contiguous) == (0, 1, True)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["fold", "all"])
def test_every_way_to_move_data_is_told(family: str, mode: str, tmp_path: Path) -> None:
    trace = captured(family, 2, [program(family, "views.c"), "out.dat"], tmp_path, mode=mode)
    assert len(trace.views) == 3
    for rank in range(2):
        found = calls(trace, rank, IoLayer.MPIIO)
        assert in_rows(found) == plain(rank) + VIEWED + AFTERWARDS
        assert {c.path for c in found} == {"out.dat"}
        assert {c.under for c in found} == {None}
        check_views(trace, rank, found)


@pytest.mark.extended(keep=1)
def test_system_writes_name_the_call_that_they_serve(family: str, tmp_path: Path) -> None:
    trace = captured(family, 2, [program(family, "views.c"), "out.dat"], tmp_path, mode="all")
    rows = expand(trace)
    written = rows[(rows["layer"] == IoLayer.POSIX) & (rows["op"] == Op.WRITE)]
    written = written[[trace.paths[f].endswith("out.dat") for f in written["file"]]]
    for row in written:
        parent = rows[row["parent_index"]]
        assert parent["layer"] == IoLayer.MPIIO
        assert trace.names[row["parent"]] == trace.names[parent["name"]]
        assert parent["depth"] < row["depth"]
        assert parent["start_ns"] <= row["start_ns"]
        assert parent["sequence"] < row["sequence"]
    own = [row for row in written if trace.names[row["parent"]] == "MPI_File_write_at"]
    assert sorted((row["offset"], row["bytes"]) for row in own) == [(0, 64), (64, 64)]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("binding", ["WITH_F08", "WITH_MODULE", "WITH_MPIF"])
def test_fortran(family: str, binding: str, tmp_path: Path) -> None:
    require(f"mpif90.{family}")
    writer = program(family, "writer.F90", f"-D{binding}")
    trace = captured(family, 2, [writer, "out.dat"], tmp_path)
    for rank in range(2):
        found = calls(trace, rank, IoLayer.MPIIO)
        assert [c.name.removeprefix("P") for c in found] == [
            "MPI_File_open",
            "MPI_File_write_at_all",
            "MPI_File_close",
        ]
        assert found[0].offset == OpenBit.WRITE | OpenBit.CREATE
        assert (found[1].offset, found[1].bytes) == (rank * 4 * 65536, 4 * 65536)
        assert found[1].op == Op.WRITE_COLLECTIVE


@pytest.mark.extended(keep=1)
def test_a_view_that_is_set_in_every_step_is_one_record(family: str, tmp_path: Path) -> None:
    command = [program(family, "strided.c"), "out.dat", "collective", "4096", "64"]
    trace = captured(family, 2, command, tmp_path)
    (first, second) = sorted(trace.views, key=lambda view: view.displacement)
    assert (first.displacement, second.displacement) in {(0, 0), (0, 4096)}
    for view in trace.views:
        assert view.total_pieces == sum(int(p["count"]) for p in view.pieces)
        assert np.sum(view.pieces["bytes"] * view.pieces["count"]) == view.filetype_bytes


@pytest.mark.extended(keep=1)
def test_nothing_is_asked_that_could_end_the_program(family: str, tmp_path: Path) -> None:
    """Errors are fatal; four threads at a time, each with a file pointer of its own."""
    writer = program(family, "edges.c", "-pthread")
    trace = captured(family, 1, [writer, "out.dat"], tmp_path, mode="all")
    alone = calls(trace, 0, IoLayer.MPIIO, "out.dat")
    assert [c.bytes for c in alone if c.name == "MPI_File_write_shared"] == [16, 0]
    assert [(c.bytes, c.offset) for c in alone if c.name == "MPI_File_write"] == [(0, 0), (0, 0)]
    written = [c for c in alone if c.name == "MPI_File_write_at"]
    assert (written[0].offset, written[0].bytes) == (4, 4)
    assert sorted(c.offset or 0 for c in written[1:]) == [64 * i for i in range(200)]
    for thread in range(4):
        own = calls(trace, 0, IoLayer.MPIIO, f"out.dat.{thread}")
        rows = [(c.offset, c.bytes) for c in own if c.name == "MPI_File_write"]
        assert rows == [(64 * i, 64) for i in range(50)]
        (number,) = {c.view for c in own if c.name == "MPI_File_write"}
        assert trace.views[number].displacement == 64 * thread
