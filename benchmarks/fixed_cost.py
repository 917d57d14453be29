#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that `stripewise run` and `trace` add to any program, in pairs of runs.

For `run --auto` it also measures how much later a known program starts than with `run`.

The program is `true`, or a copy of it that writes one small file; each pair runs it plainly and
then with the command.  Python stores compiled modules in a directory of the benchmark, so that
the result does not depend on the environment's settings for them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "native" / "bench"))

from figures import Figure, difference, options_of, show

from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Profiles,
    Store,
    StudiedCase,
    describe_machine,
)

STRIPEWISE = [sys.executable, "-c", "from stripewise.cli import main; main()"]
PROGRAM_OF_STARTS = ("date", "+%s.%N")
PROGRAMS = {"true": ["true"], "dd": ["dd", "if=/dev/zero", "of=out", "bs=4096", "count=16"]}
COMMANDS = {
    "run": (["run", "--"], 0.15),
    "run --auto": (["run", "--auto", "--"], None),
    "run --report": (["run", "--report", "--"], None),
    "trace": (["run", "--trace", "--"], 0.3),
    "trace --every-call": (["run", "--trace", "--every-call", "--"], 0.3),
}


def main() -> None:
    """Measure all pairs and print the table."""
    options = options_of(__doc__ or "")
    with tempfile.TemporaryDirectory(dir=options.directory) as scratch:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(scratch, "compiled"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["STRIPEWISE_KNOWLEDGE"] = str(Path(scratch, "knowledge.sqlite"))
        figures = [
            _measured(name, label, environment, Path(scratch), 5 if options.quick else 25)
            for name in PROGRAMS
            for label in COMMANDS
        ]
        count = 5 if options.quick else 25
        figures.append(_start("run --auto: start", environment, Path(scratch), count))
        _learn(Path(environment["STRIPEWISE_KNOWLEDGE"]), Path(scratch))
        figures.append(_start("the same, with settings", environment, Path(scratch), count))
    show(figures, options.json)


def _measured(
    name: str, label: str, environment: Mapping[str, str], scratch: Path, count: int
) -> Figure:
    """Return the result of pairs without and with one command; the first pair is a warm-up."""
    words, goal = COMMANDS[label]
    program = PROGRAMS[name]
    pairs = []
    for number in range(count + 1):
        directory = scratch / f"{name}-{label.replace(' ', '')}-{number}"
        directory.mkdir()
        plain = _seconds(program, environment, directory)
        pairs.append((_seconds([*STRIPEWISE, *words, *program], environment, directory), plain))
    value, low, high = difference(pairs[1:])
    without = sorted(plain for _, plain in pairs[1:])[count // 2]
    return Figure(f"{label} -- {name}", "s", value, low, high, without, "s", count, goal)


def _learn(store: Path, directory: Path) -> None:
    """Store a study of the program, so that it gets settings; discard observations of it."""
    profiles = Profiles(Store(store))
    profiles.forget()
    digest = profiles.digest_of(Path(shutil.which(PROGRAM_OF_STARTS[0]) or ""))
    print_ = Fingerprint(PROGRAM_OF_STARTS[0], digest)
    case = StudiedCase(describe_machine(directory), LibraryVersions("mpich"), print_)
    effect = Effect(2.0, 1.9, 2.1, 6)
    settings = {"mpiio.cb_nodes": 2, "mpiio.romio_cb_write": "enable"}
    lesson = Lesson("0" * 32, time.time(), case, True, settings, effect)
    Store(store).add([lesson])


def _start(name: str, environment: Mapping[str, str], scratch: Path, count: int) -> Figure:
    """Return how much later the program starts with `run --auto` than with `run`."""
    pairs = []
    for _ in range(count + 2):
        pairs.append(
            tuple(
                _until_start(
                    [*STRIPEWISE, "run", *words, "--", *PROGRAM_OF_STARTS], environment, scratch
                )
                for words in (["--auto"], [])
            )
        )
    value, low, high = difference(pairs[2:])
    without = sorted(plain for _, plain in pairs[2:])[count // 2]
    return Figure(name, "s", value, low, high, without, "s", count, 0.15)


def _until_start(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> float:
    begun = time.time()
    done = subprocess.run(command, env=environment, cwd=directory, check=True, capture_output=True)
    return float(done.stdout) - begun


def _seconds(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, cwd=directory, check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
