# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that can deadlock a program, and what a failure under them means."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.model import Measurement, RunStatus, Value
from stripewise.tunables import SafetyClass, tunable_of


def is_contract(settings: Mapping[str, Value]) -> bool:
    """Whether settings are right only if the program keeps a contract."""
    return any(tunable_of(name).safety is SafetyClass.CONTRACT for name in settings)


def failure_text(run: Measurement, settings: Mapping[str, Value]) -> str:
    """Say why a run does not count, and what a hang under such settings means."""
    text = run.message or run.status.value
    if run.cause.is_outside:
        return f"runs were ended from outside ({run.cause.value}), which says nothing: {text}"
    if run.status is not RunStatus.TIMEOUT or not is_contract(settings):
        return text
    names = ", ".join(name for name in settings if is_contract({name: settings[name]}))
    return f"{text}: the ranks wait for one another under {names}, or it is hopelessly slow"
