# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how many of the faults found by `make test-all` are also found by `make test`.

Faults are spread over the packages by size and made one at a time, in this checkout (which must be
clean); each is undone before the next.  A fault is first given to those tests of `make test` that
execute its line, then, if they pass, to the other tests that do.  Which tests execute a line is
read from a coverage file with contexts:

    make test-all COVERAGE="--cov --cov-context=test --cov-report="
    make mutation
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from mutation._faults import Fault, native_faults, sample
from mutation._tests import Selection

TOP = Path(__file__).resolve().parents[2]
NATIVE = Path(__file__).with_name("native.toml")


@dataclass(frozen=True)
class Verdict:
    """Result of the tests for one fault.

    Attributes:
        killed_by: First test that failed; empty if none did.
        quick: Whether that was a test of `make test`.
        n_tests: Number of tests that were run with the fault.
        note: Why a figure is lower than it seems.
    """

    room: str
    path: str
    line: int
    what: str
    killed_by: str
    quick: bool
    n_tests: int
    note: str = ""


@contextmanager
def made(fault: Fault) -> Iterator[None]:
    """Make a fault in the checkout for the duration of a block."""
    path = TOP / fault.path
    before = path.read_bytes()
    path.write_text(fault.apply(before.decode()))
    for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        stale.unlink()
    try:
        _built(fault)
        yield
    finally:
        path.write_bytes(before)
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            stale.unlink()
        _built(fault)


def _built(fault: Fault) -> None:
    """Build the library from the present sources, if the fault is in C.

    Raises:
        RuntimeError: The build failed; the message is the compiler's.
    """
    if fault.native:
        code, text = _run(["tools/bootstrap.sh", "native"], 600)
        if code:
            raise RuntimeError(f"{fault.path}, {fault.what}: {text}")


def _run(command: list[str], seconds: float) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command,
            cwd=TOP,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, "time ran out"
    return done.returncode, done.stdout + done.stderr


def _first_failure(tests: list[str], scratch: Path, seconds: float) -> str:
    """Run tests until one fails.

    Returns:
        The test that failed, "(collection)" if a test file cannot be imported, "(hang)" if the
        time limit was reached; empty if all passed.
    """
    if not tests:
        return ""
    scratch.write_text("\n".join(tests))
    command = [sys.executable, "-m", "pytest", "--all", "-x", "-q", "-p", "no:cacheprovider"]
    code, text = _run([*command, "--no-header", "--tb=no", "-rfE", f"@{scratch}"], seconds)
    if code == 0:
        return ""
    for line in text.splitlines():
        for word in ("FAILED ", "ERROR "):
            if line.startswith(word):
                return line.removeprefix(word).split(" - ")[0]
    return "(hang)" if code == -1 else "(collection)"


def judge(fault: Fault, selection: Selection, scratch: Path) -> Verdict:
    """Run the tests that can detect a fault, those of `make test` first."""
    quick, rest, note = selection.of(fault)
    seconds = 120 + 4 * selection.seconds(quick)
    shown = quick
    with made(fault):
        killer = _first_failure(quick, scratch, seconds)
        in_quick = bool(killer)
        n_tests = len(quick)
        if not killer:
            shown = rest
            killer = _first_failure(rest, scratch, 120 + 4 * selection.seconds(rest))
            n_tests += len(rest)
    if killer and killer != "(hang)":
        again = shown if killer == "(collection)" else [killer]
        if _first_failure(again, scratch, 300 + 4 * selection.seconds(again)) == killer:
            note = "; ".join(filter(None, (note, f"{killer} fails without the fault too")))
            killer, in_quick = "", False
    return Verdict(fault.room, fault.path, fault.line, fault.what, killer, in_quick, n_tests, note)


def table(verdicts: list[Verdict]) -> str:
    """Return the verdicts as Markdown: a row per room, then the faults that `make test` misses."""
    rooms = sorted({v.room for v in verdicts})
    lines = ["| room | faults | `make test-all` | `make test` |", "|---|---|---|---|"]
    for room in [*rooms, "all"]:
        own = [v for v in verdicts if room in (v.room, "all")]
        killed = [v for v in own if v.killed_by]
        lines.append(f"| {room} | {len(own)} | {len(killed)} | {sum(v.quick for v in killed)} |")
    lines += ["", "| missed by `make test` | fault | noticed by |", "|---|---|---|"]
    lines += [
        f"| {v.path}:{v.line} | {v.what} | {v.killed_by} |"
        for v in verdicts
        if v.killed_by and not v.quick
    ]
    return "\n".join(lines)


def main() -> int:
    """Make the requested faults; existing results are kept and not repeated."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--faults", type=int, default=120, help="how many faults in Python")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", type=Path, default=TOP / ".coverage")
    parser.add_argument("--durations", type=Path, help="what --record of the tests wrote")
    parser.add_argument("--verdicts", type=Path, default=TOP / "build/mutation.jsonl")
    parser.add_argument("--part", default="0/1", help="K/N: every N-th fault, from the K-th on")
    parser.add_argument("--native", action="store_true", help="the faults in C instead")
    parser.add_argument("--table", action="store_true", help="print what is known, make nothing")
    asked = parser.parse_args()
    asked.verdicts.parent.mkdir(exist_ok=True)
    known = []
    if asked.verdicts.exists():
        known = [Verdict(**json.loads(line)) for line in asked.verdicts.read_text().splitlines()]
    if asked.table:
        print(table(known))
        return 0
    if _run(["git", "diff", "--quiet", "--", "src", "native"], 60)[0]:
        print("mutation: src or native has uncommitted changes: commit them", file=sys.stderr)
        return 2
    if asked.native:
        faults = native_faults(tomllib.loads(NATIVE.read_text()))
    else:
        faults = sample(TOP, asked.faults, asked.seed)
    part, parts = (int(word) for word in asked.part.split("/"))
    selection = Selection(TOP, asked.coverage, asked.durations)
    seen = {(v.path, v.line, v.what) for v in known}
    with asked.verdicts.open("a") as out:
        for fault in faults[part::parts]:
            if (fault.path, fault.line, fault.what) in seen:
                continue
            verdict = judge(fault, selection, asked.verdicts.with_suffix(f".{part}.tests"))
            out.write(json.dumps(asdict(verdict)) + "\n")
            out.flush()
            by = verdict.killed_by or "nothing"
            print(f"{fault.path}:{fault.line} {fault.what}: {by}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
