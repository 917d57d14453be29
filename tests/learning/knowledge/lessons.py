# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lessons for tests."""

from __future__ import annotations

import uuid

from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    Machine,
    StudiedCase,
    Tried,
    TriedState,
    describe_case,
)
from support.strategy_suite import romio_facts

KNOB = "mpiio.romio_ds_write"
OTHER = "mpiio.ind_wr_buffer_size"
MACHINE = Machine(
    "x86_64", "Good CPU", 64, 256 << 30, "5.14.0-427", "lustre", "network", "0123456789abcdef"
)


def case(machine: Machine = MACHINE, program: str = "prog", **changes: object) -> StudiedCase:
    """The case of the studies of `testing.study_fakes`."""
    return describe_case(machine, romio_facts(), program=program, **changes)


def lesson(
    settings: dict | None = None,
    *,
    of: StudiedCase | None = None,
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


__all__ = ["KNOB", "MACHINE", "OTHER", "Fingerprint", "case", "lesson"]
