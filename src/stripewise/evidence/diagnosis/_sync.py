# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for the storage after each write."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Rule, Run, Told
from stripewise.evidence.figures import WRITES
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import seconds_text as seconds

LEAST_SYNCS = 10
LEAST_RATIO = 0.5


class SyncPerWrite(Rule):
    """A sync (fsync, fflush, MPI_File_sync, H5Fflush) for every write or two."""

    code = "sync-per-write"
    group = "sync"
    basis = "one sync of all that was written"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 10 syncs a rank, and one for every two writes."""
        for use in run.files:
            syncs, writes = use.calls([Op.SYNC]), use.calls(WRITES)
            each = syncs.count / max(syncs.ranks, 1)
            if each < LEAST_SYNCS or not syncs.count >= LEAST_RATIO * writes.count > 0:
                continue
            if use.calls([Op.SYNC], layers=[IoLayer.POSIX], own=False).count:
                after = run.storage.synced(writes.bytes)
            else:
                after = run.storage.bulk(writes.bytes / max(writes.ranks, 1), writing=True)
            gain = run.now(syncs.elapsed).minus(after)
            yield Hit.of_calls(use, syncs, gain, True, {"writes": writes.count})

    def phrase(self, told: Told) -> str:
        return f"{count(told.calls)} syncs of {told.names}"

    def text(self, told: Told) -> str:
        writes = count(int(told.evidence["writes"]))
        return (
            f"{count(told.calls)} syncs for {writes} writes took {seconds(told.stake)} of the "
            "slowest rank: each waits until the storage has everything."
        )

    def remedy(self, told: Told) -> str:
        return (
            "Sync once, after the last write. If each record must survive a crash (a data base, "
            "a journal), the syncs are the price of that and must stay."
        )
