# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs many studies and makes one table; used by default_to_best.py and other_programs.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

STRIPEWISE = Path(sys.executable).parent / "stripewise"
NO_KNOB = "no tunable acts"


@dataclass(frozen=True)
class Case:
    """One program to tune.

    Attributes:
        labels: Column to text, for the table; together they are unique.
        command: Command line.
        inputs: Files that are copied beside it.
    """

    labels: Mapping[str, str]
    command: tuple[str, ...]
    inputs: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """File name for the case."""
        text = "-".join(self.labels.values()).lower()
        return "".join(c if c.isalnum() or c in "-." else "_" for c in text)


@dataclass(frozen=True)
class Row:
    """Result of a study of a case."""

    name: str
    labels: Mapping[str, str]
    answer: str
    io_seconds: float | None = None
    speedup: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    verified: str = ""
    runs: int = 0
    seconds: float = 0.0


def tune(case: Case, place: Path, trials: int, limit_seconds: float) -> Row:
    """Run one study in its own directory below `place`."""
    directory = place / case.name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for path in case.inputs:
        shutil.copy(path, directory)
    words = [str(STRIPEWISE), "tune", "--trials", str(trials), "--json"]
    words += ["--no-memory", "--", *case.command]
    started = time.monotonic()
    try:
        done = subprocess.run(
            words, cwd=directory, capture_output=True, text=True, timeout=limit_seconds,
            check=False, env={**os.environ, "STRIPEWISE_KNOWLEDGE": str(place / "none.sqlite")},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Row(case.name, case.labels, f"stopped after {limit_seconds:.0f} s")
    seconds = time.monotonic() - started
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return Row(case.name, case.labels, (done.stderr.strip().splitlines() or ["no output"])[-1])
    if "error" in result:
        error = result["error"]
        text = error.get("message", "") if isinstance(error, dict) else str(error)
        return Row(case.name, case.labels, text, seconds=seconds)
    return _row(case, result, seconds)


def _row(case: Case, result: Mapping[str, Any], seconds: float) -> Row:
    candidate = result.get("candidate") or {}
    improved = result["result"] == "improved"
    speedup = result["speedup"] if improved else candidate.get("speedup")
    return Row(
        name=case.name,
        labels=case.labels,
        answer=result["result"] + (f": {NO_KNOB}" if NO_KNOB in result["stopped_because"] else ""),
        io_seconds=result["baseline"]["io_seconds"],
        speedup=speedup,
        settings=result["settings"] if improved else candidate.get("settings", {}),
        verified=_verified(result),
        runs=len(result["runs"]),
        seconds=seconds,
    )


def _verified(result: Mapping[str, Any]) -> str:
    """Return whether the output of the winner or last candidate was verified, and which one."""
    rejected = sum(trial["state"] == "rejected" for trial in result["trials"])
    words = ["yes"] if result["verified"] is True else []
    words += [f"{rejected} rejected"] if rejected else []
    return ", ".join(words)


def tune_all(
    cases: Sequence[Case], place: Path, record: Path, *, trials: int, limit_seconds: float
) -> list[Row]:
    """Tune the cases that are not in `record` yet; every row is appended to it at once."""
    known = {row.name: row for row in load(record)} if record.exists() else {}
    rows = []
    for number, case in enumerate(cases, start=1):
        row = known.get(case.name)
        if row is None:
            print(f"{number}/{len(cases)} {' '.join(case.labels.values())}", file=sys.stderr)
            row = tune(case, place, trials, limit_seconds)
            with record.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(row)) + "\n")
            print(f"    {row.answer} {_speedup(row)} ({row.seconds:.0f} s)", file=sys.stderr)
        rows.append(row)
    return rows


def load(record: Path) -> list[Row]:
    """Read the rows of a record."""
    lines = record.read_text(encoding="utf-8").splitlines()
    return [Row(**json.loads(line)) for line in lines if line.strip()]


def table(rows: Iterable[Row], repeats: Sequence[Sequence[Row]] = ()) -> str:
    """Return the rows as a Markdown table.

    Args:
        rows: One row for each case.
        repeats: Further studies of the same cases, of which those with the same answer are
            counted.
    """
    rows = list(rows)
    if not rows:
        return ""
    columns = [*rows[0].labels, "I/O time", "answer", "fresh pairs: speed-up [95 %], pairs"]
    columns += ["settings", "verified", "runs"] + ["same answer"] * bool(repeats)
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row, *others in zip(rows, *repeats, strict=True):
        equal = 1 + sum(other.answer == row.answer for other in others)
        agreed = [f"{equal} of {1 + len(others)}"] * bool(repeats)
        lines.append("| " + " | ".join([*_cells(row), *agreed]) + " |")
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    settings = " ".join(f"`{name}={_value(value)}`" for name, value in row.settings.items())
    shown = "–" if row.io_seconds is None else f"{row.io_seconds * 1000:.0f} ms"
    return [
        *row.labels.values(), shown, row.answer.replace("|", "/"), _speedup(row), settings or "–",
        row.verified or "–", str(row.runs or "–"),
    ]  # fmt: skip


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _speedup(row: Row) -> str:
    found = row.speedup
    if not found:
        return "no candidate came so far"
    low, high = found.get("low"), found.get("high")
    interval = "" if low is None or high is None else f" [{low:.2f}–{high:.2f}]"
    return f"{found['median']:.2f}{interval}, {found['n_pairs']}"
