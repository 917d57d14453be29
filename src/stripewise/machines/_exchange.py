# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective transfers of interleaved pieces, measured by the benchmark kernel."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stripewise.machines._costs import MIB, Exchange, Interval, interval_of

PIECES = (64, 1 << 10, 16 << 10)
_STEPS = 5
_BYTES = 4 * MIB
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Stack:
    """An MPI with one of its implementations of MPI-IO.

    Attributes:
        words: That start the kernel on `ranks` ranks.
        environment: That chooses the implementation.
    """

    words: tuple[str, ...]
    ranks: int
    environment: Mapping[str, str] = field(default_factory=dict)


def measure_exchange(stacks: Mapping[str, Stack], directory: Path) -> dict[str, Exchange]:
    """Measure each stack; one whose kernel fails is left out."""
    found = {name: _measure(stack, directory) for name, stack in stacks.items()}
    return {name: exchange for name, exchange in found.items() if exchange is not None}


def _measure(stack: Stack, directory: Path) -> Exchange | None:
    write: dict[int, Interval] = {}
    read: dict[int, Interval] = {}
    for piece in PIECES:
        elements = piece // 8
        rows = _BYTES // piece
        options = ["--pattern", "array3d", "--type", "double", "--halo", "0"]
        options += ["--mode", "collective", "--op", "write-read", "--steps", str(_STEPS)]
        options += ["--grid", f"1,1,{stack.ranks}", "--size", f"1,{rows},{elements * stack.ranks}"]
        options += ["--file", os.fspath(directory / "exchange.dat"), "--json", "-"]
        try:
            done = subprocess.run(
                [*stack.words, *options],
                env=os.environ | dict(stack.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
            steps = json.loads(done.stdout)["steps"]
        except (OSError, subprocess.SubprocessError, ValueError, KeyError):
            return None
        write[piece] = seconds_a_byte(steps, "write")
        read[piece] = seconds_a_byte(steps, "read")
    return Exchange(stack.ranks, write, read)


def seconds_a_byte(steps: Sequence[Mapping[str, Any]], operation: str) -> Interval:
    """Return the cost of a byte of all ranks in the transfers of the kernel's steps."""
    return interval_of(
        [
            step["phases"]["transfer"]["max_seconds"] / step["bytes"]
            for step in steps
            if step["operation"] == operation
        ]
    )
