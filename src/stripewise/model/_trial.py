# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A candidate configuration and what its runs gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stripewise.model._configuration import Configuration, Value
from stripewise.model._measurement import Measurement


class TrialState(StrEnum):
    """Where a trial stands."""

    COMPLETE = "complete"
    HOPELESS = "hopeless"
    """Stopped early: clearly slower than the baseline."""
    FAILED = "failed"
    """The program failed, timed out or was not seen under this configuration."""
    LOST = "lost"
    """Nothing is known of these settings: what ended its runs came from outside, or its output
    differs from the baseline's in one run and not in the next."""
    REJECTED = "rejected"
    """Its output differs from the baseline's."""


@dataclass(frozen=True)
class Speedup:
    """Ratio baseline / candidate of I/O times from paired runs.

    Attributes:
        median: exp(median of the log-ratios).
        low / high: Bounds of the interval; NaN where there were too few pairs.
        n_pairs: Number of pairs.
        confidence: Nominal level of the interval, 0.95.
        method: Name of the method.
    """

    median: float
    low: float
    high: float
    n_pairs: int
    confidence: float = 0.95
    method: str = ""


@dataclass(frozen=True)
class Proposal:
    """A point to try.

    Attributes:
        settings: Tunable name to value; tunables not named stay at their default.
        reason: Why this one, in plain words.
    """

    settings: Mapping[str, Value]
    reason: str


@dataclass(frozen=True)
class Trial:
    """One point of the search.

    Attributes:
        number: From 1.
        settings: Tunable name to value, e.g. {"mpiio.cb_nodes": 4}; the rest at default.
        configuration: What is applied.
        state: Outcome.
        measurements: Its runs.
        io_ratio: Median over its runs of I/O time / that of the baseline run(s) next to
            them (smaller is better); inf if it failed.  What strategies minimise.  Of
            several cases the weighted geometric mean, or the worst case if that got clearly
            slower.
        elapsed_ratio: The same of the whole time.
        message: One line of explanation.
        details: What it did, for people.
        case_ratios: Case to its I/O-time ratio, of those that ran; empty with one case.
        class_ratios: Glob of a class of files to the ratio of the I/O time on these; empty
            where the files of a program are of one class.
    """

    number: int
    settings: Mapping[str, Value]
    configuration: Configuration
    state: TrialState = TrialState.COMPLETE
    measurements: tuple[Measurement, ...] = ()
    io_ratio: float = float("inf")
    elapsed_ratio: float = float("inf")
    message: str = ""

    details: Mapping[str, str] = field(default_factory=dict)
    case_ratios: Mapping[str, float] = field(default_factory=dict)
    class_ratios: Mapping[str, float] = field(default_factory=dict)
