#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what emulated storage costs a call that it does not delay, and its accuracy.

    make bench                      or:  native/bench/emulation.py [--json] [--directory D]

Cost: 4 KiB writes on a storage without limits, measured as in cost_per_call.py. Accuracy:
processes that share targets, nodes and locks write together, and the ends of their requests are
compared with those of `tests/support/player.py` for the same requests: the deviation, and the
share of requests within 2 ms or 2 % of their time. This is done once as programs usually run, and
once with real-time priority, if permitted: the rest is then its own error, without the time that a
woken process waits for a processor.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from cost_per_call import Bench
from figures import Figure, blockwise, options_of, show

from stripewise.storage import machines
from stripewise.storage import stacks as simulation
from stripewise.storage.emulation import EmulatedStorage, Emulation, EmulationOptions
from stripewise.storage.stacks import Layout

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.player import play

RANKS, CALLS, BYTES = 4, 40, 64 << 10
APART = 0.002
"""Seconds between the starts of two ranks: of requests at the same moment, either may be the
first, and what follows then differs by whole requests."""
FREE = {"servers.target_write": 1e18, "servers.target_read": 1e18}
BUSY = {
    "client.process_write": 20e6,
    "client.node_write": 25e6,
    "client.request": 5e-4,
    "servers.target_write": 10e6,
    "servers.target_read": 10e6,
    "servers.target_request": 1e-3,
    "servers.jitter": 0.3,
    "locks.revoke": 2e-3,
}
TARGETS, STRIPES = 3, 2
BEGINS = APART * np.arange(RANKS)[:, None]


def storage_of(figures: dict[str, float]) -> EmulatedStorage:
    """Return a storage with these figures, with two ranks per node."""
    figures = {"machine.nodes": 4, "servers.targets": TARGETS} | figures
    figures |= {"layout.stripe_count": STRIPES, "layout.stripe_size": float(BYTES)}
    found = {
        name: machines.Figure(value, machines.Evidence.ASSUMED, "benchmark")
        for name, value in figures.items()
    }
    storage = machines.Storage("bench", "", "local", "romio-generic", found)
    return EmulatedStorage(EmulationOptions("bench", ranks_per_node=2), storage)


class Emulated(Bench):
    """Runs the program on an emulated storage, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.variables: dict[str, str] = {}

    def environment(self) -> dict[str, str]:
        """Return the environment of a run."""
        plain = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        return plain | self.variables | {
            "LD_PRELOAD": str(self.library),
            "STRIPEWISE_DIRECTORY": str(self.containers),
            "STRIPEWISE_INCLUDE": str(self.directory),
        }  # fmt: skip

    def cost(self, bursts: int, threaded: bool) -> Figure:
        """Return the cost of one 4 KiB write that is not delayed, including counters."""
        pairs: list[tuple[float, float]] = []
        with Emulation.begin(storage_of(FREE), self.directory) as clocks:
            self.variables = clocks.variables
            for _ in range(10):
                words = [self.program, "calls", "data", 4096, 4 * bursts, 40, int(threaded)]
                done = subprocess.run(
                    [str(word) for word in words],
                    cwd=self.directory, env=self.environment(), capture_output=True, check=True,
                )  # fmt: skip
                lines = done.stdout.decode().splitlines()
                pairs += [(float(w), float(o)) for w, o in (line.split() for line in lines)]
        without = statistics.median(o for _, o in pairs)
        name = "emulated, not held back: cost per 4 KiB write" + ", threads" * threaded
        return Figure(name, "ns", *blockwise(pairs, bursts), without, "ns", 40, 300)

    def ends(self, *, at_once: bool) -> np.ndarray:
        """Run processes that write interleaved blocks of a file; shape (ranks, calls), seconds."""
        with Emulation.begin(storage_of(BUSY), self.directory) as clocks:
            self.variables = clocks.variables
            (self.directory / "shared").write_bytes(b"")
            moment = time.monotonic_ns() + 300_000_000
            stride = RANKS * BYTES
            started = [
                subprocess.Popen(
                    [self.program, *map(str, ("held", "shared", BYTES, CALLS, rank * BYTES, stride,
                                              moment + int(rank * APART * 1e9)))],
                    cwd=self.directory, stdout=subprocess.PIPE,
                    env=self.environment() | {"PMI_RANK": str(rank)},
                    preexec_fn=_go_first if at_once else None,
                )
                for rank in range(RANKS)
            ]  # fmt: skip
            found = [process.communicate()[0].split() for process in started]
        (self.directory / "shared").unlink()
        return np.array(found, dtype=np.float64) / 1e9 + BEGINS


def _go_first() -> None:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))


def played() -> np.ndarray:
    """Return the same ends in virtual time."""
    rows = [
        (rank, order, 0, 0, (order * RANKS + rank) * BYTES, BYTES, True)
        for rank in range(RANKS)
        for order in range(CALLS)
    ]
    requests = np.array(rows, simulation.REQUEST_DTYPE)
    nodes = np.arange(RANKS) // 2
    layout = Layout(STRIPES, BYTES, TARGETS)
    before = np.where(requests["order"] == 0, requests["rank"] * APART, 0.0)
    ends = play(requests, storage_of(BUSY).storage, layout, nodes, exchange=before).ends
    return ends.reshape(RANKS, CALLS)


def exactness(bench: Emulated, runs: int, *, at_once: bool) -> list[Figure]:
    """Compare the ends of requests with those of the player."""
    expected = played()
    lasted = np.diff(expected, axis=1, prepend=BEGINS)
    wrong, shares, whole = [], [], []
    for _ in range(runs):
        error = np.abs(bench.ends(at_once=at_once) - expected)
        shares.append(float((error <= np.maximum(0.002, 0.02 * lasted)).mean()))
        wrong.append(float(np.median(error)) * 1e3)
        whole.append(float(error[:, -1].max() / expected.max()) * 100)

    def figure(name: str, unit: str, values: list[float], goal: float | None) -> Figure:
        middle = statistics.median(values)
        seconds = float(expected.max())
        return Figure(name, unit, middle, min(values), max(values), seconds, "s", runs, goal)

    return [
        figure("emulated, held back: ends off by" + ", real time" * at_once, "ms", wrong, 2),
        figure("  ends within 2 ms or 2 %", "%", [100 * share for share in shares], None),
        figure("  the last end off by", "%", whole, 2),
    ]


def _may_go_first() -> bool:
    return subprocess.run(["chrt", "-r", "10", "true"], capture_output=True).returncode == 0


def main() -> None:
    """Measure, and print the table or JSON."""
    options = options_of(__doc__ or "")
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        bench = Emulated(Path(place) / "now")
        bench.build()
        figures = [bench.cost(100 // scale, threaded) for threaded in (False, True)]
        for at_once in (False, True) if _may_go_first() else (False,):
            figures += exactness(bench, 12 // (scale if scale == 1 else 3), at_once=at_once)
    show(figures, options.json)


if __name__ == "__main__":
    main()
