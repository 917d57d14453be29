# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether settings that a program had without being asked brought what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from stripewise.text import format_ratio, plural

SAME_BYTES = 0.05
"""Runs whose amounts of data differ by more are not compared (assumed)."""
LEAST_SECONDS = 0.02
"""I/O that takes less says nothing (assumed: clocks and page faults are of this order)."""
NOISE = 0.15
"""By how much two equal runs may differ where only one is known (assumed)."""
LEAST_NOISE = 0.05
PATIENCE = 2
"""Runs without a gain after which settings are forgotten."""


class Outcome(StrEnum):
    """What came of settings."""

    UNKNOWN = "unknown"
    """There is nothing to compare with, or too little I/O."""
    GAIN = "gain"
    NOTHING = "nothing"
    """No gain that stands out from the noise."""
    LOSS = "loss"
    FAILED = "failed"
    """The program failed under them."""


@dataclass(frozen=True)
class Timed:
    """One run.

    Attributes:
        unix_seconds: When it ended.
        io_seconds: Its I/O time.
        moved_bytes: Read and written.
    """

    unix_seconds: float
    io_seconds: float
    moved_bytes: int

    @property
    def tells(self) -> bool:
        """Whether it had enough I/O to be compared."""
        return self.io_seconds >= LEAST_SECONDS and self.moved_bytes > 0


@dataclass(frozen=True)
class Verdict:
    """A judgement of settings.

    Attributes:
        outcome: Of all runs under them.
        ratio: How many times as fast the I/O was as without them; None: not known.
        words: For people, behind the settings: "made its I/O 1.3x slower".
        is_final: The settings are not to be set again.
    """

    outcome: Outcome
    ratio: float | None
    words: str
    is_final: bool = False


def judge(plain: Sequence[Timed], under: Sequence[Timed], *, idle: bool = False) -> Verdict:
    """Judge settings by the runs with and without them.

    A loss is final after one run, a gain that does not come after two.  Noise is what runs
    without settings differ by among themselves.

    Args:
        plain: Runs of the same program, ranks and storage without settings.
        under: Runs under the settings, the newest last; at least one.
        idle: It was observed that none of the settings could act.
    """
    if idle:
        return Verdict(Outcome.NOTHING, None, "could not act", True)
    here = [run for run in under if run.tells]
    if not here:
        return Verdict(Outcome.UNKNOWN, None, "cannot be judged: the program hardly does I/O")
    amount = here[-1].moved_bytes
    before = [run.io_seconds for run in plain if run.tells and _is_same(run, amount)]
    after = [run.io_seconds for run in here if _is_same(run, amount)]
    if not before:
        words = "cannot be judged: no run without settings that moved as much data is known"
        return Verdict(Outcome.UNKNOWN, None, words)
    ratio = median(before) / median(after)
    limit = 1 + noise(before)
    if ratio < 1 / limit:
        return Verdict(
            Outcome.LOSS, ratio, f"made its I/O {format_ratio(1 / ratio)}x slower", True
        )
    if ratio > limit:
        return Verdict(Outcome.GAIN, ratio, f"made its I/O {format_ratio(ratio)}x as fast")
    number = plural(len(after), "run")
    final = len(after) >= PATIENCE
    return Verdict(Outcome.NOTHING, ratio, f"brought no gain in {number}", final)


def failed(exit_code: int) -> Verdict:
    """Return the verdict on settings under which a program failed that had not before."""
    words = f"were set when it failed with exit code {exit_code}"
    return Verdict(Outcome.FAILED, None, words, True)


def noise(seconds: Sequence[float]) -> float:
    """Return by how much, relative to their median, equal runs differ."""
    if len(seconds) < 2:
        return NOISE
    return max(LEAST_NOISE, (max(seconds) - min(seconds)) / median(seconds))


def _is_same(run: Timed, amount: int) -> bool:
    return abs(run.moved_bytes - amount) <= SAME_BYTES * amount
