#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of calls that move no data, small files and a configuration, in one table.

    make bench                      or:  native/bench/cost_of_metadata.py [--json] [--darshan LIB]

Calls: blocks through the library and around it alternate in one process, in random order within a
pair. The figure is the difference of medians of each turn, the median of the turns, and its 95 %
interval. Libraries take turns too: none (the error of the method itself), ours, ours while every
call is recorded, and Darshan's, if `--darshan` or STRIPEWISE_DARSHAN names a libdarshan.so. The
functions that such a library wraps are determined: others cost it nothing, and are not counted. An
attribute of HDF5 is opened, read and closed: the mean of the three.

Files: how long `stripewise run` continues after the end of a program that made 20,000 small files,
and of one that made 10, per file; and its peak of memory. Configuration: `run --config` compared
with `run`.
"""

from __future__ import annotations

import ctypes.util
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from figures import Figure, difference, middle, options_of, show

BENCH = Path(__file__).resolve().parent
NATIVE = BENCH.parent
STRIPEWISE = [sys.executable, "-c", "from stripewise.cli import main; main()"]
HDF5 = ("libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103", "libhdf5.so.310")
CALLS = {
    "stat": ("stat of a file", "stat", 100),
    "absent": ("stat of names that are not there", "stat", 100),
    "fstat": ("fstat", "fstat", 100),
    "unlink": ("unlink of files of its own", "unlink", 100),
    "attribute": ("attribute of HDF5, each call", "H5Aopen", 50),
}
GOALS = {"stat": 20, "absent": 20, "unlink": 294}
"""Twice Darshan's cost in the first comparison."""
TURNS = 10
FILES, FEW = 20_000, 10
CONFIGURATION = """\
version = 1

[[file]]
match = "*"
mpiio = { cb_nodes = 2, romio_cb_write = "enable" }
hdf5 = { meta_block_size = 65536 }
"""


class Bench:
    """Builds our library and the program, and runs the program under one library or none."""

    def __init__(self, directory: Path, darshan: Path | None) -> None:
        self.directory = directory
        self.program = directory / "cost_of_metadata"
        self.ours = directory / "build" / "libstripewise.so"
        self.darshan = darshan
        self.number = 0

    def build(self) -> None:
        """Build what is measured, in its release configuration."""
        build, source = self.directory / "build", BENCH / "cost_of_metadata.c"
        for command in (
            ["cmake", "-S", NATIVE, "-B", build, "-DSW_PART=core"],
            ["cmake", "--build", build],
            ["cc", "-O2", "-o", self.program, source, "-ldl"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"cost_of_metadata: {command[0]} failed:\n{done.stdout}{done.stderr}")

    def sides(self) -> list[str]:
        """Return the libraries that are compared."""
        return ["nothing", "counters", "capture", *(["Darshan"] if self.darshan else [])]

    def place(self) -> Path:
        """Create an empty directory."""
        self.number += 1
        made = self.directory / f"run-{self.number}"
        made.mkdir()
        return made

    def environment(self, side: str, place: Path) -> dict[str, str]:
        """Return the environment of a process under one library."""
        made = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        if side == "Darshan":
            made |= {"LD_PRELOAD": str(self.darshan), "DARSHAN_ENABLE_NONMPI": "1"}
            made["DARSHAN_LOGFILE"] = str(place / "log.darshan")
        elif side != "nothing":
            made |= {"LD_PRELOAD": str(self.ours), "STRIPEWISE_DIRECTORY": str(place)}
            made["STRIPEWISE_INCLUDE"] = str(self.directory)
            made["STRIPEWISE_CAPTURE"] = "fold" if side == "capture" else ""
        return made

    def calls(self, side: str, what: str, blocks: int, more: Sequence[str]) -> tuple[float, float]:
        """Return the nanoseconds that a call takes in addition, and those around the library."""
        place = self.place()
        done = subprocess.run(
            [self.program, what, str(blocks), str(CALLS[what][2]), *more],
            cwd=place,
            env=self.environment(side, place),
            capture_output=True,
            text=True,
            check=True,
        )
        shutil.rmtree(place)
        pairs = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
        with_, without = (statistics.median(column) for column in zip(*pairs, strict=True))
        return with_ - without, without


def wrapped(library: Path) -> set[str]:
    """Return the functions that a library defines."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    return set(re.findall(r" [TW] (\w+)", done.stdout))


def cost_of_calls(bench: Bench, blocks: int) -> list[Figure]:
    """Return the cost of every call under every library."""
    found = [name for name in HDF5 if _loads(name)]
    names = wrapped(bench.darshan) if bench.darshan else set()
    figures = []
    for what, (label, function, _) in CALLS.items():
        if what == "attribute" and not found:
            print("no serial HDF5 here: attributes are not measured", file=sys.stderr)
            continue
        more = [found[0]] if what == "attribute" else []
        costs: dict[str, list[tuple[float, float]]] = {side: [] for side in bench.sides()}
        for _ in range(TURNS):
            for side, own in costs.items():
                own.append(bench.calls(side, what, blocks, more))
        for side, own in costs.items():
            shown = f"{label}, {side}"
            if side == "Darshan" and function not in names:
                shown += " (not wrapped)"
            without = statistics.median(alone for _, alone in own)
            goal = GOALS.get(what) if side == "counters" else None
            value, low, high = middle([cost for cost, _ in own])
            figures.append(Figure(shown, "ns", value, low, high, without, "ns", TURNS, goal))
    return figures


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def cost_of_files(bench: Bench, runs: int, environment: Mapping[str, str]) -> list[Figure]:
    """Return what each of many small files adds to the time after the end, and to the memory."""
    seconds, memory = [], []
    for _ in range(runs + 1):
        many, few = (_after_end(bench, count, environment) for count in (FILES, FEW))
        scale = 1e6 / (FILES - FEW)
        seconds.append((many[0] * scale, few[0] * scale))
        memory.append((many[1], few[1]))
    return [
        _figure(f"run: each of {FILES} small files, after the end", "us", seconds[1:], 10),
        _figure(f"run: peak of memory, {FILES} small files", "MiB", memory[1:], None),
    ]


def _after_end(bench: Bench, count: int, environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds from a program's end to that of its `run`, and its memory peak in MiB."""
    place = bench.place()
    command = [*STRIPEWISE, "run", "--", str(bench.program), "files", str(count)]
    with subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        ended_ns = float(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        after = time.monotonic() - ended_ns * 1e-9
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"cost_of_metadata: {command} failed")
    shutil.rmtree(place)
    return after, usage.ru_maxrss / 1024


def cost_of_configuration(bench: Bench, runs: int, environment: Mapping[str, str]) -> Figure:
    """Return what `--config` adds to `run`."""
    place = bench.place()
    (place / "best.toml").write_text(CONFIGURATION)
    pairs = [
        tuple(
            _milliseconds(place, environment, words) for words in (["--config", "best.toml"], [])
        )
        for _ in range(runs + 2)
    ]
    return _figure("run --config: beside run", "ms", [(a, b) for a, b in pairs[2:]], 20)


def _milliseconds(place: Path, environment: Mapping[str, str], words: Sequence[str]) -> float:
    command = [*STRIPEWISE, "run", *words, "--", "true"]
    start = time.perf_counter()
    subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
    return (time.perf_counter() - start) * 1e3


def _figure(
    name: str, unit: str, pairs: Sequence[tuple[float, float]], goal: float | None
) -> Figure:
    value, low, high = difference(pairs)
    without = statistics.median(alone for _, alone in pairs)
    return Figure(name, unit, value, low, high, without, unit, len(pairs), goal)


def main() -> None:
    """Measure, and print the table or JSON."""
    options = options_of(
        __doc__ or "", darshan=("Darshan's libdarshan.so, to be measured beside ours", Path)
    )
    named = options.darshan or os.environ.get("STRIPEWISE_DARSHAN")
    scale = 5 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        bench = Bench(Path(place), Path(named).resolve() if named else None)
        bench.build()
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(place, "compiled"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["STRIPEWISE_INCLUDE"] = place
        figures = [
            *cost_of_calls(bench, 100 // scale),
            *cost_of_files(bench, 10 // scale, environment),
            cost_of_configuration(bench, 40 // scale, environment),
        ]
    show(figures, options.json)
    if bench.darshan is None:
        print("Darshan was not measured: --darshan names its library", file=sys.stderr)


if __name__ == "__main__":
    main()
