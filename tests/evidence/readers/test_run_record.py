# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one record of a run: who its processes are, who shares a file, facts of any source."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.evidence.facts import program_facts
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

POSIX = IoLayer.POSIX


def process(pid: int, ppid: int, *files: FakeFile, exe: str = "/usr/bin/work") -> FakeProcess:
    return FakeProcess({"pid": pid, "ppid": ppid, "rank": -1, "exe": exe}, files)


def wrote(path: str, size: int = 10) -> FakeFile:
    return FakeFile(path, POSIX, 0, {Op.WRITE: (1, size, 5)}, (5, 0, size))


def read(path: str, size: int = 10) -> FakeFile:
    return FakeFile(path, POSIX, 0, {Op.READ: (1, size, 5)}, (5, size, 0))


def profile_of(*processes: FakeProcess):
    return join_containers([parse_container(build_container(processes))])


def test_workers_without_mpi_are_processes_and_a_reader_is_no_writer() -> None:
    pool = profile_of(
        process(10, 1, read("/d/a"), read("/d/b"), wrote("/d/all")),
        process(11, 10, wrote("/d/a")),
        process(12, 10, wrote("/d/b")),
    )
    assert not pool.is_mpi
    assert (pool.n_ranks, pool.n_processes) == (0, 3)
    actors = {path: [] for path in pool.paths}
    for file, actor in zip(pool.counters["file"], pool.actors, strict=True):
        actors[pool.paths[file]].append(int(actor))
    assert {path: sorted(found) for path, found in actors.items()} == {
        "/d/a": [0, 1], "/d/b": [0, 2], "/d/all": [0],
    }  # fmt: skip


def test_a_launcher_stands_behind_the_program_and_counts_apart() -> None:
    found = profile_of(
        process(1, 0, read("/d/hosts"), exe="/usr/bin/orterun"), process(2, 1, wrote("/d/out"))
    )
    assert found.processes["is_program"].tolist() == [True, False]
    assert [found.paths[file] for file in found.counters["file"]] == ["/d/out"]
    assert [found.paths[file] for file in found.helpers["file"]] == ["/d/hosts"]
    assert (found.counters["bytes"].sum(), found.helpers["bytes"].sum()) == (10, 10)


def test_facts_come_from_a_darshan_log_too() -> None:
    darshan = pytest.importorskip("darshan")
    log = Path(darshan.__file__).parent / "examples" / "example_logs" / "example.darshan"
    profile = read_evidence(log).profile
    facts = program_facts(profile)
    assert facts.n_ranks == profile.n_ranks > 1
    assert facts.collective_bytes > 0
    assert facts.shared_files >= 1
    assert facts.write_bytes == profile.write_bytes > 0
    assert 0 < facts.io_seconds <= facts.elapsed_seconds
    assert not facts.matched_calls  # sums over all ranks do not prove it


def test_facts_come_from_the_output_of_mpich_mpiio_stats(tmp_path: Path) -> None:
    output = tmp_path / "job.out"
    lines = (
        ("independent writes", 0),
        ("collective writes", 64),
        ("independent writers", 0),
        ("aggregators", 4),
        ("system writes", 32),
        ("total bytes for writes", 1 << 20),
    )
    text = "".join(f"|   {key:<25} = {value}\n" for key, value in lines)
    output.write_text(f"| MPIIO write access patterns for /d/out.nc\n{text}+----\n")
    facts = program_facts(read_evidence(output).profile)
    assert (facts.collective_bytes, facts.write_calls) == (1 << 20, 64)
    assert facts.shared_files == 1
