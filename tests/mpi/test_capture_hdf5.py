# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 in the trace: datasets, selections of every kind, attributes, and the calls below."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_harness import Call, calls, captured
from runtime_harness import FAMILIES, program, require, run, run_plain
from stacks import CASE_OF_HDF5_2
from test_runtime_errors import normalised

from stripewise.evidence.containers import read_containers
from stripewise.evidence.trace import EventFlag, IoLayer, Op, OpenBit, ShapeKind, Trace

pytestmark = pytest.mark.mpi

CREATED = int(OpenBit.READ | OpenBit.WRITE | OpenBit.CREATE | OpenBit.TRUNCATE)
ATTRIBUTE = EventFlag.ATTRIBUTE


def family(stack: str) -> str:
    if stack in FAMILIES:
        require(f"mpicc.{stack}", f"mpiexec.{stack}", "cmake")
    return stack


def transfers(found: list[Call], trace: Trace, name: str) -> list[Call]:
    return [
        call
        for call in found
        if call.name in ("H5Dwrite", "H5Dread") and trace.objects[call.object].name == name
    ]


def check_selections(trace: Trace, rank: int, found: list[Call]) -> None:
    """Each is written collectively, and read again independently."""
    moved = transfers(found, trace, "/data")
    assert [c.op for c in moved[:12:2]] == [Op.WRITE_COLLECTIVE] * 6
    assert [c.op for c in moved[1:12:2]] == [Op.READ] * 6
    assert [c.shape for c in moved[:12:2]] == [c.shape for c in moved[1:12:2]]
    rows = [(c.offset, c.bytes) for c in moved[:12:2]]
    corner = 2 * 24 + 12 * rank
    expected = [(192 * rank, 768), (192 * rank, 384), (corner, 40), (48 + rank, 12)]
    assert rows == [*expected, (0, 0), (0, 1536)]
    whole, strided, boxes, points, none, everything = (trace.shapes[c.shape] for c in moved[:12:2])
    assert (whole.stride, whole.count, whole.block) == ((1, 1), (1, 1), (8, 24))
    assert (strided.stride, strided.count, strided.block) == ((1, 4), (8, 6), (1, 2))
    assert (boxes.kind, boxes.total_boxes, boxes.elements) == (ShapeKind.BOXES, 2, 10)
    assert boxes.boxes is not None
    assert boxes.boxes.tolist() == [[[0, 0], [2, 1]], [[5, 5], [5, 8]]]
    assert (points.kind, points.elements) == (ShapeKind.POINTS, 3)
    assert points.boxes is not None
    assert points.boxes[:, 0].tolist() == [[7, 3 - rank], [0, 0], [13, 23 - rank]]
    assert points.boxes[:, 1].tolist() == points.boxes[:, 0].tolist()
    assert (none.kind, none.elements) == (ShapeKind.NONE, 0)
    assert (everything.kind, everything.elements) == (ShapeKind.ALL, 384)
    assert {shape.extents for shape in (whole, strided, boxes, points, everything)} == {(16, 24)}
    assert (moved[12].bytes, moved[12].shape) == (8 * 384, moved[10].shape)


def check_objects(trace: Trace) -> None:
    objects = {(o.name, o.extents): o for o in trace.objects if o.layer == IoLayer.HDF5}
    data = objects["/data", (16, 24)]
    assert (data.element_bytes, data.type_class, data.storage) == (4, "float", "contiguous")
    assert (data.maximum, data.chunk) == ((16, 24), ())
    grown = objects["/growing", (0, 8)]
    assert (grown.maximum, grown.chunk, grown.storage) == ((-1, 8), (3, 4), "chunked")
    assert (grown.type_class, grown.element_bytes) == ("integer", 4)
    assert objects["/group/scalar", ()].element_bytes == 4
    # However often it is extended in its slowest dimension: two records.
    assert sorted(extents for name, extents in objects if name == "/growing") == [(0, 8), (3, 8)]


def check_metadata(found: list[Call], rank: int, trace: Trace) -> None:
    assert [(c.name, c.flags) for c in found if c.name[:3] in ("H5A", "H5G")] == [
        ("H5Gcreate2", EventFlag(0)),
        ("H5Acreate2", ATTRIBUTE),
        ("H5Awrite", ATTRIBUTE),
        ("H5Aclose", ATTRIBUTE),
        ("H5Gclose", EventFlag(0)),
        ("H5Gopen2", EventFlag(0)),
        ("H5Aopen", ATTRIBUTE),
        ("H5Aread", ATTRIBUTE),
        ("H5Aclose", ATTRIBUTE),
        ("H5Gclose", EventFlag(0)),
    ]
    assert (found[0].name, found[0].op, found[0].offset) == ("H5Fcreate", Op.OPEN, CREATED)
    assert found[-1].name == "H5Fclose"
    growing = transfers(found, trace, "/growing")
    assert [c.offset for c in growing] == [24 * step + 4 * rank for step in range(4)]
    assert {c.bytes for c in growing} == {48}
    assert len({c.shape for c in growing[1:]}) == 1
    assert [c.name for c in found].count("H5Dset_extent") == 4


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("stack", [*FAMILIES, CASE_OF_HDF5_2])
def test_selections_datasets_and_metadata(stack: str, tmp_path: Path) -> None:
    trace = captured(
        family(stack), 2, [program(stack, "h5selections.c"), "out.h5"], tmp_path, mode="all"
    )
    check_objects(trace)
    for rank in range(2):
        found = calls(trace, rank, IoLayer.HDF5)
        assert {c.path for c in found} == {"out.h5"}
        check_selections(trace, rank, found)
        check_metadata(found, rank, trace)
        below = calls(trace, rank, IoLayer.MPIIO, "out.h5")
        # Chunks are filled where they are allocated.
        assert {c.under for c in below if c.op == Op.WRITE_COLLECTIVE} - {"H5Fclose"} == {
            "H5Dwrite",
            "H5Dcreate2",
            "H5Dset_extent",
        }
        assert {c.under for c in below if c.name.endswith("File_open")} == {"H5Fcreate"}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("stack", FAMILIES)
def test_capture_changes_no_byte(stack: str, tmp_path: Path) -> None:
    writer = program(family(stack), "h5selections.c")
    captured(stack, 2, [writer, "captured.h5"], tmp_path)
    plain = run_plain(stack, 2, [writer, "plain.h5"], tmp_path)
    assert plain.returncode == 0
    assert (tmp_path / "captured.h5").read_bytes() == (tmp_path / "plain.h5").read_bytes()


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("stack", FAMILIES)
def test_errors_of_hdf5_are_the_programs_own(stack: str, tmp_path: Path) -> None:
    """Printed, returned and kept as without the library."""
    command = [program(family(stack), "h5errors.c"), "out.h5"]
    plain = run_plain(stack, 1, command, tmp_path)
    under = run(stack, 1, command, tmp_path, extra={"STRIPEWISE_CAPTURE": "fold"})
    assert under.code == plain.returncode == 0
    assert normalised(under.err) == normalised(plain.stderr)


def moved(trace: Trace, name: str) -> list[tuple[int, ShapeKind, int]]:
    """Transfers of a dataset: bytes, kind of selection, elements."""
    found = transfers(calls(trace, -1, IoLayer.HDF5), trace, name)  # it does without MPI
    shapes = [trace.shapes[c.shape] for c in found]
    return [(c.bytes, s.kind, s.elements) for c, s in zip(found, shapes, strict=True)]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("stack", [*FAMILIES, CASE_OF_HDF5_2])
def test_odd_transfers_leave_no_error_behind(stack: str, tmp_path: Path) -> None:
    """The program itself checks HDF5's error stack and handler after each."""
    writer = program(family(stack), "h5odd.c")
    trace = captured(stack, 1, [writer, "out.h5"], tmp_path, mode="all")
    everything, nothing = ShapeKind.ALL, ShapeKind.NONE
    assert moved(trace, "/null") == [(0, everything, 0)]
    assert moved(trace, "/scalar") == [(4, everything, 1), (4, everything, 1), (0, nothing, 0)]
    assert moved(trace, "/empty") == [(0, everything, 0)]
    assert [row[0] for row in moved(trace, "/text")] == [16]
    assert [row[0] for row in moved(trace, "/fixed")] == [16, 64]
    assert moved(trace, "/square") == [
        (40, ShapeKind.BOXES, 5),
        (16, ShapeKind.POINTS, 2),
        (16, ShapeKind.POINTS, 2),
        (64, everything, 16),
    ]


def test_views_that_hdf5_sets_are_bounded(tmp_path: Path) -> None:
    """1024 are kept; calls through others have their bytes and no place."""
    writer = program(family("mpich"), "h5views.c")
    trace = captured("mpich", 2, [writer, "out.h5", "1100"], tmp_path)
    assert len(trace.views) == 2 * 1024
    sampled = [view.total_pieces for view in trace.views if view.truncated]
    assert sampled == [65536, 65536]
    notes = read_containers(list(tmp_path.glob("containers-*/*.sw"))).notes
    assert sum("1024 different file views" in note for note in notes) == 1
    for rank in range(2):
        below = calls(trace, rank, IoLayer.MPIIO, "out.h5")
        through = [c for c in below if c.name == "MPI_File_write_at_all"]
        assert [c.view >= 0 for c in through] == [True] * 1024 + [False] * 77
        assert {c.offset for c in through[1024:]} == {None}
        assert {c.bytes for c in through[1:]} == {64}
        # HDF5 ends each collective call with the default view: places are bytes again.
        independent = [c for c in below if (c.name, c.bytes) == ("MPI_File_write_at", 16)]
        assert [(c.view, c.offset) for c in independent] == [(-1, 2048 + 64 * rank)]
        assert all(c.shape >= 0 for c in transfers(calls(trace, rank), trace, "/data"))
