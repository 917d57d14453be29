# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of released versions stay readable and mean the same.

trace-v1-mpich, trace-v1-openmpi: data/trace-v1.c on two ranks of MPICH 4.0.2 and Open MPI 4.1.4,
both with HDF5 1.10.8.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stripewise.evidence.containers._join import evidence_of
from stripewise.evidence.trace import Evidence, IoLayer, Op, Pieces, Selections, expand
from support.containers import parse_container

DATA = Path(__file__).parent / "data"
H5, COMB = "/scratch/demo/golden.h5", "/scratch/demo/comb.dat"


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def golden(request: pytest.FixtureRequest) -> Evidence:
    data = gzip.decompress((DATA / f"trace-v1-{request.param}.sw.gz").read_bytes())
    return evidence_of([parse_container(data, events=True)])


def test_profile(golden: Evidence) -> None:
    profile = golden.profile
    assert (profile.n_ranks, profile.n_processes, profile.partial) == (2, 2, False)
    assert profile.command.endswith("-n 2 ./golden")
    assert profile.notes == ()
    written = profile.counters[profile.counters["layer"] == IoLayer.HDF5]
    assert written["outermost_write_bytes"].sum() == 2 * 384
    assert profile.heat_bin_seconds > 0


def test_calls(golden: Evidence) -> None:
    trace = golden.trace
    assert trace is not None
    assert (trace.n_ranks, trace.lost_calls, len(trace.objects)) == (2, 0, 1)
    calls = expand(trace)
    rank = calls[calls["rank"] == 1]
    names = [trace.names[i] for i in rank["name"]]
    assert names[0] == "H5Fcreate"
    assert names.count("H5Dwrite") == 1
    write = rank[names.index("H5Dwrite")]
    assert (write["op"], write["bytes"], write["offset"]) == (Op.WRITE_COLLECTIVE, 384, 48)
    below = rank[rank["parent"] == write["name"]]
    assert "MPI_File_write_at_all" in {trace.names[i] for i in below["name"]}
    assert {trace.names[calls["name"][i]] for i in below["parent_index"]} == {"H5Dwrite"}
    assert set(calls["rank"][below["parent_index"]]) == {1}
    views = {trace.names[i] for i in rank["name"][rank["view"] >= 0]}
    assert "MPI_File_write_at" in views
    own = rank[[trace.paths[i].endswith("own.1") for i in rank["file"]]]
    assert own["offset"][own["op"] == Op.WRITE].tolist() == [1024 * i for i in range(10)]


def test_runs_are_folded(golden: Evidence) -> None:
    trace = golden.trace
    assert trace is not None
    rows = trace.rows[trace.rows["count"] == 10]
    assert rows["stride"][:, 0].tolist() == [1024, 1024]
    assert rows["bytes"].tolist() == [512, 512]
    assert (rows["durations"].sum(axis=1) == 10).all()
    assert (rows["busy_ns"] >= 10 * rows["min_ns"]).all()
    assert (rows["end_ns"] >= rows["last_start_ns"]).all()


def test_the_dataset(golden: Evidence) -> None:
    (found,) = [entry for entry in golden.accesses if isinstance(entry, Selections)]
    assert (found.file, found.dataset, found.extents) == (H5, "/values", (16, 6))
    assert (found.element_bytes, found.writing, found.n_ranks) == (8, True, 2)
    assert found.rank.tolist() == [0, 1]
    assert found.start.tolist() == [[0, 0], [8, 0]]
    assert (found.count * found.block).tolist() == [[8, 6]] * 2
    assert found.collective.all()


def test_the_comb(golden: Evidence) -> None:
    (found,) = [
        entry for entry in golden.accesses if isinstance(entry, Pieces) and entry.file == COMB
    ]
    assert (found.source, found.element_bytes) == ("view", 4)
    assert found.repeat.tolist() == [4] * 8
    assert found.size.tolist() == [16] * 8
    assert found.stride[:, 0].tolist() == [32] * 8
    # A filetype of four pieces spans 7 pieces' room: the next begins right behind its last one.
    for rank in (0, 1):
        mine = found.rank == rank
        assert found.offset[mine].tolist() == [112 * i + 16 * rank for i in range(4)]
        assert found.order[mine].tolist() == [0, 1, 2, 3]
