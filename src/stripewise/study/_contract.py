# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trials of settings that can deadlock a program: they are stopped early."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.model import Measurement, RunStatus, Value
from stripewise.study._baseline import Baseline
from stripewise.tunables import SafetyClass, tunable_of

HANG_FACTOR = 3.0
HANG_FLOOR_SECONDS = 5.0


def is_contract(settings: Mapping[str, Value]) -> bool:
    """Whether settings are right only if the program keeps a contract."""
    return any(tunable_of(name).safety is SafetyClass.CONTRACT for name in settings)


def trial_timeout(baseline: Baseline, settings: Mapping[str, Value]) -> float:
    """Return the time limit of a trial's run, shorter where it may hang.

    Equal numbers of calls on all ranks do not prove that they come in the same order: what
    takes three times as long as the slowest run of the baseline is taken for a deadlock.
    """
    if not is_contract(settings):
        return baseline.timeout_seconds
    longest = max(run.elapsed_seconds for run in baseline.measurements)
    return min(baseline.timeout_seconds, max(HANG_FLOOR_SECONDS, HANG_FACTOR * longest))


def failure_text(run: Measurement, settings: Mapping[str, Value]) -> str:
    """Say why a run does not count, and what a hang under such settings means."""
    text = run.message or run.status.value
    if run.cause.is_outside:
        return f"runs were ended from outside ({run.cause.value}), which says nothing: {text}"
    if run.status is not RunStatus.TIMEOUT or not is_contract(settings):
        return text
    names = ", ".join(name for name in settings if is_contract({name: settings[name]}))
    return f"{text}: the ranks wait for one another under {names}, or it is hopelessly slow"
