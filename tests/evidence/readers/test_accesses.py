# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which elements and bytes each rank moved, out of a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.evidence.trace import (
    EventFlag,
    IoLayer,
    Op,
    Pieces,
    Selections,
    ShapeKind,
    TraceView,
    accesses,
)
from stripewise.evidence.trace._access_bytes import pieces_of_range
from stripewise.evidence.trace._trace import levels_of, moved
from support.trace_samples import H5, MPI, OUT, one_thread, rank, trace_of
from support.traces import FakeCall, FakeObject, FakeShape, FakeTrace, FakeView

DATA = [FakeObject(OUT, "/data", (24, 24))]
ROWS = FakeShape((24, 24), numbers=(1, 1, 6, 24, 1, 1), elements=144)


def h5write(offset: int = 0, shape: int = 1, **more: Any) -> FakeCall:
    op, layer = more.pop("op", Op.WRITE), more.pop("layer", H5)
    return FakeCall(OUT, "H5Dwrite", op, layer, offset, 1152, object=1, shape=shape, **more)


def selections(*traces: FakeTrace) -> list[Selections]:
    size = len(traces)
    found = accesses(trace_of(*(rank(i, size, trace) for i, trace in enumerate(traces))))
    return [entry for entry in found if isinstance(entry, Selections)]


def pieces(*traces: FakeTrace) -> list[Pieces]:
    size = len(traces)
    found = accesses(trace_of(*(rank(i, size, trace) for i, trace in enumerate(traces))))
    return [entry for entry in found if isinstance(entry, Pieces)]


def test_regular_selections_of_four_ranks() -> None:
    traces = [
        one_thread(h5write(24 * 6 * i, op=Op.WRITE_COLLECTIVE), objects=DATA, shapes=[ROWS])
        for i in range(4)
    ]
    (found,) = selections(*traces)
    assert (found.file, found.dataset, found.extents) == (OUT, "/data", (24, 24))
    assert (found.element_bytes, found.writing, found.n_ranks) == (8, True, 4)
    assert found.rank.tolist() == [0, 1, 2, 3]
    assert found.start.tolist() == [[0, 0], [6, 0], [12, 0], [18, 0]]
    assert found.count.tolist() == [[6, 24]] * 4
    assert found.block.tolist() == [[1, 1]] * 4
    assert found.collective.all()
    assert found.order.tolist() == [0] * 4
    assert (found.irregular, found.notes) == (0, ())


@pytest.mark.parametrize("layer", [IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.ADIOS2])
def test_the_library_that_describes_a_dataset_is_named(layer: IoLayer) -> None:
    data = [FakeObject(OUT, "/data", (24, 24), layer=layer)]
    shapes = [FakeShape((24, 24), ShapeKind.ALL)]
    (found,) = selections(one_thread(h5write(layer=layer), objects=data, shapes=shapes))
    assert found.source == layer.name.lower()


def test_a_folded_run_of_selections() -> None:
    run = h5write(0, count=6, inner=(2, 0), stride=(12, 24 * 8, 0), sequence_stride=(1, 2, 0))
    shape = FakeShape((24, 24), numbers=(1, 1, 1, 1, 8, 12))
    (found,) = selections(one_thread(run, objects=DATA, shapes=[shape]))
    assert found.start.tolist() == [[0, 0], [0, 12], [8, 0], [8, 12], [16, 0], [16, 12]]
    assert found.order.tolist() == list(range(6))


def test_all_is_the_full_extent_and_none_is_nothing() -> None:
    shapes = [FakeShape((24, 24), ShapeKind.ALL), FakeShape((24, 24), ShapeKind.NONE)]
    (found,) = selections(
        one_thread(h5write(), objects=DATA, shapes=shapes),
        one_thread(h5write(shape=2), objects=DATA, shapes=shapes),
    )
    assert (found.start.tolist(), found.block.tolist()) == ([[0, 0]], [[24, 24]])
    assert (found.rank.tolist(), found.n_ranks, found.irregular) == ([0], 2, 0)


def test_unions_and_points_are_hyperslabs_of_one_call() -> None:
    shapes = [
        FakeShape((24, 24), ShapeKind.BOXES, (0, 0, 1, 1, 4, 4, 5, 5), n_boxes=2, total_boxes=2),
        FakeShape((24, 24), ShapeKind.POINTS, (0, 0, 0, 0, 3, 3, 3, 3), n_boxes=2, total_boxes=2),
        FakeShape((24, 24), ShapeKind.BOXES, (0, 0, 3, 5), n_boxes=1, total_boxes=1),
    ]
    calls = [h5write(25, i, sequence=i) for i in (1, 2, 3)]
    (found,) = selections(one_thread(*calls, objects=DATA, shapes=shapes))
    assert (found.irregular, found.notes) == (0, ())
    assert found.start.tolist() == [[1, 1], [5, 5], [1, 1], [4, 4], [1, 1]]
    assert found.block.tolist() == [[2, 2], [2, 2], [1, 1], [1, 1], [4, 6]]
    assert found.order.tolist() == [0, 0, 1, 1, 2]


def test_selections_that_are_cut_are_counted_with_their_ranks() -> None:
    many = FakeShape((24, 24), ShapeKind.POINTS, (0, 0, 0, 0), n_boxes=1, total_boxes=9, flags=1)
    traces = [
        one_thread(h5write(op=op, count=3), objects=DATA, shapes=[many])
        for op in (Op.WRITE, Op.WRITE_COLLECTIVE)
    ]
    (found,) = selections(*traces)
    assert (len(found.rank), found.irregular) == (0, 6)
    assert found.unlisted.tolist() == [(0, 3, False), (1, 3, True)]
    assert found.notes == ("6 selections of points are too many to list",)


def test_what_a_library_writes_when_the_program_has_ended_is_not_the_programs() -> None:
    inside = FakeCall(OUT, "MPI_File_open", Op.OPEN, IoLayer.MPIIO, depth=1, parent="H5Fcreate")
    own = FakeCall(OUT, "MPI_File_open", Op.OPEN, IoLayer.MPIIO)
    late = FakeCall(OUT, "MPI_File_write_at", Op.WRITE, IoLayer.MPIIO, 0, 664, sequence=9)
    shapes = [ROWS]
    leaked = one_thread(inside, h5write(), late, objects=DATA, shapes=shapes)
    opened = one_thread(own, inside, h5write(), late, objects=DATA, shapes=shapes)
    assert not pieces(leaked)
    assert len(pieces(opened)) == 1


def test_directions_datasets_and_growing_extents() -> None:
    objects = [
        FakeObject(OUT, "/a", (2, 4)),
        FakeObject(OUT, "/b", (5,)),
        FakeObject(OUT, "/a", (9, 4)),
    ]
    shapes = [
        FakeShape((2, 4), numbers=(1, 1, 1, 1, 1, 4)),
        FakeShape((5,), ShapeKind.ALL, object=2),
        FakeShape((9, 4), numbers=(1, 1, 1, 1, 1, 4), object=3),
    ]
    calls = [
        FakeCall(OUT, "H5Dwrite", Op.WRITE, H5, 4, 32, 1, object=1, shape=1),
        FakeCall(OUT, "H5Dread", Op.READ, H5, 0, 40, 2, object=2, shape=2),
        FakeCall(OUT, "H5Dwrite", Op.WRITE, H5, 32, 32, 3, object=3, shape=3),
    ]
    found = selections(one_thread(*calls, objects=objects, shapes=shapes))
    named = {(entry.dataset, entry.writing): entry for entry in found}
    assert set(named) == {("/a", True), ("/b", False)}
    assert named["/a", True].extents == (9, 4)
    assert named["/a", True].start.tolist() == [[1, 0], [8, 0]]


def test_attributes_and_failed_calls_are_no_accesses() -> None:
    calls = [h5write(flags=EventFlag.ATTRIBUTE), h5write(sequence=2, flags=EventFlag.FAILED)]
    assert selections(one_thread(*calls, objects=DATA, shapes=[ROWS])) == []


def test_below_a_dataset_mpi_io_is_not_counted_again() -> None:
    below = FakeCall(OUT, "MPI_File_write_at", Op.WRITE, MPI, 2048, 1152, 2, depth=1)
    trace = one_thread(h5write(), below, objects=DATA, shapes=[ROWS])
    assert pieces(trace) == []
    (alone,) = pieces(one_thread(below))
    assert (alone.offset.tolist(), alone.size.tolist(), alone.source) == ([2048], [1152], "view")


def test_posix_calls_of_the_program_stay_folded() -> None:
    run = FakeCall(OUT, count=100, offset=16, bytes=8, inner=(10, 0), stride=(64, 4096, 0))
    below = FakeCall(OUT, offset=0, bytes=8, sequence=900, depth=1)
    (found,) = pieces(one_thread(run, below))
    assert (found.offset.tolist(), found.repeat.tolist()) == ([16], [100])
    assert (found.inner.tolist(), found.stride.tolist()) == ([[10, 0]], [[64, 4096, 0]])
    assert (found.source, found.writing) == ("offsets", True)


def test_a_contiguous_view_in_elements() -> None:
    view = FakeView(OUT, [(0, 8, 1, (0, 0), (0, 0, 0))], 8, 8, displacement=100, etype_bytes=8)
    run = FakeCall(OUT, "w", Op.WRITE, MPI, 5, 80, count=3, stride=(10, 0, 0), shape=1)
    (found,) = pieces(one_thread(run, shapes=[view]))
    assert (found.offset.tolist(), found.size.tolist()) == ([140], [80])
    assert (found.repeat.tolist(), found.stride.tolist()) == ([3], [[80, 0, 0]])
    assert found.element_bytes == 8


def test_a_view_with_holes_written_whole() -> None:
    """Rank r of 2 owns columns of a 4 x 8 array of doubles, a step at a time."""
    traces = []
    for r in range(2):
        view = FakeView(OUT, [(32 * r, 32, 4, (0, 0), (64, 0, 0))], 128, 256, 0, 8)
        run = FakeCall(
            OUT, "w", Op.WRITE_COLLECTIVE, MPI, 0, 128, count=2, stride=(16, 0, 0), shape=1
        )
        traces.append(one_thread(run, shapes=[view]))
    (found,) = pieces(*traces)
    assert found.rank.tolist() == [0, 0, 1, 1]
    assert found.offset.tolist() == [0, 256, 32, 288]
    assert found.repeat.tolist() == [4] * 4
    assert found.order.tolist() == [0, 1, 0, 1]
    assert len(set(found.call.tolist())) == 4
    assert found.collective.all()


def test_what_has_no_place_is_told() -> None:
    shared = FakeCall(OUT, "w", Op.WRITE, MPI, 0, 8, flags=EventFlag.SHARED | EventFlag.NO_OFFSET)
    cut = FakeView(OUT, [(0, 8, 1, (0, 0), (0, 0, 0))], 16, 64, flags=1)
    through = FakeCall(OUT, "w", Op.WRITE, MPI, 0, 16, 2, shape=1)
    (found,) = pieces(one_thread(shared, through, shapes=[cut]))
    assert len(found.offset) == 0
    assert len(found.notes) == 2


def test_too_many_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run = h5write(0, count=1000, stride=(24, 0, 0))
    trace = trace_of(rank(0, 1, one_thread(run, objects=DATA, shapes=[ROWS])))
    monkeypatch.setattr("stripewise.evidence.trace._accesses.MOST_PARTS", 10)
    (found,) = accesses(trace)
    assert isinstance(found, Selections)
    assert (len(found.rank), found.irregular) == (0, 1000)
    assert found.notes == ("1000 selections beyond the limit are left out",)


def test_without_mpi_each_process_is_a_rank() -> None:
    from support.containers import FakeFile, FakeProcess

    processes = [
        FakeProcess({}, [FakeFile(OUT)], trace=trace)
        for trace in (
            one_thread(),
            *(one_thread(FakeCall(OUT, bytes=4, offset=i)) for i in (0, 4)),
        )
    ]
    (found,) = accesses(trace_of(*processes))
    assert (found.rank.tolist(), found.n_ranks) == ([0, 1], 2)


def flattened(rows: np.ndarray) -> list[tuple[int, int]]:
    """(offset, size) of each piece of folded rows."""
    found = []
    for row in rows:
        k = np.arange(int(row["count"]))
        steps = moved(levels_of(k, row["inner"][None].repeat(len(k), 0)), row["stride"][None])
        found += [(int(row["offset"] + step), int(row["bytes"])) for step in steps]
    return found


def bytes_of(pairs: list[tuple[int, int]]) -> list[int]:
    return [offset + i for offset, size in pairs for i in range(size)]


piece = st.tuples(
    st.integers(1, 5),
    st.integers(1, 12),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(piece, min_size=1, max_size=3), st.data())
def test_ranges_of_a_view_are_those_of_the_typemap(entries: list, data: st.DataObject) -> None:
    """Byte by byte against the data of many filetypes laid out one after the other."""
    from stripewise.evidence.trace import PIECE_ROW

    rows = np.zeros(len(entries), PIECE_ROW)
    for i, (size, count, inner) in enumerate(entries):
        rows[i] = (1000 * i, size, count, inner, (7, 100, 350))
    one = bytes_of(flattened(rows))
    view = TraceView(0, 0, 1, len(one), 0, 5000, rows)
    phase = data.draw(st.integers(0, len(one) - 1))
    size = data.draw(st.integers(1, 4 * len(one)))
    found = pieces_of_range(view, phase, size)
    assert found is not None
    whole = [5000 * tile + byte for tile in range(6) for byte in one]
    assert sorted(bytes_of(flattened(found))) == sorted(whole[phase : phase + size])


@pytest.mark.parametrize("layer", [IoLayer.PNETCDF, IoLayer.ADIOS2])
def test_other_libraries_with_datasets(layer: IoLayer) -> None:
    call = FakeCall(OUT, "put", Op.WRITE, layer, 0, 16, object=1, shape=1)
    objects = [FakeObject(OUT, "var", (4,), layer=layer)]
    (found,) = selections(
        one_thread(call, objects=objects, shapes=[FakeShape((4,), numbers=(1, 2, 1))])
    )
    assert (found.dataset, found.count.tolist()) == ("var", [[2]])
