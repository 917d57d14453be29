#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of the library for a program; one run prints one table.

    make bench                      or:  native/bench/cost_per_call.py [--json] [--directory D]

Cost per call: bursts of 4 KiB writes through the library and around it, interleaved in one
process, with timestamps on. Per block of bursts, the difference of medians is taken, then the
median of the blocks with its 95 % interval by order statistics. (The speed of a shared machine
changes during the measurement; within a block it is the same for both.) This is done with counters
only, and with every call recorded: equal ones folded, and each separately (STRIPEWISE_CAPTURE).
`--before NATIVE` also builds the library of another checkout; the two take turns.

Share of run time: 64 KiB writes, each synced, in processes with and without the library that take
turns. Memory (proportional set size) and time at exit: the same, with a number of files opened.
The figures are differences of medians over all runs, with intervals by bootstrap.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from figures import SEED, Figure, blockwise, difference, options_of, show

BENCH = Path(__file__).resolve().parent
NATIVE = BENCH.parent

TURNS = 10
BLOCKS = 4

T = TypeVar("T")


class Bench:
    """Builds the library and the program, and runs the program with and without it."""

    def __init__(self, directory: Path, native: Path = NATIVE, label: str = "") -> None:
        self.directory = directory
        self.native = native
        self.label = label
        self.library = directory / "build" / "libstripewise.so"
        self.program = directory / "cost_per_call"
        self.containers = directory / "containers"
        self.containers.mkdir(parents=True)

    def build(self) -> None:
        """Build what is measured, in its release configuration."""
        build = self.directory / "build"
        for command in (
            ["cmake", "-S", self.native, "-B", build, "-DSW_PART=core"],
            ["cmake", "--build", build],
            [
                "cc",
                "-O2",
                "-o",
                self.program,
                BENCH / "cost_per_call.c",
                "-ldl",
                "-lm",
                "-pthread",
            ],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"cost_per_call: {command[0]} failed:\n{done.stdout}{done.stderr}")

    def run(
        self, *arguments: object, counted: bool = True, capture: str = ""
    ) -> tuple[list[str], float]:
        """Run the program; return its lines, and the time when it had ended (nanoseconds)."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        if counted:
            environment["LD_PRELOAD"] = str(self.library)
            environment["STRIPEWISE_DIRECTORY"] = str(self.containers)
            environment["STRIPEWISE_INCLUDE"] = str(self.directory)
            environment["STRIPEWISE_CAPTURE"] = capture
        done = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines(), time.monotonic_ns()

    def calls(
        self, blocks: int, bursts: int, threaded: bool, capture: str
    ) -> list[tuple[float, float]]:
        """Return nanoseconds of one 4 KiB write through the library and past it, by burst."""
        lines, _ = self.run(
            "calls", "data", 4096, blocks * bursts, 40, int(threaded), capture=capture
        )
        return [(float(w), float(o)) for w, o in (line.split() for line in lines)]

    def synced(self, runs: int, calls: int) -> Figure:
        """Return the share of run time for 64 KiB writes that are synced one by one."""
        pairs = self._alternate(runs, lambda c: self._seconds(calls, c))
        value, low, high = difference(pairs)
        without = statistics.median(o for _, o in pairs)
        per_cent = 100 / without
        name = "share of run time, 64 KiB synced writes"
        scaled = (value * per_cent, low * per_cent, high * per_cent)
        return Figure(name, "%", *scaled, without, "s", len(pairs), 1)

    def derived_share(self, cost: Figure, synced: Figure, calls: int) -> Figure:
        """Return the same share derived from the cost of a call, without the storage's noise."""
        per_call_ns = synced.without / calls * 1e9
        scale = 2 * 100 / per_call_ns  # a write and an fsync
        return Figure(
            "  the same, from the cost per call",
            "%",
            cost.value * scale,
            cost.low * scale,
            cost.high * scale,
            synced.without,
            "s",
            cost.samples,
            1,
        )

    def idle(self, runs: int, files: int) -> tuple[Figure, Figure]:
        """Return the memory of a process, and the time from the return of main to its end."""
        memory: list[tuple[float, float]] = []
        leaving: list[tuple[float, float]] = []
        for (with_memory, with_exit), (memory_alone, exit_alone) in self._alternate(
            runs, lambda c: self._idle(files, c)
        ):
            memory.append((with_memory, memory_alone))
            leaving.append((with_exit, exit_alone))
        return (
            self._figure(f"memory per process, {files} files", "KiB", memory),
            self._figure(f"time at exit, {files} files", "us", leaving),
        )

    def _figure(self, name: str, unit: str, pairs: Sequence[tuple[float, float]]) -> Figure:
        value, low, high = difference(pairs)
        without = statistics.median(o for _, o in pairs)
        return Figure(name, unit, value, low, high, without, unit, len(pairs))

    def _seconds(self, calls: int, counted: bool) -> float:
        lines, _ = self.run("synced", "synced", 65536, calls, counted=counted)
        (self.directory / "synced").unlink()
        return float(lines[0])

    def _idle(self, files: int, counted: bool) -> tuple[float, float]:
        lines, gone = self.run("idle", files, counted=counted)
        return float(lines[0]), (gone - float(lines[1])) / 1e3

    def _alternate(self, runs: int, measure: Callable[[bool], T]) -> list[tuple[T, T]]:
        chance = random.Random(SEED)
        measure(True)
        pairs = []
        for _ in range(runs):
            if chance.random() < 0.5:
                counted = measure(True)
                pairs.append((counted, measure(False)))
            else:
                alone = measure(False)
                pairs.append((measure(True), alone))
        return pairs


def cost_of_calls(
    benches: Sequence[Bench], bursts: int, threaded: bool, capture: str = ""
) -> list[Figure]:
    """Return the cost of one 4 KiB write: with counters only, or also with its event (`capture`).

    The libraries take turns, four blocks of bursts each.
    """
    pairs: list[list[tuple[float, float]]] = [[] for _ in benches]
    for _ in range(TURNS):
        for bench, own in zip(benches, pairs, strict=True):
            own += bench.calls(BLOCKS, bursts, threaded, capture)
    name = "cost per 4 KiB write" + (", threads" if threaded else "")
    if capture:
        name += f", capture {capture}"
    goal = 250 if capture else 100
    return [
        Figure(
            name + bench.label, "ns", *blockwise(own, bursts),
            statistics.median(o for _, o in own), "ns", TURNS * BLOCKS, goal,
        )
        for bench, own in zip(benches, pairs, strict=True)
    ]  # fmt: skip


def main() -> None:
    """Measure, and print the table or JSON."""
    options = options_of(
        __doc__ or "", before=("native folder of another checkout, measured in turns", Path)
    )
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        bench = Bench(Path(place) / "now")
        benches = [bench]
        if options.before:
            benches.append(Bench(Path(place) / "before", options.before.resolve(), ", before"))
        for one in benches:
            one.build()
        costs = [
            figure
            for capture in ("", "fold", "all")
            for threaded in (False, True)
            for figure in cost_of_calls(benches, 100 // scale, threaded, capture)
        ]
        calls = 100
        synced = bench.synced(40 // scale, calls)
        share = bench.derived_share(costs[0], synced, calls)
        memory, leaving = bench.idle(60 // scale, 20)
    figures = [*costs, synced, share, memory, leaving]
    show(figures, options.json)


if __name__ == "__main__":
    main()
