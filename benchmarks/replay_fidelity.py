#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the replayed I/O of programs with their own: the requests, and the bandwidth.

    benchmarks/replay_fidelity.py [SOURCES] [--only TEXT]... [--pairs N] [--directory D]

The programs are our kernels, and with SOURCES also those of other_programs.py.  Each is traced;
its replay is traced too, and the requests of both are compared one by one.  Then program and
replay run alternately, in pairs of random order, synced and in new directories: the table has the
median ratio of the bandwidths (replay / program) with its 95 % interval.

D selects the file system: in memory (/dev/shm) the interval is narrow, but not on a disk that
others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from applying import AS_ROOT, SECONDS, markdown
from other_programs import PROGRAMS
from other_programs import cases as other_cases
from tuning import STRIPEWISE, Case

from stripewise.core.errors import StripewiseError
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.replay import Plan, build_plan, write_plan
from stripewise.evidence.trace import Evidence
from stripewise.run.runtime import find_runtime
from stripewise.study.plan import speedup_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.same_requests import compare

WITHIN = 0.15
"""Largest relative difference of the bandwidths that is accepted."""
KERNELS = (
    ("flash", "hdf5", "collective", ("--local", "80,8,8,8")),
    ("vpic", "hdf5", "collective", ("--local", "1048576")),
    ("vorpal", "hdf5", "independent", ("--local", "60,100,150", "--steps", "4")),
    ("gcrm", "hdf5", "collective", ("--local", "1,26,131072")),
    ("btio", "mpiio", "collective", ("--size", "102,102,102", "--steps", "4")),
    ("array3d", "mpiio", "independent", ("--local", "128,128,128")),
    ("array3d", "pnetcdf", "collective", ("--local", "128,128,128")),
    ("wrf", "posix", "independent", ("--local", "20,256,256")),
)
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}


class Failed(Exception):
    """Raised if a program cannot be compared, with the reason."""


def kernel_cases() -> list[Case]:
    """Return our kernels with each MPI for which they are built."""
    found = []
    for family, program in find_runtime().kernels.items():
        if family not in NAMES:
            continue
        for pattern, backend, mode, size in KERNELS:
            if backend == "pnetcdf" and family == "mpich":
                continue
            labels = {"program": pattern, "library": backend, "mode": mode, "MPI": NAMES[family]}
            words = [f"mpiexec.{family}", "-n", "2", str(program), "--pattern", pattern]
            words += ["--backend", backend, "--mode", mode, *size, "--keep", "--file", "out.dat"]
            found.append(Case(labels, tuple(words)))
    return found


def compared(case: Case, place: Path, n_pairs: int) -> dict[str, str]:
    """Trace, replay, compare and measure; return column to text."""
    whole = place / case.name
    shutil.rmtree(whole, ignore_errors=True)
    (whole / "plan").mkdir(parents=True)
    try:
        traced = _traced(case.command, _fresh(case, whole / "traced"), whole / "program.trace")
        plan = build_plan(traced.trace, traced.profile)
        write_plan(plan, whole / "plan" / "plan")
        replay = _replay_words(case, plan, whole)
        again = _traced(replay, _prepared(replay, whole / "replayed"), whole / "replay.trace")
        differences = compare(traced.trace, again.trace, plan.names)
        pairs = _pairs(case, replay, whole, n_pairs)
    except (Failed, StripewiseError) as error:
        return {**case.labels, "requests": f"not compared: {error}"}
    ratio = speedup_of([(program, replayed) for program, replayed in pairs])
    same = "same" if not differences else f"{differences.n_different} differ"
    near = 1 - WITHIN <= ratio.median <= 1 + WITHIN
    return {
        **case.labels,
        "requests": f"{differences.calls} calls, {differences.bytes >> 20} MiB: {same}",
        "plan": f"{(whole / 'plan' / 'plan').stat().st_size} B",
        "bandwidth, replay / program": f"{ratio.median:.2f} [{ratio.low:.2f}–{ratio.high:.2f}]",
        "pairs": str(len(pairs)),
        "within 15 %": "yes" if near else "no",
    }


def _fresh(case: Case, directory: Path) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for path in case.inputs:
        shutil.copy(path, directory)
    return directory


def _replay_words(case: Case, plan: Plan, whole: Path) -> list[str]:
    family = "mpich" if case.labels["MPI"] == NAMES["mpich"] else "openmpi"
    program = find_runtime().replays[family]
    words = [f"mpiexec.{family}", "-n", str(plan.n_ranks), str(program)]
    return [*words, "--plan", str(whole / "plan" / "plan"), "--directory", "."]


def _prepared(replay: Sequence[str], directory: Path) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    _run([*replay, "--prepare"], directory)
    return directory


def _traced(words: Sequence[str], directory: Path, trace: Path) -> Evidence:
    _run([str(STRIPEWISE), "run", "--trace", str(trace), "--", *words], directory)
    evidence = read_evidence(trace)
    if evidence.trace is None:
        raise Failed("no calls were recorded")
    return evidence


def _pairs(
    case: Case, replay: Sequence[str], whole: Path, n_pairs: int
) -> list[tuple[float, float]]:
    """Return the I/O seconds of program and replay of each pair, which move the same bytes."""
    draws = random.Random(case.name)
    _pair(case, replay, whole / "run", draws)  # warm-up
    return [_pair(case, replay, whole / "run", draws) for _ in range(n_pairs)]


def _pair(
    case: Case, replay: Sequence[str], directory: Path, draws: random.Random
) -> tuple[float, float]:
    seconds = {}
    for which in draws.sample(("program", "replay"), 2):
        words = case.command if which == "program" else replay
        place = _fresh(case, directory) if which == "program" else _prepared(replay, directory)
        os.sync()  # so that the run does not pay for earlier removals and preparations
        seconds[which] = _io_seconds(words, place)
    return seconds["program"], seconds["replay"]


def _io_seconds(words: Sequence[str], directory: Path) -> float:
    done = _run([str(STRIPEWISE), "run", "--sync", "--json", "--", *words], directory)
    return float(json.loads(done.splitlines()[-1])["io_seconds"])


def _run(words: Sequence[str], directory: Path) -> str:
    # Otherwise no files below /dev are recorded.
    seen = {"STRIPEWISE_INCLUDE": str(directory)}
    done = subprocess.run(
        words, cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, **AS_ROOT, **seen},
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Failed(f"{Path(words[0]).name} fails: {last}")
    return done.stdout


def main() -> None:
    """Compare all programs and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path, nargs="?")
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="programs whose row has TEXT; several: all of them",
    )
    parser.add_argument("--pairs", type=int, default=20, metavar="N", help="pairs of runs (20)")
    parser.add_argument(
        "--directory", type=Path, default=Path("build/replay-fidelity"), metavar="D",
        help="where programs run (build/replay-fidelity)",
    )  # fmt: skip
    options = parser.parse_args()
    place = options.directory.absolute()
    found = kernel_cases()
    if options.sources is not None:
        others = [one for one in PROGRAMS if one.library != "ADIOS2"]
        found += other_cases(others, options.sources.absolute(), place / "bin")
    rows = []
    for case in found:
        if all(text in " ".join(case.labels.values()) for text in options.only or ()):
            rows.append(compared(case, place / "runs", options.pairs))
            print(rows[-1], file=sys.stderr)
            shutil.rmtree(place / "runs" / case.name, ignore_errors=True)
    if not rows:
        parser.error(f"no program has {' and '.join(options.only)} in its row")
    print(markdown(rows))


if __name__ == "__main__":
    main()
