#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What capture costs the program; one run prints one table.

    make bench                      or:  native/bench/cost_of_capture.py [--json] [--directory D]

Four processes, without the library, with counters, with capture that folds and with capture of
every event, write 4 KiB blocks in turns, block by block in random order; cost per call is the
median over the turns of the difference to the one without, with its 95 % interval by order
statistics.  Trace bytes per call: what a container grows by between two numbers of calls.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cost_per_call import BENCH, NATIVE, Figure, blockwise, difference

SEED = 1
SECTOR = 512
MODES = ("none", "counters", "fold", "all")
GOAL_NS, GOAL_PER_CENT = 250, 1
HDF5 = ("hdf5-mpich", "hdf5")


class Turns:
    """Processes of the four modes that take turns."""

    def __init__(self, bench: Bench, *arguments: object) -> None:
        self.processes = {mode: bench.start(mode, *arguments) for mode in MODES}

    def turn(self, mode: str) -> float:
        """Nanoseconds per call in one block of calls."""
        process = self.processes[mode]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    def turns(self, number: int) -> dict[str, list[float]]:
        """So many blocks of each, in random order."""
        chance = random.Random(SEED)
        found: dict[str, list[float]] = {mode: [] for mode in MODES}
        for mode in MODES:
            self.turn(mode)
        for _ in range(number):
            for mode in chance.sample(MODES, len(MODES)):
                found[mode].append(self.turn(mode))
        return found

    def end(self) -> dict[str, float]:
        """Microseconds between the return of main and the end of each process."""
        leaving = {}
        for mode, process in self.processes.items():
            out, _ = process.communicate()
            leaving[mode] = (time.monotonic_ns() - float(out.split()[-1])) / 1e3
        return leaving


class Bench:
    """Builds the library, its plug-in and the program; starts it in a mode."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ways = ["posix"]
        self.number = 0

    def build(self) -> None:
        """Build what is measured, as it is released."""
        self._cmake("core", "-DSW_PART=core")
        compiler, flags = "cc", []
        if shutil.which("mpicc.mpich"):
            compiler, flags = "mpicc.mpich", ["-DWITH_MPI"]
            self.ways.append("mpiio")
            options = ("-DSW_PART=mpi", "-DSW_MPI_FAMILY=mpich", "-DSW_MPI_MAJOR=4")
            self._cmake("plugin", *options, "-DCMAKE_C_COMPILER=mpicc.mpich")
        if hdf5 := self._hdf5():
            flags += ["-DWITH_HDF5", *hdf5]
            self.ways.append("hdf5")
        source = BENCH / "cost_of_capture.c"
        self._checked([compiler, "-O2", "-o", self.directory / "program", source, *flags])

    def start(self, mode: str, *arguments: object) -> subprocess.Popen[str]:
        """The program in a mode, waiting for its first turn."""
        self.number += 1
        containers = self.directory / f"containers-{mode}-{self.number}"
        containers.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        if mode != "none":
            environment |= {
                "LD_PRELOAD": str(self.directory / "core" / "libstripewise.so"),
                "STRIPEWISE_DIRECTORY": str(containers),
                "STRIPEWISE_INCLUDE": str(self.directory),
                "STRIPEWISE_PLUGIN_PATH": str(self.directory / "plugin"),
            }
        if mode in ("fold", "all"):
            environment["STRIPEWISE_CAPTURE"] = mode
            environment["STRIPEWISE_CAPTURE_BYTES"] = str(1 << 30)
        what, *rest = map(str, arguments)
        return subprocess.Popen(
            [self.directory / "program", what, f"data-{mode}", *rest],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def container_bytes(self, mode: str, calls: int, *order: str) -> int:
        """Written sectors of the containers of a process that made so many calls, in bytes."""
        process = self.start(mode, "posix", 4096, calls, *order)
        process.communicate("go\n")
        place = self.directory / f"containers-{mode}-{self.number}"
        used = 0
        for path in place.glob("*.sw"):
            held = path.read_bytes()
            sectors = range(0, len(held), SECTOR)
            used += sum(SECTOR for at in sectors if any(held[at : at + SECTOR]))
        return used

    def _hdf5(self) -> list[str]:
        for name in HDF5:
            command = ["pkg-config", "--cflags", "--libs", name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout.split()
        return []

    def _cmake(self, name: str, *options: str) -> None:
        build = self.directory / name
        target = ["--target", "stripewise-mpi"] if name == "plugin" else []
        self._checked(["cmake", "-S", NATIVE, "-B", build, *options])
        self._checked(["cmake", "--build", build, *target])

    def _checked(self, command: Sequence[str | Path]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"cost_of_capture: {command[0]} failed:\n{done.stdout}{done.stderr}")


def per_call(bench: Bench, way: str, turns: int) -> list[Figure]:
    """Cost of a 4 KiB write in each mode, over that without the library."""
    taking = Turns(bench, way, 4096, 40)
    found = taking.turns(turns)
    taking.end()
    alone = statistics.median(found["none"])
    figures = []
    for mode in MODES[1:]:
        pairs = list(zip(found[mode], found["none"], strict=True))
        value, low, high = blockwise(pairs, max(1, turns // 40))
        goal = None if mode == "counters" else GOAL_NS
        name = f"cost per 4 KiB write, {way}, {mode}"
        figures.append(Figure(name, "ns", value, low, high, alone, "ns", turns, goal))
    return figures


def synced(bench: Bench, turns: int) -> list[Figure]:
    """Share of run time at 64 KiB writes that are synced one by one."""
    taking = Turns(bench, "synced", 65536, 4)
    found = taking.turns(turns)
    taking.end()
    alone = statistics.median(found["none"])
    figures = []
    for mode in MODES[1:]:
        pairs = list(zip(found[mode], found["none"], strict=True))
        scaled = [100 * value / alone for value in difference(pairs)]
        name = f"share of run time, 64 KiB synced, {mode}"
        figures.append(
            Figure(name, "%", *scaled, alone / 1e3, "us", turns, GOAL_PER_CENT)  # type: ignore[arg-type]
        )
    return figures


def leaving(bench: Bench, runs: int) -> list[Figure]:
    """Time at exit after 40000 writes at random places."""
    found: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(runs):
        taking = Turns(bench, "posix", 4096, 40000, "random")
        for mode in MODES:
            taking.turn(mode)
        for mode, microseconds in taking.end().items():
            found[mode].append(microseconds)
    alone = statistics.median(found["none"])
    return [
        Figure(
            f"time at exit, {mode}",
            "us",
            *difference(list(zip(found[mode], found["none"], strict=True))),
            alone,
            "us",
            runs,
        )
        for mode in MODES[1:]
    ]


def trace_bytes(bench: Bench, calls: int) -> list[Figure]:
    """Growth of a container per call."""
    figures = []
    for order in ((), ("random",)):
        for mode in MODES[2:]:
            few = bench.container_bytes(mode, calls // 10, *order)
            many = bench.container_bytes(mode, calls, *order)
            value = (many - few) / (calls - calls // 10)
            name = f"trace bytes per call, {order[0] if order else 'regular'}, {mode}"
            figures.append(Figure(name, "B", value, value, value, few / 1024, "KiB", calls))
    return figures


def main() -> None:
    """Measure, and print the table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--directory", type=Path, help="file system to write to (default: temp)")
    parser.add_argument("--quick", action="store_true", help="fewer samples, for a first look")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        bench = Bench(Path(place))
        bench.build()
        figures = [f for way in bench.ways for f in per_call(bench, way, 4000 // scale)]
        figures += synced(bench, 400 // scale)
        figures += leaving(bench, 40 // scale)
        figures += trace_bytes(bench, 50000)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
        return
    print(f"{'':42} {'value':>10} {'95 % interval':>22} {'goal':>8} {'without':>14} {'n':>6}")
    for f in figures:
        goal = "" if f.goal is None else f"<{f.goal:g}"
        interval = f"{f.low:.3g} .. {f.high:.3g}"
        print(
            f"{f.name:42} {f.value:>7.3g} {f.unit:<3} {interval:>21} {goal:>8} "
            f"{f.without:>10.4g} {f.without_unit:<3} {f.samples:>6}"
        )


if __name__ == "__main__":
    main()
