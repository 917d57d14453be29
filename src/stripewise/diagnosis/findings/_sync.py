# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for the storage after each write."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import WRITES
from stripewise.diagnosis._words import count, files_of, seconds
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.model import Op

LEAST_SYNCS = 10
LEAST_RATIO = 0.5


class SyncPerWrite(Rule):
    """A sync (fsync, MPI_File_sync, H5Fflush) for every write or two."""

    code = "sync-per-write"
    group = "sync"
    also = ("metadata",)
    basis = "time of the slowest rank in syncs, less one of them"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 10 syncs a rank, and one for every two writes."""
        for use in run.files:
            syncs, writes = use.calls([Op.SYNC]), use.calls(WRITES)
            each = syncs.count / max(syncs.ranks, 1)
            if each >= LEAST_SYNCS and syncs.count >= LEAST_RATIO * writes.count > 0:
                evidence = {"writes": writes.count}
                cost = syncs.elapsed * (1 - 1 / each)
                yield Hit(use, cost, syncs.elapsed, syncs.count, 0, evidence, True, use.only_rank)

    def phrase(self, told: Told) -> str:
        """How many where."""
        return f"{count(told.calls)} syncs of {files_of(told.files, told.n_files)}"

    def text(self, told: Told) -> str:
        """Syncs against writes."""
        writes = count(int(told.first.evidence["writes"]))
        return (
            f"{count(told.calls)} syncs for {writes} writes took {seconds(told.stake)} of the "
            "slowest rank: each waits until the storage has everything."
        )

    def remedy(self, told: Told) -> str:
        """Once."""
        return (
            "Sync once, after the last write of a checkpoint (fsync, MPI_File_sync, H5Fflush); "
            "closing the file is enough for other ranks to see it."
        )
