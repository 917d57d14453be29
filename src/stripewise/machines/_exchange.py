# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Transfers of interleaved pieces by several ranks, measured by the benchmark kernel."""

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
        name: Of the stack.
        words: That start the kernel on `ranks` ranks.
        collective: Whether the ranks transfer together.
        environment: That chooses the implementation.
    """

    name: str
    words: tuple[str, ...]
    ranks: int
    collective: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


def measure_exchange(stacks: Sequence[Stack], directory: Path) -> tuple[Exchange, ...]:
    """Measure each stack; one whose kernel fails is left out."""
    found = (_measure(stack, directory) for stack in stacks)
    return tuple(exchange for exchange in found if exchange is not None)


def _measure(stack: Stack, directory: Path) -> Exchange | None:
    mode = "collective" if stack.collective else "independent"
    write: dict[int, Interval] = {}
    read: dict[int, Interval] = {}
    every: list[Mapping[str, Any]] = []
    for piece in PIECES:
        elements = piece // 8
        rows = _BYTES // piece
        options = ["--pattern", "array3d", "--type", "double", "--halo", "0"]
        options += ["--mode", mode, "--op", "write-read", "--steps", str(_STEPS)]
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
        every += steps
        write[piece] = seconds_a_byte(steps, "write")
        read[piece] = seconds_a_byte(steps, "read")
    opening = interval_of(
        [sum(step["phases"][name]["min_seconds"] for name in ("open", "close")) for step in every]
    )
    return Exchange(stack.name, stack.ranks, stack.collective, opening, write, read)


def seconds_a_byte(steps: Sequence[Mapping[str, Any]], operation: str) -> Interval:
    """Return the cost of a byte of all ranks in the transfers of the kernel's steps."""
    return interval_of(
        [
            step["phases"]["transfer"]["max_seconds"] / step["bytes"]
            for step in steps
            if step["operation"] == operation
        ]
    )
