# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Phases and evidence of a profile in words."""

from __future__ import annotations

from stripewise.diagnosis import Periodicity
from stripewise.report._text import (
    format_bytes,
    format_seconds,
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
