# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of the model to and from plain JSON data, for the journal.

By hand and not through a schema library: paths may hold bytes that are not UTF-8 (surrogates),
and ratios may be infinite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import inf, isfinite
from typing import Any

from stripewise.launch import Handle
from stripewise.model import (
    Measurement,
    ProgramFacts,
    Value,
    Verification,
    from_json,
)

Json = dict[str, Any]


def measurement_to_json(measurement: Measurement) -> Json:
    """Return a measurement in full."""
    return asdict(measurement)


def measurement_from_json(data: Mapping[str, Any]) -> Measurement:
    """Restore a measurement."""
    return from_json(Measurement, data)


def facts_to_json(facts: ProgramFacts) -> Json:
    """Return what a first run showed."""
    return asdict(facts)


def facts_from_json(data: Mapping[str, Any]) -> ProgramFacts:
    """Restore what a first run showed."""
    return from_json(ProgramFacts, data)


def verification_to_json(verification: Verification) -> Json:
    """Return a comparison."""
    return {
        "status": verification.status.value,
        "compared": list(verification.compared),
        "not_verifiable": dict(verification.not_verifiable),
        "differences": dict(verification.differences),
    }


def verification_from_json(data: Mapping[str, Any]) -> Verification:
    """Restore a comparison."""
    return from_json(Verification, data)


def handle_to_json(handle: Handle) -> Json:
    """Return a durable handle."""
    return {"launcher": handle.launcher, "run_id": handle.run_id, "data": dict(handle.data)}


def handle_from_json(data: Mapping[str, Any]) -> Handle:
    """Restore a durable handle."""
    return from_json(Handle, data)


def settings_to_json(settings: Mapping[str, Value]) -> Json:
    """Return tunable name to value; tuples become lists."""
    return {n: list(v) if isinstance(v, tuple) else v for n, v in settings.items()}


def settings_from_json(data: Mapping[str, Any]) -> dict[str, Value]:
    """Restore tunable name to value."""
    return {n: tuple(v) if isinstance(v, list) else v for n, v in data.items()}


def ratio_to_json(ratio: float) -> float | None:
    """Return a ratio; None for an infinite one (JSON has no infinity)."""
    return ratio if isfinite(ratio) else None


def ratio_from_json(data: float | None) -> float:
    """Restore a ratio."""
    return inf if data is None else data
