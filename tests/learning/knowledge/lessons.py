# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lessons for tests."""

from __future__ import annotations

import re
import sqlite3
import uuid
from pathlib import Path

from stripewise.learning.knowledge import (
    Case,
    Effect,
    Fingerprint,
    Lesson,
    Machine,
    Stack,
    Tried,
    TriedState,
    describe_case,
)
from stripewise.learning.knowledge._file import MIGRATIONS
from support.strategy_suite import romio_facts

KNOB = "mpiio.romio_ds_write"
OTHER = "mpiio.ind_wr_buffer_size"
MACHINE = Machine(
    "x86_64", "Good CPU", 64, 256 << 30, "5.14.0-427", "lustre", "network", "0123456789abcdef"
)


def case(machine: Machine = MACHINE, program: str = "prog", **changes: object) -> Case:
    """The case of the studies of `testing.study_fakes`."""
    return describe_case(machine, romio_facts(), program=program, **changes)


def lesson(
    settings: dict | None = None,
    *,
    of: Case | None = None,
    median: float = 2.0,
    improved: bool = True,
    tried: tuple[Tried, ...] = (),
    at: float = 1_790_000_000.0,
) -> Lesson:
    """A study that found these settings."""
    settings = {KNOB: "disable"} if settings is None else settings
    low, high = (median * 0.9, median * 1.1) if improved else (0.9, 1.1)
    return Lesson(
        study_id=uuid.uuid4().hex,
        recorded_unix_seconds=at,
        case=of or case(),
        improved=improved,
        candidate=settings,
        effect=Effect(median, low, high, 6),
        tried=tried or (Tried(settings, TriedState.COMPLETE, 1 / median, 2),),
        n_runs=30,
        strategy="auto",
        stripewise="0.1",
    )


def of_version(path: Path, version: int) -> None:
    """Take out of a store what later versions than this one brought."""
    made = re.compile(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)")
    with sqlite3.connect(path) as connection:
        for statement in reversed([one for later in MIGRATIONS[version:] for one in later]):
            if found := made.match(statement):
                kind, name = found.groups()
                connection.execute(f"DROP {kind} IF EXISTS {name}")
        connection.execute("DELETE FROM migration WHERE version > ?", (version,))


__all__ = ["KNOB", "MACHINE", "OTHER", "Fingerprint", "Stack", "case", "lesson", "of_version"]
