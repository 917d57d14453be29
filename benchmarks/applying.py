# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with a configuration, and compares their outputs with those of two plain runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tuning import STRIPEWISE, Case

from stripewise.core import VerificationStatus
from stripewise.study.verify import BaselineOutputs
from stripewise.study.workspace import OutputSet

SECONDS = 120
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def apply(case: Case, place: Path, configuration: Path) -> dict[str, str]:
    """Run a case twice plainly and once with settings; return column to text."""
    whole = place / case.name
    shutil.rmtree(whole, ignore_errors=True)
    directories = [whole / name for name in ("plain", "again", "tuned")]
    for directory in directories:
        directory.mkdir(parents=True)
        for path in case.inputs:
            shutil.copy(path, directory)
    for directory in directories[:2]:
        done = _run(case.command, directory)
        if done.returncode:
            return {**case.labels, "run": f"fails without settings: {_last(done.stderr)}"}
        time.sleep(1.1)  # so that dates in the outputs of the plain runs differ too
    words = [str(STRIPEWISE), "run", "--config", str(configuration.absolute()), "--json", "--"]
    done = _run([*words, *case.command], directories[2])
    if done.returncode:
        return {**case.labels, "run": f"exit code {done.returncode}: {_last(done.stderr)}"}
    seen = json.loads(done.stdout.splitlines()[-1])
    first, second, third = map(OutputSet.of, directories)
    said = BaselineOutputs(first, second).verify(third, layout=True)
    same = said.status in (VerificationStatus.IDENTICAL, VerificationStatus.SAME_CONTENT)
    differences = "; ".join(f"{name}: {why}" for name, why in said.differences.items())
    return {
        **case.labels,
        "run": "exit code 0",
        "settings that acted": _acted(seen),
        "output": str(said.status) + ("" if same else f" {differences}"),
    }


def markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the rows as a Markdown table."""
    columns = list(max(rows, key=len))
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row in rows:
        cells = [row.get(column, "–").replace("|", "/") for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _acted(seen: Mapping[str, Any]) -> str:
    """Return the settings that had an effect on a file of the program."""
    applied = {
        f"{key}={value}" for file in seen["files"] for key, value in file["applied"].items()
    }
    idle = " ".join(seen["could_not_act"])
    found = [f"`{text}`" for text in sorted(applied) if text.partition("=")[0] not in idle]
    below = seen["facts"]["mpiio_implementation"]
    return " ".join([*found, f"(MPI-IO by {below})"] if below else found)


def _run(words: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, **AS_ROOT},
    )  # fmt: skip


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was said"])[-1]
