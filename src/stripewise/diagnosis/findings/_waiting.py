# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Opening, closing and syncing one file takes most of the I/O time."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import METADATA, SYSTEM
from stripewise.diagnosis._words import count, files_of, percent, seconds
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.diagnosis.findings._metadata import NEEDED_SECONDS
from stripewise.model import IoLayer, Op

LEAST_IO_SHARE = 0.5
LEAST_RUN_SHARE = 0.1
LEAST_OPENS = 1.5
_MOST_AT_SYSTEM = 0.5
_NAMES = {Op.OPEN: "opens", Op.CLOSE: "closes", Op.SYNC: "syncs", Op.META: "other calls"}


class MetadataDominates(Rule):
    """Calls that move no data take most of the I/O time of a shared file."""

    code = "metadata-dominates"
    group = "metadata"
    basis = "time of the fastest rank in these calls, less 1 ms for each of them (assumed)"

    def hits(self, run: Run) -> Iterable[Hit]:
        """Half of the I/O time and a tenth of the run in such calls of one shared file."""
        figures = run.figures
        for use in run.open_files:
            calls = use.calls(METADATA)
            least = max(LEAST_IO_SHARE * figures.io_seconds, LEAST_RUN_SHARE * figures.run_seconds)
            if use.total.ranks < 2 or not calls.elapsed > least:
                continue
            parts = {name: use.calls([op]) for op, name in _NAMES.items()}
            evidence: dict[str, float | int | str] = {
                "share": calls.elapsed / figures.io_seconds,
                "system_seconds": use.calls(METADATA, layers=SYSTEM, own=False).elapsed,
                "parallel": int(use.top >= IoLayer.MPIIO),
                "opens_a_rank": parts["opens"].count / max(parts["opens"].ranks, 1),
            }
            for name, part in parts.items():
                key = name.replace(" ", "_")
                evidence |= {key: part.count, f"{key}_seconds": part.elapsed}
            cost = max(0.0, calls.least - NEEDED_SECONDS * calls.count / max(calls.ranks, 1))
            yield Hit(use, cost, calls.elapsed, calls.count, 0, evidence)

    def phrase(self, told: Told) -> str:
        """Which calls take most, where."""
        worst = max(_NAMES.values(), key=lambda name: _spent(told, name))
        name = files_of(told.files, told.n_files)
        return f"calls to {name} that move no data, mostly {worst}"

    def text(self, told: Told) -> str:
        """Which calls, how long, and how much of it the file system had."""
        evidence = told.first.evidence
        shown = sorted(_NAMES.values(), key=lambda name: -_spent(told, name))
        parts = [
            f"{count(int(evidence[name.replace(' ', '_')]))} {name} {seconds(_spent(told, name))}"
            for name in shown
            if evidence[name.replace(" ", "_")]
        ]
        system = float(evidence["system_seconds"])
        waiting = (
            f" The file system had only {seconds(system)} of it: the rest is waiting for other "
            "ranks and work of the libraries; where there are more ranks than cores, waiting for "
            "a core."
            if evidence["parallel"] and system < _MOST_AT_SYSTEM * told.stake
            else ""
        )
        return (
            f"Calls that move no data took {percent(float(evidence['share']))} of the I/O time "
            f"(slowest rank of each: {', '.join(parts)}).{waiting}"
        )

    def remedy(self, told: Told) -> str:
        """Fewer of them, or less waiting in them."""
        rest = (
            "Sync only where others must see the data; make groups, datasets and attributes once, "
            "not in each step. Run no more ranks than cores."
        )
        if float(told.first.evidence["opens_a_rank"]) >= LEAST_OPENS:
            return f"Open the file once and close it at the end. {rest}"
        if told.first.evidence["parallel"]:
            return f"See which rank comes late to these calls: all others wait for it. {rest}"
        return f"Make fewer such calls. {rest}"


def _spent(told: Told, name: str) -> float:
    return float(told.first.evidence[f"{name.replace(' ', '_')}_seconds"])
