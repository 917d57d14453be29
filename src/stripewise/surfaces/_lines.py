# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a surface's file: runs and tunables to and from compact JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stripewise.model import RunStatus, Value, from_json

_SECONDS_DIGITS = 6
_CLOCK_DIGITS = 3


class SurfaceRole(StrEnum):
    """Why a run was recorded."""

    POINT = "point"
    """Of a round: every configuration once, in random order."""
    CONTROL = "control"
    """Of the default in between, to see the machine drift."""
    WARM_UP = "warm-up"
    """The first run of a session: kept, and never counted."""


@dataclass(frozen=True)
class SurfaceRun:
    """One recorded run.

    Attributes:
        settings: Tunable name to value; tunables not named were at their default.
        elapsed_seconds: Whole time.
        io_seconds: I/O time.
        read_bytes / write_bytes: What the program asked to move.
        status: How it ended.
        role: Why it was made.
        round: From 1; 0 where there are no rounds.
        sequence: Place in the plan, from 1; 0 for a warm-up, and where there is no plan.
        started_unix_seconds: When it started.
        message: One line where it did not end well.
    """

    settings: Mapping[str, Value]
    elapsed_seconds: float
    io_seconds: float
    read_bytes: int = 0
    write_bytes: int = 0
    status: RunStatus = RunStatus.OK
    role: SurfaceRole = SurfaceRole.POINT
    round: int = 0
    sequence: int = 0
    started_unix_seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class RecordedTunable:
    """A tunable of the surface: the values that were measured, and which one is the default.

    Default None: the default is to leave the tunable alone, and was measured besides the values.
    """

    values: tuple[Value, ...] = ()
    default: Value | None = None


def run_to_line(run: SurfaceRun) -> str:
    """Return a run as a line; what has its usual value is left out."""
    usual = SurfaceRun({}, 0.0, 0.0)
    data: dict[str, Any] = {
        "settings": dict(run.settings),
        "elapsed_seconds": round(run.elapsed_seconds, _SECONDS_DIGITS),
        "io_seconds": round(run.io_seconds, _SECONDS_DIGITS),
    }
    for name in ("read_bytes", "write_bytes", "status", "role", "round", "sequence", "message"):
        if getattr(run, name) != getattr(usual, name):
            data[name] = getattr(run, name)
    if run.started_unix_seconds:
        data["started_unix_seconds"] = round(run.started_unix_seconds, _CLOCK_DIGITS)
    return compact(data)


def run_from_json(entry: Any) -> SurfaceRun:
    """Restore a run.

    Raises:
        ValueError: It is none.
    """
    run = from_json(SurfaceRun, entry, "run")
    if min(run.elapsed_seconds, run.io_seconds, run.read_bytes, run.write_bytes) < 0:
        raise ValueError("run: a time or a size is negative")
    return run


def compact(data: Mapping[str, Any]) -> str:
    """Return JSON on one line, without blanks, with its end."""
    return json.dumps(data, separators=(",", ":")) + "\n"
