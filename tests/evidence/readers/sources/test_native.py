# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers are recognised by what is in them; a directory of them is one run."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from stripewise.core.errors import StorageError, TraceError
from stripewise.evidence.readers import SOURCES, collect_containers, read_evidence, recognise
from stripewise.evidence.trace import COUNTER_ROW, IoLayer, Op, heat_of
from support.containers import FakeFile, FakeProcess, build_container
from support.trace_samples import (
    MPI,
    OUT,
    evidence,
    mixed_container,
    one_thread,
    rank,
    write_container,
)
from support.traces import FakeBins, FakeCall


def test_a_container_whatever_its_name(tmp_path: Path) -> None:
    path = write_container(tmp_path, "renamed.darshan", mixed_container())
    assert recognise(path).name == "stripewise"
    found = read_evidence(path)
    assert found.trace is not None
    assert found.profile.n_ranks == 2


def test_a_directory_of_nodes_is_one_run(tmp_path: Path) -> None:
    for number in range(2):
        data = build_container([rank(number, 2, one_thread(FakeCall(OUT)))], host=f"n{number}")
        write_container(tmp_path / "t", f"n{number}.sw", data)
    found = read_evidence(tmp_path / "t")
    assert found.profile.hosts == ("n0", "n1")
    assert found.trace is not None
    assert len(found.trace.rows) == 2
    same = read_evidence(sorted((tmp_path / "t").iterdir()))
    assert same.profile.n_processes == 2


def test_kept_containers_lie_a_directory_deeper(tmp_path: Path) -> None:
    write_container(tmp_path / "run-id", "n0.sw", mixed_container())
    assert read_evidence(tmp_path).profile.n_ranks == 2


def test_containers_of_two_runs_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_container(tmp_path, f"{name}.sw", build_container([], run_id=name))
    with pytest.raises(TraceError, match=r"containers of 2 runs \(a, b\)"):
        read_evidence(tmp_path)


@pytest.mark.parametrize("content", [b"", b"text\n", bytes(5000)])
def test_what_nothing_reads_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.sw"
    path.write_bytes(content)
    with pytest.raises(TraceError, match="what can be read is") as caught:
        read_evidence(path)
    assert "\n" not in str(caught.value)
    for source in SOURCES:
        assert source.summary in str(caught.value)


def test_every_source_keeps_the_contract(tmp_path: Path) -> None:
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    for source in SOURCES:
        assert source.budget.file_bytes > 0
        assert not source.recognises(tmp_path / "gone")
        assert not source.recognises(tmp_path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        TraceError, match=r"gone: No such file.*`stripewise run --trace -- COMMAND`"
    ):
        read_evidence(tmp_path / "gone")
    with pytest.raises(TraceError, match="nothing to read"):
        read_evidence([])


def test_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(
        TraceError, match=r"empty directory; what can be read.*`stripewise run --trace"
    ):
        read_evidence(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing\n")
    with pytest.raises(TraceError, match="nothing in this directory is recognised"):
        read_evidence(tmp_path)


def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(TraceError, match="Permission denied; traces are for their owner alone"):
        read_evidence(tmp_path)


def test_profile_of_counters() -> None:
    posix = FakeFile(
        OUT,
        ops={Op.WRITE: (4, 400, 8_000_000)},
        outermost=(10**9, 0, 400),
        write_alignment={0: 3, 20: 1},
        extremes=(100, 100),
    )
    hints = [(OUT, MPI, 3, "striping_unit=1048576\nstriping_factor=4\n")]
    process = FakeProcess(rank(0, 1, None).fields, [posix], hints)
    profile = evidence(process).profile
    (row,) = profile.counters
    assert row.dtype == COUNTER_ROW
    assert (row["count"][Op.WRITE], row["bytes"][Op.WRITE]) == (4, 400)
    assert row["seconds"][Op.WRITE] == pytest.approx(0.008)
    assert (row["alignment"], row["unaligned"]) == (1 << 20, 3)
    assert (row["common_size"][0], row["common_count"][0]) == (100, 4)
    assert profile.layouts[0].stripe_count == 4
    assert profile.hints[0].reported["striping_unit"] == "1048576"
    assert profile.command == "mpiexec ./app"
    assert profile.elapsed_seconds == pytest.approx(1.0)
    assert (profile.partial, profile.heat_bin_seconds) == (False, 0.0)


def test_common_sizes_come_from_the_trace() -> None:
    calls = [FakeCall(OUT, bytes=size, count=n, sequence=10 * n) for size, n in ((8, 5), (3, 9))]
    rows = evidence(rank(0, 1, one_thread(*calls))).profile.counters
    (row,) = rows[rows["layer"] == IoLayer.POSIX]
    assert row["common_size"].tolist() == [3, 8, 0, 0]
    assert row["common_count"].tolist() == [9, 5, 0, 0]


def test_a_killed_process_is_told() -> None:
    profile = evidence(rank(0, 1, None, flags=1, end_ns=0)).profile
    assert profile.partial
    assert "1 of 1 processes did not reach their end (killed?)" in profile.notes


def test_missing_ranks_are_told() -> None:
    profile = evidence(rank(0, 4, None)).profile
    assert profile.partial
    assert "only 1 of 4 ranks" in profile.notes[0]


def test_heat_is_exact_over_bins_of_all_widths() -> None:
    """Rank 1 began half a bin later, so its bins lie across two common ones."""
    width = 1 << 25
    fine = FakeBins(OUT, MPI, [(0, 24, 1, 0, 64, 10), (width // 2, 24, 1, 0, 32, 10)])
    wide = FakeBins(OUT, MPI, [(0, 25, 1, 0, 100, 20)])
    late = width // 2
    ranks = [
        rank(0, 2, one_thread(bins=[fine]), start_ns=10**18, clock_ns=0),
        rank(1, 2, one_thread(bins=[wide]), start_ns=10**18 + late, clock_ns=late),
    ]
    found = evidence(*ranks)
    heat = found.profile.heat
    assert found.profile.heat_bin_seconds == pytest.approx(width * 1e-9)
    cells = {(int(r["rank"]), int(r["bin"])): float(r["write_bytes"]) for r in heat}
    assert cells == {(0, 0): 96.0, (1, 0): 50.0, (1, 1): 50.0}
    assert heat["busy_seconds"].sum() == pytest.approx(40e-9)
    assert found.trace is not None
    assert heat_of(found.trace.bins[:0])[1] == 0.0


def test_collecting(tmp_path: Path) -> None:
    first = write_container(tmp_path / "n0", "n0.sw", build_container([], host="n0"))
    write_container(tmp_path / "n1", "n1.sw", build_container([], host="n1"))
    target = tmp_path / "all.trace"
    (copy,) = collect_containers([tmp_path / "n0"], target)
    collect_containers([tmp_path / "n1" / "n1.sw"], target)
    assert sorted(path.name for path in target.iterdir()) == ["n0.sw", "n1.sw"]
    assert copy.read_bytes() == first.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_mode & 0o777 == 0o700
    collect_containers([first], target)


def test_collecting_refuses(tmp_path: Path) -> None:
    one = write_container(tmp_path, "a.sw", build_container([], run_id="a"))
    other = write_container(tmp_path / "b", "b.sw", build_container([], run_id="b"))
    with pytest.raises(TraceError, match="of 2 runs"):
        collect_containers([one, other], tmp_path / "c")
    assert not (tmp_path / "c").exists()
    collect_containers([one], tmp_path / "c")
    with pytest.raises(TraceError, match="of 2 runs"):
        collect_containers([other], tmp_path / "c")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match="nothing to collect"):
        collect_containers([tmp_path / "empty"], tmp_path / "c")
    with pytest.raises(TraceError, match="neither a container"):
        collect_containers([tmp_path / "gone"], tmp_path / "c")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot collect"):
        collect_containers([one], tmp_path / "file" / "d")


def test_many_ranks_are_joined_quickly() -> None:
    calls = [FakeCall(OUT, sequence=i, start_ns=i) for i in range(1, 30)]
    ranks = [rank(i, 100, one_thread(*calls)) for i in range(100)]
    found = evidence(*ranks)
    assert found.trace is not None
    assert len(found.trace.rows) == 2900
    assert np.array_equal(found.trace.process_rank, np.arange(100))
