# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a plan says of a trace."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
from scripted import Script

from stripewise.core.errors import UsageError
from stripewise.evidence.replay import Plan, build_plan, plan_text, write_plan
from stripewise.evidence.replay._plan import CALL_ROW
from stripewise.evidence.trace import IoLayer, Op, RunProfile, ShapeKind, TraceObject, TraceShape
from stripewise.evidence.trace._run_profile import FileHints
from support.same_requests import compare

M, P, H = IoLayer.MPIIO, IoLayer.POSIX, IoLayer.HDF5


def calls_of(plan: Plan, rank: int) -> list[tuple[str, int, int, int, int]]:
    """(verb, bytes, count, offset, group) of each folded run."""
    one = plan.ranks[rank]
    return [
        (
            plan.verbs[row["verb"]],
            int(row["bytes"]),
            int(row["count"]),
            int(one.columns["offset"][i]),
            int(one.columns["group"][i]),
        )
        for i, row in enumerate(plan.sections[one.section])
    ]


def layers(plan: Plan) -> set[str]:
    """Interfaces that a plan calls."""
    return {verb.partition(".")[0] for verb in plan.verbs} - {"sync"}


def name_of(plan: Plan, number: int) -> str:
    """Name of a dataset, variable or group."""
    return plan.objects[number].split()[-1]


def collective_writes(steps: int = 3) -> Script:
    script = Script()
    script.everywhere(M, Op.OPEN, "MPI_File_open", "/data/out.dat", offset=6)
    for step in range(steps):
        for part in range(4):
            for rank in range(2):
                offset = step * 10_000 + (2 * part + rank) * 1000
                script.call(
                    rank,
                    M,
                    Op.WRITE_COLLECTIVE,
                    "PMPI_File_write_at_all_c",
                    "/data/out.dat",
                    offset=offset,
                    bytes=1000,
                )
    script.everywhere(M, Op.CLOSE, "MPI_File_close", "/data/out.dat")
    return script


def test_equal_ranks_share_a_section_and_loops_stay_folded() -> None:
    plan = build_plan(collective_writes().trace())
    assert len(plan.sections) == 1
    write = ("mpiio.write_at_all", 1000, 12)
    assert calls_of(plan, 0) == [
        ("mpiio.open", 0, 1, 6, 0),
        (*write, 0, -1),
        ("mpiio.close", 0, 1, 0, -1),
    ]
    assert calls_of(plan, 1)[1] == (*write, 1000, -1)
    loop = plan.sections[0][1]
    assert loop["inner"].tolist() == [4, 0]
    assert loop["stride"].tolist() == [2000, 10_000, 0]
    assert (plan.read_bytes, plan.write_bytes) == (0, 24_000)


def test_its_size_does_not_follow_the_length_of_the_run() -> None:
    short, long = (plan_text(build_plan(collective_writes(n).trace())) for n in (3, 300))
    assert len(long) < len(short) + 30


def test_time_between_calls_is_kept() -> None:
    plan = build_plan(collective_writes().trace())
    columns = plan.ranks[0].columns
    assert columns["gap"].tolist() == [0, 100_000, 100_000]
    assert columns["rest"].tolist() == [0, 100_000, 0]


def test_time_within_folded_runs_is_kept_as_a_whole() -> None:
    script = Script(0)
    at = "/data/f"
    script.call(0, P, Op.OPEN, "open", at, offset=6)
    script.call(
        0, P, Op.WRITE, "pwrite", at, bytes=10, count=100, stride=(10, 0, 0),
        last_start_ns=990_000_000, end_ns=991_000_000, busy_ns=100_000_000,
    )  # fmt: skip
    plan = build_plan(script.trace())
    columns = plan.ranks[0].columns
    # 991 ms from the open's end at 10 us on, of which 100 ms were calls
    total = int(columns["gap"].sum() + 99 * columns["rest"].sum())
    assert total == pytest.approx(991_000_000 - 10_000 - 100_000_000, rel=0.001)


def test_what_the_library_did_below_is_not_replayed() -> None:
    script = collective_writes()
    for rank in range(2):
        script.call(
            rank, P, Op.WRITE, "pwrite", "/data/out.dat", bytes=1000, depth=1, parent=0, offset=0
        )
    assert layers(build_plan(script.trace())) == {"mpiio"}


def test_files_get_names_of_their_own() -> None:
    script = Script(1)
    for path in ("/a/x.dat", "/b/x.dat", "/c/x.dat"):
        script.call(0, P, Op.OPEN, "open", path, offset=6)
        script.call(0, P, Op.CLOSE, "close", path)
    names = {file.path: file.name for file in build_plan(script.trace()).files}
    assert names == {"/a/x.dat": "x.dat", "/b/x.dat": "x-2.dat", "/c/x.dat": "x-3.dat"}


def test_odd_names_are_one_word_each() -> None:
    script = Script(1)
    script.call(0, P, Op.OPEN, "open", "/a/50% of\n\udcff", offset=6)
    assert "\nfile 0 50%25%20of%0A%FF\n" in plan_text(build_plan(script.trace()))


def test_files_that_were_read_first_are_inputs() -> None:
    script = Script()
    for rank in range(2):
        script.call(rank, P, Op.OPEN, "open", "/in", offset=1)
        script.call(
            rank, P, Op.READ, "pread", "/in", bytes=100, count=5, stride=(200, 0, 0), offset=1000
        )
        script.call(rank, P, Op.CLOSE, "close", "/in")
    script.everywhere(M, Op.OPEN, "MPI_File_open", "/out", offset=6)
    (needed,) = build_plan(script.trace()).inputs
    assert (needed.kind, needed.size_bytes) == ("bytes", 1900)


def test_datasets_that_were_read_first_are_inputs() -> None:
    script = Script(1)
    script.paths.append("/in.h5")
    script.objects += [
        TraceObject(0, H, "/a/seen", (4, 6), (4, 6), (), 8, "float", "contiguous"),
        TraceObject(0, H, "/made", (4,), (4,), (), 4, "integer", "contiguous"),
    ]
    script.shapes.append(TraceShape(0, ShapeKind.ALL, (4, 6), elements=24))
    script.call(0, H, Op.OPEN, "H5Fopen", "/in.h5", offset=3)
    script.call(0, H, Op.META, "H5Dopen2", "/in.h5", object=0)
    script.call(0, H, Op.READ, "H5Dread", "/in.h5", object=0, shape=0, bytes=192)
    script.call(0, H, Op.META, "H5Dcreate2", "/in.h5", object=1)
    script.call(0, H, Op.CLOSE, "H5Fclose", "/in.h5")
    plan = build_plan(script.trace())
    (needed,) = plan.inputs
    assert needed.kind == "hdf5"
    assert [name_of(plan, i) for i in needed.objects] == ["/a/seen"]


def test_groups_are_named_after_the_datasets_in_them() -> None:
    script = Script(1)
    script.paths.append("/o.h5")
    script.objects.append(TraceObject(0, H, "/step/fields/u", (4,), (4,), (), 4))
    script.call(0, H, Op.OPEN, "H5Fcreate", "/o.h5", offset=15)
    for _ in range(3):
        script.call(0, H, Op.META, "H5Gcreate2", "/o.h5")
    script.call(0, H, Op.META, "H5Dcreate2", "/o.h5", object=0)
    plan = build_plan(script.trace())
    objects = [name_of(plan, i) for i in plan.ranks[0].columns["object"] if i >= 0]
    assert objects == ["/step", "/step/fields", "/group-0", "/step/fields/u"]


def test_a_growing_dataset_gets_the_extent_that_any_rank_needs() -> None:
    script = Script()
    script.paths.append("/g.h5")
    script.objects.append(TraceObject(0, H, "/g", (0, 8), (-1, 8), (1, 8), 4, "integer"))
    script.shapes.append(
        TraceShape(0, ShapeKind.REGULAR, (0, 8), (1, 1), (1, 1), (2, 8), elements=16)
    )
    script.everywhere(H, Op.OPEN, "H5Fcreate", "/g.h5", offset=15)
    script.everywhere(H, Op.META, "H5Dcreate2", "/g.h5", object=0)
    for step in range(3):
        script.everywhere(H, Op.META, "H5Dset_extent", "/g.h5", object=0)
        for rank in range(2):
            offset = (4 * step + 2 * rank) * 8
            script.call(
                rank, H, Op.WRITE, "H5Dwrite", "/g.h5", object=0, shape=0, offset=offset, bytes=64
            )
    plan = build_plan(script.trace())
    for rank in range(2):
        ((_, _, count, first, _),) = [c for c in calls_of(plan, rank) if "extent" in c[0]]
        assert (count, first) == (3, 4)
    row = plan.sections[0][plan.sections[0]["verb"] == plan.verbs.index("hdf5.dset_extent")][0]
    assert row["stride"][0] == 4


def test_hints_of_the_program_go_along() -> None:
    trace = collective_writes().trace()
    hints = {0: FileHints(requested={"cb_nodes": "1", "odd key": "a b"}, applied={"x": "y"})}
    plan = build_plan(trace, RunProfile("", paths=("/data/out.dat",), hints=hints))
    text = plan_text(plan)
    assert "hint 0 cb_nodes 1\n" in text
    assert "hint 0 odd%20key a%20b\n" in text


def test_a_trace_without_calls_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to replay"):
        build_plan(Script().trace())


def test_what_cannot_be_replayed_is_told_or_refused() -> None:
    script = collective_writes()
    script.call(0, IoLayer.ADIOS2, Op.WRITE, "adios2_put", "/o.bp", bytes=1000)
    plan = build_plan(script.trace())
    assert plan.notes == ("left out: 1 call, ADIOS2 is not replayed",)
    script.call(0, IoLayer.ADIOS2, Op.WRITE, "adios2_put", "/o.bp", bytes=10_000)
    with pytest.raises(UsageError, match=r"31% of the bytes cannot be replayed \(ADIOS2"):
        build_plan(script.trace())


def test_syncs_of_a_directory_are_left_out() -> None:
    script = Script()
    script.call(0, IoLayer.POSIX, Op.OPEN, "open", "/d/file", offset=6)
    script.call(0, IoLayer.POSIX, Op.WRITE, "write", "/d/file", bytes=100)
    script.call(0, IoLayer.POSIX, Op.SYNC, "fsync", "/d/file")
    script.call(0, IoLayer.POSIX, Op.SYNC, "fsync", "/d")
    script.call(0, IoLayer.POSIX, Op.CLOSE, "close", "/d/file")
    plan = build_plan(script.trace())
    assert plan.notes == ("left out: 1 call, fsync of a directory is not replayed",)
    assert [verb for verb, *_ in calls_of(plan, 0)].count("posix.fsync") == 1


def test_failed_calls_and_a_selection_that_is_cut_are_left_out() -> None:
    script = collective_writes()
    script.paths.append("/h.h5")
    script.objects.append(TraceObject(0, H, "/d", (8,), (8,), (), 4))
    boxes = np.zeros((1, 2, 1), np.int64)
    script.shapes.append(TraceShape(0, ShapeKind.BOXES, (8,), boxes=boxes, truncated=True))
    script.call(0, H, Op.WRITE, "H5Dwrite", "/h.h5", object=0, shape=0, bytes=4)
    script.call(0, P, Op.OPEN, "open", "/not/there", flags=1)
    plan = build_plan(script.trace())
    assert plan.notes == ("left out: 1 call, a selection is not listed completely in the trace",)
    assert layers(plan) == {"mpiio"}


def test_a_rank_may_make_no_calls() -> None:
    script = Script(2)
    script.call(0, P, Op.OPEN, "open", "/f", offset=6)
    text = plan_text(build_plan(script.trace()))
    assert "\nsection 1 0\n" in text
    assert "\nrank 1 1\n" in text


def test_a_plan_is_its_owners_alone(tmp_path: Path) -> None:
    plan = build_plan(collective_writes().trace())
    write_plan(plan, tmp_path / "plan")
    assert stat.S_IMODE((tmp_path / "plan").stat().st_mode) == 0o600
    assert (tmp_path / "plan").read_text() == plan_text(plan)


def test_no_more_than_documented_stands_in_a_call() -> None:
    line = plan_text(build_plan(collective_writes().trace())).split("section 0 3\n")[1]
    assert len(line.splitlines()[0].split()) == 14
    assert CALL_ROW.itemsize == 14 * 8


def test_a_run_equals_itself_and_differs_from_a_changed_one() -> None:
    trace = collective_writes().trace()
    assert not compare(trace, trace)
    other = collective_writes().trace()
    other.rows["offset"][5] += 8
    found = compare(trace, other)
    assert found.n_different == 1
    assert "rank 0, out.dat, mpiio, call 4" in found.texts[0]
    shorter = collective_writes(2).trace()
    assert compare(trace, shorter).n_different == 8


def test_a_dataset_is_filled_where_its_creation_wrote_as_much() -> None:
    kinds = {}
    for written in (4096, 96):  # the dataset's bytes; metadata alone
        script = Script(1, names=["H5Dcreate2"])
        script.objects.append(TraceObject(0, H, "/d", (512,), (512,), (), 8, "float"))
        script.call(0, H, Op.OPEN, "H5Fcreate", "/f.h5", offset=15)
        script.call(0, H, Op.META, "H5Dcreate2", "/f.h5", object=0)
        script.call(0, M, Op.WRITE, "MPI_File_write_at", "/f.h5", parent=0, depth=1, bytes=written)
        script.call(0, H, Op.CLOSE, "H5Fclose", "/f.h5")
        kinds[written] = [one.split()[0] for one in build_plan(script.trace()).objects]
    assert kinds == {4096: ["filled"], 96: ["dataset"]}
