# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Phases and evidence of a profile in words."""

from __future__ import annotations

import math

from stripewise.diagnosis import Periodicity
from stripewise.report._text import (
    format_bandwidth,
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    significant,
)


def phase_words(phase: Periodicity) -> str:
    """Say what was found of the phases of one direction."""
    verb = {"write": "Writes", "read": "Reads"}.get(phase.direction, phase.direction)
    burst = f"{format_seconds(phase.phase_seconds)} and {format_bytes(phase.phase_bytes)}"
    if phase.periodic:
        return (
            f"{verb} come every {format_seconds(phase.period_seconds)} "
            f"(confidence {100 * phase.confidence:.0f} %): {phase.n_phases} phases of {burst} "
            "each (medians)."
        )
    if phase.n_phases <= 1:
        return f"{verb}: one phase of {burst}." if phase.n_phases else f"{verb}: no phases."
    return (
        f"{verb}: {phase.n_phases} phases of {burst} each (medians), at no regular period. "
        f"Spans shorter than {format_seconds(phase.resolution_seconds)} cannot be told apart."
    )


def evidence_figure(value: float | int | str, name: str) -> str:
    """Format a number of a finding's evidence by its name: bytes, seconds, shares."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "not known"
    if name.endswith("bytes_per_second"):
        return format_bandwidth(value)
    if name.endswith("bytes"):
        return format_bytes(value)
    if name.endswith("seconds"):
        return format_seconds(value)
    if name.endswith("share"):
        return format_percent(value)
    return format_count(value) if value == int(value) else significant(value)
