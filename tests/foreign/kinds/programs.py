# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of others: each is run bare, under strace, and under `stripewise run --trace`.

The bare run and the one under strace tell which outputs are the same in every run: those must be
the same under the product. strace tells the amounts. `input` of a case has:

* `run`: the command, in a directory of its own; by a shell if it has any of `|;&<>`.
* `make`: shell lines that make the inputs there; `$INPUTS` is `foreign/inputs.py`.
* `script`: text of the file `program.py`, for Python programs written from a library's manual.
* `build`: shell lines that build into `$BUILD` once; `$SRC_HDF5` is the source of Debian's hdf5
  if `sources` names it.
* `code`: whether Python code and libraries are its data, as they are of all but Python.
* `varies`: patterns of outputs that may be equal in two runs, and not in a third.
* `pypi`: whether `$PYTHON` is that of the environment with packages of PyPI (else the system's).

`answer` has `facts` and `not_facts` (codes), `layer` (the outermost one that it uses), and, where
arithmetic gives them, `read_bytes` and `write_bytes` that the program asked for; `unknown` is true
if part of its I/O passes no function that anybody could wrap.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from foreign import sources, strace
from foreign.corpus import HERE, Case, Kind, Outcome, Verdict

TOOL = str(Path(sys.executable).parent / "stripewise")

_LONGEST_SECONDS = 240
_TOLERANCE = 0.02
_CALL_TOLERANCE = 0.05


@dataclass(frozen=True)
class Ran:
    """What a run left: exit code, streams, and the files below its directory by their digest."""

    code: int
    out: str
    err: str
    files: Mapping[str, str]


class TheKind(Kind):
    """Runs a program three times and compares outputs and amounts."""

    title = "Programs of others"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Make inputs, run bare, under strace and under the product, and judge."""
        environment, command = prepared(case, directory)
        bare = ran(command, directory, "bare", environment)
        if bare.code != case.answer.get("exit", 0):
            return Outcome(
                Verdict.SKIPPED, f"the program itself ends with {bare.code}: {bare.err[-300:]}"
            )
        logs = directory / "logs"
        logs.mkdir()
        tracer = [*strace.COMMAND, "-o", str(logs / "strace")]
        again = ran([*tracer, *command], directory, "again", environment)
        trace = directory / "trace"
        varies = case.input.get("varies", ())
        traced = ran(
            [TOOL, "run", "--json", "--trace", str(trace), "--", *command],
            directory,
            "traced",
            environment,
        )
        harm = _harm(bare, again, traced, varies)
        if harm:  # it may be the clock, or luck
            time.sleep(1)
            third = ran(command, directory, "third", environment)
            harm = _harm(bare, third, traced, varies)
        if harm:
            return Outcome(Verdict.HARMFUL, "; ".join(harm))
        profile = ran([TOOL, "profile", str(trace), "--json"], directory, "json", environment)
        text = ran([TOOL, "profile", str(trace)], directory, "text", environment)
        if "Traceback" in traced.err + profile.err + text.err or profile.code or text.code:
            return Outcome(Verdict.WRONG, f"profile failed: {(profile.err + text.err)[-300:]}")
        run = json.loads(traced.out.splitlines()[-1])
        code = case.input.get("code", "$PYTHON" not in case.input["run"])
        seen = strace.read_logs(logs, code=code)
        return Outcome.of(_amounts(case, seen, run, json.loads(profile.out)))


def prepared(case: Case, directory: Path) -> tuple[dict[str, str], list[str]]:
    """Make the inputs in `seed`; return the environment and the command."""
    environment = _environment(case, directory)
    seed = directory / "seed"
    seed.mkdir()
    if "script" in case.input:
        (seed / "program.py").write_text(case.input["script"])
    if "make" in case.input:
        _shell("cd seed\n" + case.input["make"], directory, environment)
    return environment, _command(case.input["run"], environment)


def _environment(case: Case, directory: Path) -> dict[str, str]:
    """Return the environment of all runs of a case; sources and builds are made on demand."""
    environment = {
        **os.environ,
        "INPUTS": f"{sys.executable} {HERE / 'inputs.py'}",
        "PYTHON": "/usr/bin/python3",
        "HOME": str(directory),
        "TMPDIR": str(directory / "work"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMP_NUM_THREADS": "2",
        "PYTHONDONTWRITEBYTECODE": "1",
        "UCX_LOG_LEVEL": "fatal",
        "HWLOC_HIDE_ERRORS": "2",
    }
    environment.pop("LD_PRELOAD", None)
    if case.input.get("pypi"):
        environment["PYTHON"] = str(sources.python())
    trees = [sources.source_of(package) for package in case.input.get("sources", ())]
    for package, tree in zip(case.input.get("sources", ()), trees, strict=True):
        environment[f"SRC_{package.upper()}"] = str(tree)
    if "build" in case.input:
        environment["BUILD"] = str(_built(case, [tree.name for tree in trees], environment))
    environment |= case.input.get("environment", {})
    return environment


def _built(case: Case, versions: list[str], environment: Mapping[str, str]) -> Path:
    """Return the directory of a case's programs, built once for the lines and versions."""
    key = hashlib.sha256("\n".join([case.input["build"], *versions]).encode()).hexdigest()[:12]
    place = sources.BUILT / f"{case.name}-{key}"
    if not place.is_dir():
        fresh = place.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        _shell(case.input["build"], fresh, {**environment, "BUILD": str(fresh)})
        fresh.rename(place)
    return place


def _command(line: str, environment: Mapping[str, str]) -> list[str]:
    if any(one in line for one in "|;&<>\n"):
        return ["sh", "-c", line]
    filled = line
    for name in ("PYTHON", "BUILD", "INPUTS"):
        filled = filled.replace(f"${name}", environment.get(name, ""))
    return shlex.split(filled)


def _shell(lines: str, directory: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-euc", lines],
        cwd=directory,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=_LONGEST_SECONDS,
    )
    assert done.returncode == 0, f"{lines[:80]}: {(done.stdout + done.stderr)[-500:]}"


def ran(command: list[str], directory: Path, name: str, environment: Mapping[str, str]) -> Ran:
    """Run a command in a fresh copy of the seed, always at the same path; keep what it left."""
    work = directory / "work"
    shutil.copytree(directory / "seed", work, symlinks=True)
    done = subprocess.run(
        command,
        cwd=work,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LONGEST_SECONDS,
    )
    files = {str(path.relative_to(work)): _digest(path) for path in sorted(work.rglob("*"))}
    shutil.rmtree(work)
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    (directory / f"{name}.out").write_text(out)
    (directory / f"{name}.err").write_text(err)
    return Ran(done.returncode, out, err, files)


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if not path.is_file():
        return "directory"
    return f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _harm(bare: Ran, again: Ran, traced: Ran, varies: Sequence[str]) -> list[str]:
    """Name what the product changed of that which two runs without it have in common."""
    harm = []
    if traced.code != bare.code:
        harm.append(f"exit code {traced.code}, bare {bare.code}: {traced.err[-300:]}")
    same_names = bare.files.keys() == again.files.keys()
    for name in sorted(bare.files.keys() | (traced.files.keys() if same_names else set())):
        if any(fnmatch(name, pattern) for pattern in varies):
            continue
        if bare.files.get(name) == again.files.get(name) != traced.files.get(name):
            harm.append(f"{name} differs from that of the bare run")
    out = "".join(traced.out.splitlines(keepends=True)[:-1])
    if bare.out == again.out and out != bare.out:
        harm.append("standard output differs from that of the bare run")
    return harm[:5]


def _amounts(
    case: Case, seen: strace.Observed, run: Mapping[str, Any], profile: Mapping[str, Any]
) -> list[str]:
    """Compare amounts, layers, share and facts with the right ones."""
    figures = profile["figures"]
    used = {one["layer"] for one in profile["layers"] if one["read_calls"] + one["write_calls"]}
    unknown = {name for name in figures["missing"] if name in ("read_bytes", "write_bytes")}
    total = seen.total()
    wrong = []
    for direction in ("read", "write"):
        name = f"{direction}_bytes"
        if name in unknown:
            continue
        objections = [
            _differs(f"{name} reached", size_bytes, getattr(total, name), _TOLERANCE)
            + _differs_in_calls(direction, calls, total)
            for calls, size_bytes in _reached(direction, run, profile)
        ]
        fewest = min(objections, key=len)
        wrong += fewest
        asked = case.answer.get(name)
        if asked is None and used <= ({"posix"} if direction == "read" else {"posix", "stdio"}):
            asked = getattr(total, name)
        if asked is not None:
            wrong += _differs(f"{name} asked", figures[name], asked, _TOLERANCE)
    if (seen.mapped or case.answer.get("unknown")) and not unknown:
        wrong.append("files are mapped, or used without libc, and no amount is unknown")
    if not seen.mapped and not case.answer.get("unknown") and unknown:
        wrong.append(f"nothing is mapped into memory, and unknown are {unknown}")
    if figures["io_share"] is not None and figures["io_share"] > 1:
        wrong.append(f"share of I/O is {figures['io_share']:.0%}")
    if "layer" in case.answer and case.answer["layer"] not in used:
        wrong.append(f"{case.answer['layer']} is not among the layers: {sorted(used)}")
    return wrong + _facts(case, profile)


def _reached(
    direction: str, run: Mapping[str, Any], profile: Mapping[str, Any]
) -> list[tuple[int, int]]:
    """Return system calls and bytes, as `run` has them for the program's files and as the lowest
    layer has them for all, those of an MPI library's own bookkeeping too."""
    files = [one for one in run["files"] if strace.is_of_the_program(one["path"])]
    none: Mapping[str, Any] = {}
    posix = next((one for one in profile["layers"] if one["layer"] == "posix"), none)
    return [
        (
            sum(one[f"system_{direction}s"] for one in files),
            sum(one[f"system_{direction}_bytes"] for one in files),
        ),
        (posix.get(f"{direction}_calls", 0), posix.get(f"{direction}_bytes", 0)),
    ]


def _differs(what: str, got: int | None, right: int, tolerance: float) -> list[str]:
    if got is None or abs(got - right) > max(tolerance * right, 2):
        return [f"{what}: {got}, right {right}"]
    return []


def _differs_in_calls(direction: str, got: int, total: strace.Amounts) -> list[str]:
    """Compare numbers of system calls: those that found the end of a file may be left out."""
    right, empty = getattr(total, f"{direction}s"), getattr(total, f"empty_{direction}s")
    slack = max(_CALL_TOLERANCE * right, 2)
    if right - slack <= got <= right + empty + slack:
        return []
    return [f"system {direction}s: {got}, right {right}"]


def _facts(case: Case, profile: Mapping[str, Any]) -> list[str]:
    if "facts" not in profile:
        return []
    named = {one["code"] for one in profile["facts"]}
    missing = set(case.answer.get("facts", ())) - named
    wrong = set(case.answer.get("not_facts", ())) & named
    texts = [f"fact {code} is not named" for code in sorted(missing)]
    return texts + [f"fact {code} is named wrongly" for code in sorted(wrong)]
