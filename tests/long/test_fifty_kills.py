# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL at 50 random moments: every trace is readable and complete to the last completed call.

The victim keeps the number of its completed calls in shared memory.  The trace has as many, or
one more for each thread: the call that was ending.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op, Trace, expand
from stripewise.run.runtime import find_runtime
from support.amounts import share_of

pytestmark = [pytest.mark.long, pytest.mark.mpi, pytest.mark.timeout(900)]

SOURCE = Path(__file__).parent / "programs" / "capture_victim.c"
THREADS = 4  # counters of a rank
ROW = 64


@dataclass(frozen=True)
class Case:
    """A kind of victim."""

    name: str
    kills: int
    layer: IoLayer
    threads: int = 1
    ranks: int = 0
    capture: str = "fold"

    @property
    def command(self) -> list[str]:
        compiler = ["cc" if not self.ranks else "mpicc.mpich"]
        if self.layer == IoLayer.HDF5:
            compiler = ["h5pcc.mpich", "-shlib"]
        return [*compiler, "-O1", "-pthread", f"-DVICTIM_{self.layer.name}", str(SOURCE)]


CASES = (
    Case("posix", 12, IoLayer.POSIX),
    Case("posix-threads", 12, IoLayer.POSIX, threads=4),
    Case("posix-all", 4, IoLayer.POSIX, threads=2, capture="all"),
    Case("mpiio", 7, IoLayer.MPIIO, ranks=2),
    Case("mpiio-threads", 7, IoLayer.MPIIO, ranks=2, threads=2),
    Case("hdf5", 8, IoLayer.HDF5, ranks=2),
)


def test_there_are_fifty() -> None:
    assert sum(case.kills for case in CASES) == 50


def row_of(k: np.ndarray) -> np.ndarray:
    """As in programs/capture_victim.c."""
    k = k.astype(np.uint64)
    regular = k % 10 + k // 10 % 100 * 16
    mixed = (k + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) % np.uint64(4096)
    return np.where(k // 1000 % 2 == 0, regular, mixed).astype(np.int64)


class Victim:
    """A program that is killed in the midst."""

    def __init__(self, case: Case, program: Path, place: Path) -> None:
        self.case = case
        self.program = program
        self.place = place
        self.work = place / "work"
        self.containers = place / "containers"
        self.counters = place / "counters"
        self.work.mkdir()
        self.containers.mkdir()
        self.counters.write_bytes(bytes(4096))

    def environment(self) -> dict[str, str]:
        runtime = find_runtime()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        return kept | {
            "LD_PRELOAD": str(runtime.core),
            "STRIPEWISE_DIRECTORY": str(self.containers),
            "STRIPEWISE_PLUGIN_PATH": str(runtime.plugin_directory),
            "STRIPEWISE_CAPTURE": self.case.capture,
            "STRIPEWISE_CAPTURE_BYTES": str(1 << 30),
            "STRIPEWISE_INCLUDE": str(self.work),
        }

    def completed(self) -> np.ndarray:
        """(ranks, THREADS, 8) counters; word 1 of thread 0 is the rank's pid."""
        ranks = max(self.case.ranks, 1)
        words = np.fromfile(self.counters, np.uint64)[: ranks * THREADS * 8]
        return words.astype(np.int64).reshape(ranks, THREADS, 8)

    def kill(self, chance: Random) -> np.ndarray:
        """Completed calls of each thread of each rank when the victim was gone."""
        command = [self.program, self.counters, str(self.case.threads)]
        if self.case.ranks:
            command = ["mpiexec.mpich", "-n", str(self.case.ranks), *command]
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not self.completed()[:, : self.case.threads, 0].all():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.2))
        for pid in self.completed()[:, 0, 1].tolist():
            # The launcher kills the other ranks as soon as one is gone.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(timeout=60)
        return self.completed()[:, : self.case.threads, 0].reshape(-1)


def check_thread(case: Case, trace: Trace, name: str, done: int) -> None:
    """Calls of one thread, which are those to its file, in their order."""
    files = [i for i, path in enumerate(trace.paths) if Path(os.fsdecode(path)).name == name]
    rows = trace.rows[
        np.isin(trace.rows["file"], files)
        & (trace.rows["layer"] == case.layer)
        & (trace.rows["op"] == Op.WRITE)
    ]
    told = expand(trace, rows)
    assert done <= len(told) <= done + 1, name
    np.testing.assert_array_equal(told["offset"], row_of(np.arange(len(told))) * ROW)
    assert (told["bytes"] == ROW).all()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("victims")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_killed_at_random_moments(case: Case, programs: Path, tmp_path: Path) -> None:
    if shutil.which(case.command[0]) is None:
        pytest.skip(f"{case.command[0]} is not installed")
    program = programs / case.name
    subprocess.run([*case.command, "-o", str(program)], check=True, cwd=programs)
    chance = Random(case.name)
    for number in range(share_of(case.kills)):
        place = tmp_path / str(number)
        place.mkdir()
        victim = Victim(case, program, place)
        completed = victim.kill(chance)
        trace = read_evidence(victim.containers).trace
        assert trace is not None
        assert trace.lost_calls == 0
        for index, done in enumerate(completed.tolist()):
            rank, thread = divmod(index, case.threads)
            check_thread(case, trace, f"victim-{rank * THREADS + thread}", done)
        shutil.rmtree(place)
