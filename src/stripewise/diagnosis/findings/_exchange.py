# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls that take far longer than the system calls that they become."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stripewise.diagnosis._sums import Calls
from stripewise.diagnosis._usage import DATA, READS, SYSTEM, WRITES, FileUse
from stripewise.diagnosis._words import count, files_of, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told, word
from stripewise.diagnosis.findings._lines import hint_lines
from stripewise.model import IoLayer, Op

LEAST_RANKS = 4
LEAST_TIMES = 2.0
MOSTLY = 0.95
_BUFFER_BYTES = 64 << 20


class Exchange(Rule):
    """Collective I/O whose time is neither the storage's nor waiting for late ranks."""

    code = "collective-exchange"
    group = "requests"
    basis = (
        "time of the fastest rank in these calls, less that of the slowest process in the system "
        "calls beneath (at least that of the same bytes in large requests), less all time of the "
        "run outside collective data calls, in which ranks may have come late"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 4 ranks, nearly all bytes collective, all of them seen at the system."""
        if not math.isfinite(run.figures.run_seconds):
            return
        inside = sum(_collective(use, way).least for use in run.files for way in (True, False))
        outside = max(0.0, run.figures.run_seconds - inside)
        for use in run.files:
            for writing in (True, False):
                hit = self._look(use, run, outside, writing)
                if hit is not None:
                    yield hit

    def _look(self, use: FileUse, run: Run, outside: float, writing: bool) -> Hit | None:
        calls, ops = _collective(use, writing), WRITES if writing else READS
        every = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
        moved = use.calls(ops, layers=SYSTEM, own=False).bytes
        below = use.calls(DATA, layers=SYSTEM, own=False)  # writes may read before
        if calls.ranks < LEAST_RANKS or not calls.bytes or moved < every.bytes:
            return None
        bulk = run.bulk_seconds(moved, writing=writing, besides=use)
        system = max(below.elapsed, bulk)
        if calls.bytes < MOSTLY * every.bytes or calls.least < LEAST_TIMES * system:
            return None
        evidence = {
            "least_seconds": calls.least,
            "system_seconds": below.elapsed,
            "outside_seconds": outside,
        }
        cost = max(0.0, calls.least - system - outside)
        return Hit.of_calls(use, calls, cost, writing, evidence)

    def phrase(self, told: Told) -> str:
        """What takes time where."""
        kind = word(bool(told.first.writing))
        return (
            f"collective {kind} of {files_of(told.files, told.n_files)}, mostly not at the storage"
        )

    def text(self, told: Told) -> str:
        """Time in the calls against time at the system."""
        evidence = told.first.evidence
        return (
            f"{count(told.calls)} collective calls of {size(told.bytes)} in all took the fastest "
            f"rank {seconds(float(evidence['least_seconds']))}, but the system calls beneath only "
            f"{seconds(float(evidence['system_seconds']))} of the slowest process. The rest is "
            "exchange of data between ranks and waiting in each round for the slowest "
            "aggregator; where there are more ranks than cores, waiting for a core."
        )

    def remedy(self, told: Told) -> str:
        """Fewer rounds, or none."""
        verb = "write" if told.first.writing else "read"
        return (
            "Try a larger collective buffer (fewer rounds) and other numbers of aggregators, from "
            f"one for each host to one for each stripe. Or {verb} more in one call: nonblocking "
            "calls of PnetCDF with one wait, H5Dwrite_multi. Where the part of a rank is one "
            "large piece, independent calls need no exchange."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """A larger buffer: fewer rounds."""
        return hint_lines(
            run,
            {"cb_buffer_size": str(_BUFFER_BYTES)},
            {"io_ompio_cycle_buffer_size": str(_BUFFER_BYTES)},
        )


def _collective(use: FileUse, writing: bool) -> Calls:
    op = Op.WRITE_COLLECTIVE if writing else Op.READ_COLLECTIVE
    return use.calls([op], layers=[IoLayer.MPIIO], own=False)
