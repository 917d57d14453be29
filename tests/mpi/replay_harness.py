# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs run under capture, then their replays too."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from capture_harness import captured
from kernel_builds import PATIENCE_SECONDS, library_flags
from runtime_harness import NATIVE, checked, launch, run, run_plain, scratch
from stacks import hdf5_flags

from stripewise.evidence.readers import read_evidence
from stripewise.evidence.replay import Plan, build_plan, write_plan
from stripewise.evidence.trace import Trace
from stripewise.run.runtime import describe_mpi
from support.same_requests import Differences, compare

WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")


@cache
def replay_program(stack: str, *extra: str) -> Path:
    """The replay program of a stack."""
    built = scratch() / f"replay-{stack}{len(extra)}"
    sources = [*sorted((NATIVE / "replay").glob("*.c")), NATIVE / "kernels" / "json.c"]
    flags = hdf5_flags(stack)
    define = ["-DSW_HAVE_HDF5"] if flags else []
    pnetcdf = [f for f in library_flags(describe_mpi(f"mpicc.{stack}")) if "pnetcdf" in f.lower()]
    where = [f"-I{NATIVE / 'include'}", *(["-I/usr/include"] if pnetcdf else [])]
    words = [f"mpicc.{stack}", *WARNINGS, *extra, *define, *where, *map(str, sources)]
    checked([*words, "-o", built, *flags, *pnetcdf, "-lm"])
    return built


@dataclass(frozen=True)
class Replayed:
    """A program's trace, its plan, and what the replay did."""

    trace: Trace
    plan: Plan
    again: Trace
    differences: Differences
    result: dict[str, Any]
    directory: Path


def prepare(stack: str, plan: Plan, where: Path, program: Path | None = None) -> list[str]:
    """Write the plan, make the inputs; the words that replay, without a launcher."""
    words = _written(stack, plan, where, program)
    done = run_plain(stack, plan.n_ranks, [*words, "--prepare"], where)
    assert done.returncode == 0, done.stderr
    return words


def _written(stack: str, plan: Plan, where: Path, program: Path | None = None) -> list[str]:
    write_plan(plan, where / "plan")
    words = [str(program or replay_program(stack)), "--plan", str(where / "plan")]
    return [*words, "--directory", str(where / "files")]


def replayed(
    stack: str, command: Sequence[str | Path], where: Path, *, n_ranks: int = 2, io: str = ""
) -> Replayed:
    """Trace a program, replay it under capture, compare."""
    trace = captured(stack, n_ranks, command, where, io=io)
    plan = build_plan(trace)
    if plan.inputs:
        words = prepare(stack, plan, where)
    else:
        words = _written(stack, plan, where)
        (where / "files").mkdir()
    words += ["--compute", "none", "--json", "-"]
    before = set(where.glob("containers-*"))
    ran = run(stack, n_ranks, words, where, io=io, extra={"STRIPEWISE_CAPTURE": "fold"})
    assert ran.code == 0, ran.out + ran.err
    (directory,) = set(where.glob("containers-*")) - before
    again = read_evidence(directory).trace
    assert again is not None
    differences = compare(trace, again, {file.path: file.name for file in plan.files})
    result = json.loads(ran.out[ran.out.index("{") : ran.out.rindex("}") + 1])
    return Replayed(trace, plan, again, differences, result, where / "files")


def started(stack: str, n_ranks: int, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run to the end without the library."""
    return subprocess.run(
        [*launch(stack, n_ranks), *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
