# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures a look-up in a large knowledge base, in a running and in a new process.

python benchmarks/lookup.py [--cases 5000] [--keep FILE]

All cases are of one MPI family, so that all of them are compared.  Patterns and scales differ from
case to case; there are 40 stacks, 160 kinds of nodes and storage, and 2,000 executables.  Every
study tried 20 configurations.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stripewise.core import PatternSummary
from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    Store,
    StudiedCase,
    Tried,
)

SHAPES = (
    (("BLOCK",), (1,)), (("BLOCK", "*"), (1, 4096)), (("*", "BLOCK"), (64, 1)),
    (("*", "*", "BLOCK"), (1, 26, 1)), (("BLOCK", "BLOCK", "BLOCK"), (1, 64, 64)),
    (("BLOCK", "*", "*", "*"), (1, 8, 8, 8)), (("CYCLIC(16)", "*"), (1, 8)),
    (("BLOCK", "BLOCK"), (1, 128)),
)  # fmt: skip
REPEATS = 21
COLD = """
import sys, time, json
began = time.perf_counter()
from stripewise.learning.knowledge import Store
from pathlib import Path
import benchmarks_lookup as bench
imported, busy = time.perf_counter(), time.process_time()
found, known = Store(Path(sys.argv[1])).nearest(bench.a_case(int(sys.argv[2])))
done, busy = time.perf_counter(), time.process_time() - busy
print(json.dumps([imported - began, done - imported, len(found), known, busy]))
"""


def a_case(seed: int) -> StudiedCase:
    """Return a random program on a machine."""
    chance = random.Random(seed)
    ranks = 2 ** chance.randint(3, 13)
    fingerprint = Fingerprint(
        program=f"program{chance.randint(0, 400)}",
        executable_sha256=hashlib.sha256(str(chance.randint(0, 2000)).encode()).hexdigest(),
        n_ranks=ranks,
        n_hosts=max(1, ranks // 32),
        collective_share=chance.choice([0.0, 1.0]),
        bytes_per_call_log2=round(chance.uniform(10, 26), 3),
        calls_per_rank_log2=round(chance.uniform(0, 12), 3),
        shared_files=chance.randint(0, 3),
        uses_hdf5=chance.random() < 0.5,
        patterns=tuple(_pattern(chance, ranks, share) for share in (0.7, 0.2, 0.1)),
        volume_log2=round(chance.uniform(28, 44), 3),
    )
    machine = Machine(
        "x86_64",
        f"CPU {chance.randint(0, 4)}",
        64,
        chance.choice([256, 512]) << 30,
        f"5.{chance.randint(11, 14)}.0",
        "lustre",
        "network",
        f"{chance.randint(0, 3):016x}",
    )
    mpi = f"{chance.randint(3, 4)}.{chance.randint(0, 3)}.{chance.randint(0, 4)}"
    return StudiedCase(machine, LibraryVersions("mpich", mpi, "romio", "so.310"), fingerprint)


def _pattern(chance: random.Random, ranks: int, share: float) -> PatternSummary:
    names, block = chance.choice(SHAPES)
    place = next(at for at, name in enumerate(names) if name != "*")
    cut = [1] * len(names)
    cut[place] = ranks
    size = list(block)
    size[place] = 2 ** chance.randint(4, 22)
    return PatternSummary(
        chance.random() < 0.8, names, tuple(cut), tuple(size), chance.choice([4, 8]),
        collective=chance.choice([0.0, 1.0]), share=share,
    )  # fmt: skip


def a_lesson(seed: int) -> Lesson:
    """Return a study of a program."""
    chance = random.Random(seed)
    tried = tuple(
        Tried(
            {
                "mpiio.striping_factor": 2 ** chance.randint(0, 7),
                "mpiio.striping_unit": 2 ** chance.randint(20, 27),
                "mpiio.cb_nodes": 2 ** chance.randint(0, 8),
            },
            io_ratio=round(chance.uniform(0.2, 2), 3),
            n_runs=1,
        )
        for _ in range(20)
    )
    best = min(tried, key=lambda one: one.io_ratio or 9)
    ratio = 1 / (best.io_ratio or 1)
    return Lesson(
        hashlib.md5(str(seed).encode(), usedforsecurity=False).hexdigest(),
        1.7e9 + seed,
        a_case(seed),
        True,
        dict(best.settings),
        Effect(ratio, 0.9 * ratio, 1.1 * ratio, 6),
        tried=tried,
        n_runs=40,
    )


def build(path: Path, cases: int) -> float:
    """Fill a store; return the seconds that it took."""
    began = time.perf_counter()
    store = Store(path)
    for start in range(0, cases, 5000):
        store.add([a_lesson(seed) for seed in range(start, min(start + 5000, cases))])
    return time.perf_counter() - began


def warm(path: Path) -> list[tuple[float, float]]:
    """Return wall clock and processor time of look-ups in this process, in seconds."""
    store, seconds = Store(path), []
    for seed in range(REPEATS):
        case = a_case(-1 - seed)
        began, busy = time.perf_counter(), time.process_time()
        store.nearest(case)
        seconds.append((time.perf_counter() - began, time.process_time() - busy))
    return seconds


def cold(path: Path) -> list[list[float]]:
    """Return, for new processes: seconds of imports, of the first look-up, near, kept, busy."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "benchmarks_lookup.py").write_text(Path(__file__).read_text())
        return [
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", COLD, str(path), str(-1 - seed)],
                    env={"PYTHONPATH": os.pathsep.join((directory, *sys.path))},
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for seed in range(REPEATS)
        ]


def main() -> None:
    """Build, look up, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--keep", type=Path, default=None, help="file of the store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = options.keep or Path(directory, "knowledge.sqlite")
        if not path.exists():
            print(f"{options.cases} cases kept in {build(path, options.cases):.0f} s")
        print(f"file {path.stat().st_size / 2**20:.0f} MiB")
        print(f"look-up, running process: {_said(warm(path))}")
        runs = cold(path)
        print(f"look-up, new process: {_said([(run[1], run[4]) for run in runs])}")
        imports = statistics.median(run[0] for run in runs)
        near = statistics.median(run[2] for run in runs)
        print(f"imports of a new process: {1e3 * imports:.0f} ms; {near:.0f} of {runs[0][3]} read")


def _said(seconds: list[tuple[float, float]]) -> str:
    walls, busy = ([1e3 * one for one in column] for column in zip(*seconds, strict=True))
    return (
        f"median {statistics.median(walls):.1f} ms, most {max(walls):.1f} ms;"
        f" processor time median {statistics.median(busy):.1f} ms"
    )


if __name__ == "__main__":
    main()
