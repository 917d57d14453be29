# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A container with events becomes one trace with the run's own indices."""

from __future__ import annotations

import pytest

from stripewise.evidence.containers._join import evidence_of
from stripewise.evidence.containers.container import scan_records
from stripewise.evidence.trace import EventFlag, IoLayer, Op, ShapeKind
from support.containers import FakeFile, FakeProcess, build_container, parse_container
from support.trace_samples import (
    H5,
    MPI,
    OUT,
    evidence,
    mixed_container,
    one_thread,
    rank,
    trace_of,
)
from support.traces import (
    UNLIMITED,
    FakeBins,
    FakeCall,
    FakeObject,
    FakeShape,
    FakeThread,
    FakeTrace,
    FakeView,
)


def test_a_single_call() -> None:
    call = FakeCall(
        OUT, "pwrite", offset=4096, bytes=512, sequence=7, start_ns=50, duration_ns=300
    )
    (row,) = trace_of(rank(0, 1, one_thread(call))).rows
    assert (row["rank"], row["thread"], row["layer"], row["op"]) == (0, 1, 0, Op.WRITE)
    assert (row["offset"], row["bytes"], row["count"], row["sequence"]) == (4096, 512, 1, 7)
    assert (row["start_ns"], row["last_start_ns"], row["end_ns"]) == (50, 50, 350)
    assert (row["busy_ns"], row["min_ns"], row["max_ns"]) == (300, 300, 300)
    assert row["durations"].tolist() == [0, 1] + [0] * 14
    assert (row["object"], row["shape"], row["view"], row["parent"]) == (-1, -1, -1, -1)


def test_names_paths_and_parents() -> None:
    trace = trace_of(
        rank(
            0,
            1,
            one_thread(
                FakeCall(OUT, "MPI_File_write", layer=MPI, sequence=1),
                FakeCall(OUT, "pwrite", sequence=2, parent="MPI_File_write", depth=1),
                FakeCall("", "fsync", sequence=3),
            ),
        )
    )
    assert [trace.names[i] for i in trace.rows["name"]] == ["MPI_File_write", "pwrite", "fsync"]
    assert trace.names[trace.rows["parent"][1]] == "MPI_File_write"
    assert trace.paths[trace.rows["file"][0]] == OUT
    assert trace.rows["file"].tolist()[2] == -1


def test_a_run_in_the_slot_and_in_the_log_counts_once() -> None:
    short = FakeCall(OUT, count=9, stride=(8, 0, 0))
    long = FakeCall(OUT, count=10, stride=(8, 0, 0))
    trace = trace_of(rank(0, 1, FakeTrace([FakeThread(slots=[long], log=[short])])))
    assert trace.rows["count"].tolist() == [10]


@pytest.mark.parametrize("count", [2, 7, 8, 100])
def test_brief_and_long_runs(count: int) -> None:
    call = FakeCall(OUT, count=count, stride=(8, 0, 0), duration_ns=2000, step_ns=5000)
    (row,) = trace_of(rank(0, 1, one_thread(call))).rows
    assert (row["count"], row["busy_ns"]) == (count, 2000 * count)
    assert row["last_start_ns"] == 5000 * (count - 1)
    assert row["durations"].sum() == count
    assert row["durations"][2] == count


def test_events_blocks_and_threads_are_put_in_order() -> None:
    later = FakeThread(2, log=[FakeCall(OUT, sequence=1, start_ns=5)])
    first = FakeThread(1, more=[[FakeCall(OUT, sequence=9)], [FakeCall(OUT, sequence=4)]])
    trace = trace_of(rank(0, 1, FakeTrace([later, first])))
    assert trace.rows["thread"].tolist() == [1, 1, 2]
    assert trace.rows["sequence"].tolist() == [4, 9, 1]


def test_lost_calls_are_told() -> None:
    found = evidence(rank(0, 1, FakeTrace([FakeThread(lost_calls=5)])))
    assert found.trace is not None
    assert found.trace.lost_calls == 5
    assert any("5 calls were lost" in note for note in found.profile.notes)
    assert found.profile.partial


def test_without_capture_there_is_no_trace() -> None:
    found = evidence(rank(0, 1, None))
    assert found.trace is None
    assert found.accesses == ()
    assert found.profile.source == "stripewise counters"


def test_equal_descriptions_of_many_ranks_are_one() -> None:
    objects = [FakeObject(OUT, "/x", (100,)), FakeObject(OUT, "/y", (4, 5))]
    shapes = [
        FakeShape((100,), numbers=(1, 1, 10)),
        FakeShape((4, 5), ShapeKind.ALL, object=2),
        FakeView(OUT, [(0, 8, 1, (0, 0), (0, 0, 0))], 8, 32),
    ]
    calls = [FakeCall(OUT, "H5Dwrite", layer=H5, object=1, shape=1, sequence=i) for i in (1, 2)]
    ranks = [rank(i, 50, one_thread(*calls, objects=objects, shapes=shapes)) for i in range(50)]
    trace = trace_of(*ranks)
    assert (len(trace.objects), len(trace.shapes), len(trace.views)) == (2, 2, 1)
    assert set(trace.rows["object"]) == {0}
    assert set(trace.rows["shape"]) == {0}


def test_numbers_of_different_processes_do_not_mix() -> None:
    one = one_thread(
        FakeCall(OUT, "a", layer=H5, object=1, shape=1),
        objects=[FakeObject(OUT, "/one", (3,))],
        shapes=[FakeShape((3,), ShapeKind.ALL)],
    )
    other = one_thread(
        FakeCall(OUT, "b", layer=H5, object=1, shape=1),
        objects=[FakeObject(OUT, "/two", (9,))],
        shapes=[FakeShape((9,), ShapeKind.ALL)],
    )
    trace = trace_of(rank(0, 2, one), rank(1, 2, other))
    assert [trace.names[i] for i in trace.rows["name"]] == ["a", "b"]
    assert [trace.objects[i].name for i in trace.rows["object"]] == ["/one", "/two"]
    assert [trace.shapes[i].extents for i in trace.rows["shape"]] == [(3,), (9,)]


def test_an_object() -> None:
    entry = FakeObject(OUT, "/g/data", (0, 6), 4, H5, "integer", "chunked", (UNLIMITED, 6), (1, 6))
    (found,) = trace_of(rank(0, 1, one_thread(objects=[entry]))).objects
    assert (found.name, found.extents, found.maximum) == ("/g/data", (0, 6), (-1, 6))
    assert (found.chunk, found.element_bytes) == ((1, 6), 4)
    assert (found.type_class, found.storage, found.layer) == ("integer", "chunked", H5)


def test_shapes() -> None:
    boxes = FakeShape(
        (9, 9), ShapeKind.BOXES, (0, 0, 1, 1, 4, 4, 5, 8), n_boxes=2, total_boxes=70, flags=1
    )
    regular = FakeShape((9, 9), numbers=(3, 3, 2, 2, 1, 2), elements=8)
    trace = trace_of(
        rank(0, 1, one_thread(objects=[FakeObject(OUT, "/a", (9, 9))], shapes=[boxes, regular]))
    )
    first, second = trace.shapes
    assert (first.kind, first.truncated, first.total_boxes) == (ShapeKind.BOXES, True, 70)
    assert first.boxes is not None
    assert first.boxes.tolist() == [[[0, 0], [1, 1]], [[4, 4], [5, 8]]]
    assert (second.stride, second.count, second.block) == ((3, 3), (2, 2), (1, 2))
    assert second.object == 0


def test_a_view() -> None:
    pieces = [(8, 16, 6, (3, 0), (64, 1024, 0))]
    (view,) = trace_of(
        rank(0, 1, one_thread(shapes=[FakeView(OUT, pieces, 96, 4096, 512, 8, 8)]))
    ).views
    assert (view.displacement, view.etype_bytes, view.filetype_bytes) == (512, 8, 96)
    assert (view.extent, view.lower, view.contiguous) == (4096, 8, False)
    assert view.pieces["stride"].tolist() == [[64, 1024, 0]]


def test_a_shape_that_was_not_described_leaves_the_place_open() -> None:
    (row,) = trace_of(rank(0, 1, one_thread(FakeCall(OUT, layer=MPI, shape=9)))).rows
    assert (row["shape"], row["view"]) == (-1, -1)
    assert row["flags"] & EventFlag.NO_OFFSET


def test_clocks_of_nodes_are_joined() -> None:
    here = rank(0, 2, one_thread(FakeCall(OUT, start_ns=100)), start_ns=10**18, clock_ns=5_000)
    there = rank(1, 2, one_thread(FakeCall(OUT, start_ns=100)), start_ns=10**18 + 40, clock_ns=9)
    raws = [
        parse_container(build_container([p], host=h), events=True)
        for p, h in ((here, "a"), (there, "b"))
    ]
    trace = evidence_of(raws).trace
    assert trace is not None
    assert trace.rows["start_ns"].tolist() == [100, 140]
    assert trace.hosts == ("a", "b")
    assert trace.process_host.tolist() == [0, 1]
    assert trace.start == pytest.approx(1e9)


def test_the_monotonic_clock_orders_processes_of_a_node() -> None:
    ranks = [
        rank(i, 3, one_thread(FakeCall(OUT, start_ns=10)), start_ns=10**18 + late, clock_ns=50 + i)
        for i, late in enumerate((0, 1, 900))
    ]
    assert trace_of(*ranks).rows["start_ns"].tolist() == [10, 11, 12]


def test_launchers_are_left_out_and_told() -> None:
    launcher = FakeProcess({"exe": "/usr/bin/mpiexec"}, trace=one_thread(FakeCall(OUT)))
    trace = trace_of(launcher, rank(0, 1, one_thread(FakeCall(OUT))))
    assert trace.rows["process"].tolist() == [0]
    assert trace.process_rank.tolist() == [0]
    assert any("launchers" in note for note in trace.notes)


def test_without_mpi_all_processes_count() -> None:
    process = FakeProcess({}, [FakeFile(OUT)], trace=one_thread(FakeCall(OUT)))
    trace = trace_of(process, process)
    assert (trace.n_ranks, trace.rows["rank"].tolist()) == (0, [-1, -1])
    assert trace.rows["process"].tolist() == [0, 1]


def test_a_file_without_a_record_keeps_a_number() -> None:
    trace = trace_of(rank(0, 1, one_thread(FakeCall("/run/gone"))))
    assert trace.paths[trace.rows["file"][0]].startswith("(file ")
    assert any("1 files" in note for note in trace.notes)


def test_bins() -> None:
    entry = FakeBins(OUT, MPI, [(0, 24, 3, 0, 96, 5000), (1 << 25, 25, 1, 32, 0, 7)])
    bins = trace_of(rank(0, 2, None), rank(1, 2, one_thread(bins=[entry]))).bins
    assert bins["rank"].tolist() == [1, 1]
    assert bins["width_ns"].tolist() == [1 << 24, 1 << 25]
    assert bins["start_ns"].tolist() == [1000, 1000 + (1 << 25)]
    assert (bins["write_bytes"].tolist(), bins["read_bytes"].tolist()) == ([96, 0], [0, 32])
    assert bins["layer"].tolist() == [IoLayer.MPIIO] * 2


def test_another_version_of_the_format_is_told() -> None:
    data = bytearray(build_container([rank(0, 1, one_thread(FakeCall(OUT, bytes=123456789)))]))
    place = data.index((123456789).to_bytes(8, "little")) - 48
    data[place + 6] = 2
    found = evidence_of([parse_container(bytes(data), events=True)]).trace
    assert found is not None
    assert len(found.rows) == 0
    assert found.notes == ("1 events of another version of the format were left out",)


def test_a_container_that_is_cut_off() -> None:
    data = mixed_container()
    found = evidence_of([parse_container(data[:-2048], events=True)])
    assert found.profile.partial
    assert any("cut off" in note for note in found.profile.notes)


def test_scanning_stops_at_what_is_not_committed() -> None:
    def record(size: int, kind: int) -> bytes:
        return (size | kind << 32 | 1 << 48).to_bytes(8, "little").ljust(size, b"x")

    offsets, heads = scan_records(record(16, 17) + record(24, 18) + bytes(64))
    assert offsets.tolist() == [0, 16]
    assert heads["kind"].tolist() == [17, 18]
    beyond = (4096 | 17 << 32).to_bytes(8, "little")
    assert len(scan_records(record(16, 17) + beyond + bytes(8))[0]) == 1
    assert len(scan_records(b"")[0]) == 0


def test_events_that_make_no_sense_are_told() -> None:
    calls = [FakeCall(OUT, start_ns=1 << 63), FakeCall(OUT, sequence=1 << 62)]
    trace = trace_of(rank(0, 1, one_thread(*calls)))
    assert len(trace.rows) == 0
    assert trace.notes == ("2 events that are invalid were left out",)
