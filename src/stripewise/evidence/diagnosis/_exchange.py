# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges collective calls that spend their time in the exchange between ranks."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import WAYS, Hit, Merged, Numbers, PreparedRun, Rule
from stripewise.evidence.diagnosis._collective import LEAST_PIECES, pattern_evidence
from stripewise.evidence.facts import Mpiio, hint_lines, without_ompio
from stripewise.evidence.figures import SYSTEM, FileUse
from stripewise.evidence.trace import IoLayer
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

LEAST_SHARE = 0.5
LARGE_PIECE_BYTES = 1 << 20


class SlowExchange(Rule):
    """Collective calls whose time is mostly neither system calls nor waiting for a late rank."""

    code = "slow-exchange"
    group = "requests"
    basis = "not estimated: it depends on what the storage does with the pieces of single ranks"
    title = "Collective calls spend their time in the exchange between ranks"
    general_remedy = "Try the calls without collective buffering, or with other aggregators."
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find collective calls of MPI-IO of which system calls take less than half.

        The time is that of the fastest rank, which does not wait for others to arrive. On storage
        with stripes, where ranks wait for each other's locks, pieces must be large.
        """
        if run.n_ranks < 2:
            return
        for use in run.files:
            for writing, ops in WAYS:
                calls = use.calls(ops[1:], layers=[IoLayer.MPIIO], own=False)
                every = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
                below = use.calls(ops, layers=SYSTEM, own=False)
                exchange = calls.least - below.elapsed
                if not calls.bytes or 2 * calls.bytes < every.bytes or not below.count:
                    continue
                if exchange < LEAST_SHARE * calls.least or calls.ranks < 2:
                    continue
                pieces = pattern_evidence(run, use, writing)
                if below.count >= LEAST_PIECES * calls.count or not _is_worth(run, use, pieces):
                    continue
                evidence: Numbers = {
                    "system_seconds": below.elapsed,
                    "least_seconds": calls.least,
                    "mpiio": str(run.mpiio),
                }
                yield Hit(
                    use, None, exchange, calls.count, calls.bytes, {**evidence, **pieces}, writing
                )

    def phrase(self, merged: Merged) -> str:
        return f"the exchange between ranks in collective {merged.way_files}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        pieces = ""
        if run_bytes := float(evidence.get("pattern_run_bytes", 0)):
            pieces = f" of pieces of {size(run_bytes)}"
        return (
            f"{things(merged.calls, 'collective call')} of {size(merged.mean_bytes)} took the "
            f"fastest rank {seconds(float(evidence['least_seconds']))}, of which system calls "
            f"took {seconds(float(evidence['system_seconds']))}: the rest is the exchange"
            f"{pieces} between the ranks."
        )

    def remedy(self, merged: Merged) -> str:
        if merged.evidence["mpiio"] == Mpiio.OMPIO:
            return "Try Open MPI's ROMIO, which exchanges the pieces in another way."
        verb = "write" if merged.writing else "read"
        return (
            f"Try the calls without collective buffering: the hint romio_cb_{verb}=disable. Each "
            "rank then moves its own pieces, which is faster on storage of a node and with large "
            "pieces, and slower where ranks wait for each other's locks."
        )

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        if run.mpiio is Mpiio.OMPIO:
            return (without_ompio(),)
        verb = "write" if merged.writing else "read"
        return hint_lines(run.mpiio, {f"romio_cb_{verb}": "disable"})


def _is_worth(run: PreparedRun, use: FileUse, pieces: Numbers) -> bool:
    """Return whether another way to move the pieces may be faster."""
    if run.mpiio is Mpiio.OMPIO or not use.layout.stripe_count:
        return True
    return float(pieces.get("pattern_run_bytes", 0)) >= LARGE_PIECE_BYTES
