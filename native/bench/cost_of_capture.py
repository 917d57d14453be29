#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of capture for a program; one run prints one table.

    make bench                      or:  native/bench/cost_of_capture.py [--json] [--directory D]

Cost per call: bursts of 4 KiB writes through the library and around it, interleaved in one
process: with counters, with capture that folds, and with capture of every event. Per block of
bursts, the difference of medians is taken, then the median of the blocks with its 95 % interval by
order statistics. A call is one recorded call: the `pwrite` below an MPI-IO or HDF5 write is a call
of its own, and recorded in both bursts; such a write as a whole costs the sum of the two lines.

Share of run time: the same with 64 KiB writes that are synced one by one. Time at exit: processes
that take turns. Trace bytes per call: growth of a container between two numbers of calls.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Figure, blockwise, difference, options_of, show

BENCH = Path(__file__).resolve().parent
NATIVE = BENCH.parent
SECTOR = 512
MODES = ("none", "counters", "fold", "all")
GOAL_NS, GOAL_PER_CENT = 250, 1
CALLS = 128
"""Number of calls in a burst."""
BLOCKS = 40
HDF5 = ("hdf5-mpich", "hdf5")


class Bench:
    """Builds the library, its plug-in and the program, and starts the program in a mode."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.layers = ["posix"]
        self.number = 0

    def build(self) -> None:
        """Build what is measured, in its release configuration."""
        self._cmake("core", "-DSW_PART=core")
        compiler, flags = "cc", []
        if shutil.which("mpicc.mpich"):
            compiler, flags = "mpicc.mpich", ["-DWITH_MPI"]
            self.layers.append("mpiio")
            options = ("-DSW_PART=mpi", "-DSW_MPI_FAMILY=mpich", "-DSW_MPI_MAJOR=4")
            self._cmake("plugin", *options, "-DCMAKE_C_COMPILER=mpicc.mpich")
        if hdf5 := self._hdf5():
            flags += ["-DWITH_HDF5", *hdf5]
            self.layers.append("hdf5")
        source = BENCH / "cost_of_capture.c"
        program = self.directory / "program"
        self._checked([compiler, "-O2", "-o", program, source, *flags, "-ldl"])

    def start(self, mode: str, what: str, *arguments: object) -> subprocess.Popen[str]:
        """Start the program in a mode."""
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
        return subprocess.Popen(
            [self.directory / "program", what, *map(str, arguments)],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def pairs(self, mode: str, layer: str, *arguments: object) -> list[tuple[float, float]]:
        """Return (with, without) the library, in nanoseconds per call, for two bursts each."""
        out, _ = self.start(mode, "pairs", layer, f"data-{mode}", *arguments).communicate()
        return [(float(w), float(o)) for w, o in (line.split() for line in out.splitlines())]

    def turning(self, mode: str, *arguments: object) -> subprocess.Popen[str]:
        """Return the program after its first turn of POSIX writes."""
        process = self.start(mode, "turns", f"data-{mode}", *arguments)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        process.stdout.readline()
        return process

    def container_bytes(self, mode: str, calls: int, *order: str) -> int:
        """Return the bytes allocated for the containers of a process that made so many calls."""
        self.turning(mode, 4096, calls, *order).communicate()
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


def per_call(bench: Bench, layer: str, bursts: int, *order: str) -> list[Figure]:
    """Return the cost of a 4 KiB write in each mode, relative to one around the library."""
    figures = []
    for mode in MODES[1:]:
        pairs = bench.pairs(mode, layer, 4096, BLOCKS * bursts, CALLS, *order)
        value, low, high = blockwise(pairs, bursts)
        without = statistics.median(o for _, o in pairs)
        goal = None if mode == "counters" else GOAL_NS
        name = ", ".join(("cost per 4 KiB write", layer, *order, mode))
        figures.append(Figure(name, "ns", value, low, high, without, "ns", len(pairs), goal))
    return figures


def synced(bench: Bench, pairs: int) -> list[Figure]:
    """Return the share of run time for 64 KiB writes that are synced one by one."""
    figures = []
    for mode in MODES[1:]:
        found = bench.pairs(mode, "synced", 65536, pairs, 4)
        alone = statistics.median(o for _, o in found)
        value, low, high = (100 * change / alone for change in blockwise(found, pairs // BLOCKS))
        name = f"share of run time, 64 KiB synced, {mode}"
        figures.append(
            Figure(name, "%", value, low, high, alone / 1e3, "us", pairs, GOAL_PER_CENT)
        )
    return figures


def leaving(bench: Bench, runs: int) -> list[Figure]:
    """Return the time at exit after 40000 writes at random offsets."""
    found: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(runs):
        for mode in MODES:
            out, _ = bench.turning(mode, 4096, 40000, "random").communicate()
            found[mode].append((time.monotonic_ns() - float(out.split()[-1])) / 1e3)
    alone = statistics.median(found["none"])
    figures = []
    for mode in MODES[1:]:
        changes = difference(list(zip(found[mode], found["none"], strict=True)))
        figures.append(Figure(f"time at exit, {mode}", "us", *changes, alone, "us", runs))
    return figures


def trace_bytes(bench: Bench, calls: int) -> list[Figure]:
    """Return the growth of a container per call."""
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
    options = options_of(__doc__ or "")
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        bench = Bench(Path(place))
        bench.build()
        figures = [f for layer in bench.layers for f in per_call(bench, layer, 100 // scale)]
        figures += per_call(bench, "posix", 100 // scale, "random")
        figures += synced(bench, 6000 // scale)
        figures += leaving(bench, 40 // scale)
        figures += trace_bytes(bench, 50000)
    show(figures, options.json)


if __name__ == "__main__":
    main()
