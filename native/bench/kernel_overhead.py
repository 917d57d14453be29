#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the kernel's bandwidth with that of a plain C program that writes the same bytes.

    make bench                 or:  native/bench/kernel_overhead.py [--json] [--directory D]

Eight variables of consecutive floats per rank (pattern vpic) are written into one shared file,
independent and collective, and into a file per process, fifteen times per run: in memory (tmpfs,
where only the programs take time) and synced on a disk. Kernel and plain program take turns, in
random order within each pair. The figure is the median of the logarithms of the ratios of
bandwidths, with an interval of at least 95 % from order statistics, as a change in per cent: below
0, the kernel is slower.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
KERNELS = BENCH.parent / "kernels"
VARIABLES = 8  # of pattern vpic, of 4 bytes an element
RANKS = 2
STEPS = 15  # of a run; the median step counts
GOAL_PER_CENT = 3.0
MEMORY = Path("/dev/shm")
SEED = 1
MODES = {
    "independent": ["--backend", "mpiio", "--no-view"],
    "collective": ["--backend", "mpiio", "--mode", "collective"],
    "process": ["--backend", "posix", "--layout", "per-process"],
}
NAMES = {
    "independent": "shared file, MPI_File_write_at",
    "collective": "shared file, MPI_File_write_at_all",
    "process": "file per process, pwrite",
}


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
        change / low / high: Ratio of the kernel's bandwidth to the plain program's, minus one,
            with its interval, in per cent.
        plain_seconds: Median I/O time of the plain program.
    """

    name: str
    mpi: str
    synced: bool
    change: float
    low: float
    high: float
    plain_seconds: float
    pairs: int
    goal_per_cent: float = GOAL_PER_CENT

    @property
    def verdict(self) -> str:
        """Return the conclusion from the interval about the goal."""
        if self.low >= -self.goal_per_cent:
            return "reached"
        return "missed" if self.high < -self.goal_per_cent else "open"


def order_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest interval of order statistics that contains the median with 95 %."""
    ordered = sorted(values)
    n = len(ordered)
    tail = 0.0  # probability that fewer than `rank` + 1 values lie below the median
    rank = -1
    while tail + math.comb(n, rank + 1) / 2**n <= 0.025:
        rank += 1
        tail += math.comb(n, rank) / 2**n
    rank = max(rank, 0)
    return ordered[rank], ordered[n - 1 - rank]


def per_cent(logarithm: float) -> float:
    """Return a logarithm of a ratio as a change in per cent."""
    return 100.0 * (math.exp(logarithm) - 1.0)


class Bench:
    """Kernel and plain program, built with one MPI."""

    def __init__(self, family: str, directory: Path, mib_per_rank: int) -> None:
        self.family = family
        self.directory = directory
        self.elements = mib_per_rank * 2**20 // VARIABLES // 4
        self.kernel = directory / f"kernel-{family}"
        self.plain = directory / f"plain-{family}"
        self.chance = random.Random(SEED)

    def build(self) -> None:
        """Build both in the same way."""
        sources = sorted(map(str, KERNELS.rglob("*.c")))
        compiler = [f"mpicc.{self.family}", "-O2", "-std=c11"]
        for words in (
            [*compiler, *sources, "-o", str(self.kernel), "-lm"],
            [*compiler, str(BENCH / "kernel_overhead.c"), "-o", str(self.plain)],
        ):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"kernel_overhead: {words[0]} failed:\n{done.stderr}")

    def run(self, *words: str) -> str:
        """Run on all ranks, and return the output."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(
            [f"mpiexec.{self.family}", "-n", str(RANKS), *words],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"kernel_overhead: {words[0]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def kernel_seconds(self, mode: str, synced: bool) -> float:
        """Return the I/O time of the kernel's median step; the kernel removes its files."""
        words = [*MODES[mode], "--pattern", "vpic", "--local", str(self.elements), "--json", "-"]
        words += ["--file", "data", "--steps", str(STEPS)] + (["--fsync"] if synced else [])
        result = json.loads(self.run(str(self.kernel), *words))
        return statistics.median(step["seconds"] for step in result["steps"])

    def plain_seconds(self, mode: str, synced: bool) -> float:
        """Return the I/O time of the plain program's median step."""
        size = self.elements * 4
        words = [mode, "data", str(VARIABLES), str(size), str(STEPS), str(int(synced))]
        seconds = statistics.median(map(float, self.run(str(self.plain), *words).split()))
        for path in self.directory.glob("data*"):
            path.unlink()
        return seconds

    def compare(self, mode: str, synced: bool, n_pairs: int) -> Figure:
        """Run pairs in random order, after one run of each that does not count."""
        self.kernel_seconds(mode, synced)
        self.plain_seconds(mode, synced)
        logarithms = []
        plain = []
        for _ in range(n_pairs):
            if self.chance.random() < 0.5:
                of_kernel = self.kernel_seconds(mode, synced)
                plain.append(self.plain_seconds(mode, synced))
            else:
                plain.append(self.plain_seconds(mode, synced))
                of_kernel = self.kernel_seconds(mode, synced)
            logarithms.append(math.log(plain[-1] / of_kernel))
        low, high = order_interval(logarithms)
        return Figure(
            NAMES[mode],
            self.family,
            synced,
            per_cent(statistics.median(logarithms)),
            per_cent(low),
            per_cent(high),
            statistics.median(plain),
            n_pairs,
        )


def print_table(figures: Sequence[Figure]) -> None:
    """Print one line per case."""
    print(
        f"{'kernel against a plain loop':36} {'MPI':8} {'':8} {'change':>8} "
        f"{'95 % interval':>18} {'goal':>8} {'plain':>9} {'pairs':>6}"
    )
    for f in figures:
        interval = f"{f.low:+.1f} .. {f.high:+.1f} %"
        print(
            f"{f.name:36} {f.mpi:8} {'synced' if f.synced else 'memory':8} {f.change:>+6.1f} % "
            f"{interval:>18} {f'>-{f.goal_per_cent:g} %':>8} {f.plain_seconds:>7.3f} s "
            f"{f.pairs:>6}  {f.verdict}"
        )


def main() -> None:
    """Measure, and print the table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--directory", type=Path, help="the disk to write to (default: temp)")
    parser.add_argument("--pairs", type=int, default=51, help="per case (default 51)")
    parser.add_argument("--mib", type=int, default=8, help="MiB per rank and step (default 8)")
    parser.add_argument("--quick", action="store_true", help="6 pairs a case, for a first look")
    options = parser.parse_args()
    families = [f for f in ("mpich", "openmpi") if shutil.which(f"mpicc.{f}")]
    figures = []
    n_pairs = 6 if options.quick else options.pairs
    places = [(False, MEMORY), (True, options.directory)]
    if (
        not MEMORY.is_dir()
        or shutil.disk_usage(MEMORY).free < 2 * RANKS * STEPS * options.mib * 2**20
    ):
        print(
            f"left out: {MEMORY} has no room for the files; give a smaller --mib", file=sys.stderr
        )
        del places[0]
    for family in families:
        for synced, where in places:
            with tempfile.TemporaryDirectory(dir=where) as place:
                bench = Bench(family, Path(place), options.mib)
                bench.build()
                figures += [bench.compare(mode, synced, n_pairs) for mode in MODES]
    if options.json:
        print(json.dumps([asdict(f) | {"verdict": f.verdict} for f in figures], indent=2))
    else:
        print_table(figures)


if __name__ == "__main__":
    main()
