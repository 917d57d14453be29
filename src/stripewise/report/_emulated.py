# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is told of a run on an emulated storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stripewise.report._text import format_seconds, plural
from stripewise.text import printable

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedRun


def emulation_lines(run: EmulatedRun) -> list[str]:
    """Lines below those of the files."""
    requests = f"{plural(run.requests, 'request')}, {run.held} held back"
    lines = [
        f"   {printable(run.storage)}   emulated: {requests} "
        f"({format_seconds(run.held_seconds)} in all)"
    ]
    if run.limits_text:
        lines.append(f"     {'limits':<9} {run.limits_text}")
    if run.slowdown != 1:
        lines.append(f"     {'time':<9} {run.slowdown:g} times as long as on the storage itself")
    return lines


def emulation_json(run: EmulatedRun, n_ranks: int) -> dict[str, Any]:
    """For `--json`; times in seconds."""
    problem = run.why_it_hangs(n_ranks) or run.problem
    return {
        "storage": run.storage,
        "machine": run.machine,
        "slowdown": run.slowdown,
        "counted": not problem,
        "problem": problem,
        "transport": run.transport,
        "ranks_per_node": run.ranks_per_node,
        "processes": run.processes,
        "writes": run.writes,
        "reads": run.reads,
        "metadata": run.metadata,
        "held": run.held,
        "held_seconds": run.held_seconds,
        "model_seconds": run.model_seconds,
        "late": run.late,
        "late_seconds": run.late_seconds,
        "limits": dict(run.limits),
        "mapped": run.mapped,
        "rings": run.rings,
        "static_programs": run.static_programs,
    }
