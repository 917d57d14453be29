# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges calls that move no data: opens, stats, calls on names and syncs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stripewise.core import Interval
from stripewise.evidence.diagnosis._base import (
    Hit,
    Merged,
    Numbers,
    PreparedRun,
    Rule,
    opening_of,
)
from stripewise.evidence.figures import WRITES
from stripewise.evidence.trace import Action, IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import files_of
from stripewise.present import number_text as number
from stripewise.present import seconds_text as seconds

LEAST_OPENS = 10
LEAST_STATS = 1000
ASKING = (Action.STAT, Action.ACCESS)
CHANGING = (Action.MKDIR, Action.RMDIR, Action.UNLINK, Action.RENAME, Action.LINK, Action.SYMLINK)
LEAST_SHARE = 0.2


def slowest_process(run: PreparedRun, actions: Sequence[Action]) -> tuple[float, int, Numbers]:
    """Return the calls on names of the process that spent most time in some actions.

    Returns:
        Seconds, number of calls, and calls by name with the directory that took most time; zeros
        if there are no such calls.
    """
    rows, columns = run.profile.names, [int(action) for action in actions]
    spent = rows["seconds"][:, columns].sum(axis=1) if len(rows) else np.zeros(0)
    if not spent.sum():
        return 0.0, 0, {}
    by_process = np.bincount(rows["process"], weights=spent)
    process = int(by_process.argmax())
    mine = rows["process"] == process
    calls = rows["count"][mine].sum(axis=0)
    counted = {action.name.lower(): int(calls[action]) for action in actions if calls[action]}
    directory = int(rows["directory"][mine][spent[mine].argmax()])
    evidence: Numbers = {**counted, "directory": run.profile.directories[directory]}
    return float(by_process[process]), sum(counted.values()), evidence


class OpenPerStep(Rule):
    """Repeated opening of the same file."""

    code = "open-per-step"
    group = "metadata"
    basis = (
        "one open and one close; where ranks open together, at most what these calls take "
        "on this MPI"
    )
    title = "Files are opened and closed again and again"
    general_remedy = "Open each file once and keep it open."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find files that each of their ranks opens at least 10 times."""
        for use in run.files:
            opens = use.calls([Op.OPEN])
            each = opens.count / max(opens.ranks, 1)
            if each < LEAST_OPENS:
                continue
            spent = opening_of(use)
            together = use.top >= IoLayer.MPIIO and opens.ranks > 1
            elapsed = spent.least if together else spent.elapsed
            gain = run.now(elapsed).scaled(1 - 1 / each)
            known = run.measured() if together and use.top is IoLayer.MPIIO else None
            if known is not None:  # longer times are waits for late ranks
                gain = Interval(*map(min, gain, known.opening.scaled(each - 1)))
            evidence = {"opens_a_rank": each}
            yield Hit(use, gain, elapsed, opens.count, 0, evidence, None, use.only_rank)

    def phrase(self, merged: Merged) -> str:
        return f"opening {merged.names} {count(merged.calls)} times"

    def text(self, merged: Merged) -> str:
        each = number(float(merged.evidence["opens_a_rank"]))
        return (
            f"Each process opened the file {each} times; opening and closing it took "
            f"{seconds(merged.stake)}."
        )

    def remedy(self, merged: Merged) -> str:
        return "Open the file once, keep it open over the steps, and close it at the end."


class RepeatedStat(Rule):
    """Repeated queries of the attributes of files."""

    code = "repeated-stat"
    group = "names"
    basis = "one call for each directory"
    title = "The program asks for the same files again and again"
    general_remedy = "Keep the answer, or list a directory once."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find at least 1000 stats and similar calls by one process."""
        spent, calls, evidence = slowest_process(run, ASKING)
        if calls >= LEAST_STATS:
            gain = run.now(spent).scaled(1 - len(run.profile.directories) / calls)
            yield Hit(None, gain, spent, calls, 0, evidence)

    def phrase(self, merged: Merged) -> str:
        where = files_of((str(merged.evidence["directory"]) or "many directories",))
        return f"asking {count(merged.calls)} times about files in {where} (stat, access)"

    def text(self, merged: Merged) -> str:
        return (
            f"One process asked {count(merged.calls)} times whether a file is there, how long it "
            f"is or when it changed; that took {seconds(merged.stake)}."
        )

    def remedy(self, merged: Merged) -> str:
        return (
            "Ask once and keep the answer; list a directory once instead of asking for each of "
            "its files. Where a file may change meanwhile, ask at most once a second."
        )


class NameCalls(Rule):
    """Creating, renaming and removing files takes much of the I/O time: a fact without a claim."""

    code = "name-calls"
    group = "names"
    claims = False
    basis = "not estimated: which of these files are needed is not known"
    title = "Much time goes into making, renaming and removing files"
    general_remedy = "Keep temporary data in memory, or use fewer files."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find mkdir, unlink, rename and similar calls that take at least 20 % of the I/O time."""
        spent, calls, evidence = slowest_process(run, CHANGING)
        whole = run.figures.io_seconds
        if run.now(spent).low >= max(run.least_gain, LEAST_SHARE * whole):
            yield Hit(None, None, spent, calls, 0, evidence)

    def phrase(self, merged: Merged) -> str:
        numbers = merged.evidence
        names = [action.name.lower() for action in CHANGING if action.name.lower() in numbers]
        return f"{count(merged.calls)} calls of {', '.join(names)}"

    def text(self, merged: Merged) -> str:
        where = str(merged.evidence["directory"]) or "many directories"
        return (
            f"{self.phrase(merged)} by one process took {seconds(merged.stake)}, most of it in "
            f"{files_of((where,))}."
        )

    def remedy(self, merged: Merged) -> str:
        return (
            "Keep temporary data in memory, or in one scratch file that is reused; create each "
            "directory once."
        )


# Waiting for the storage after each write.


LEAST_SYNCS = 10
LEAST_RATIO = 0.05


class SyncPerWrite(Rule):
    """A sync (fsync, fflush, MPI_File_sync, H5Fflush) for every one or two writes."""

    code = "sync-per-write"
    group = "sync"
    basis = "one sync of all that was written"
    title = "Data are forced to the disk after every write"
    general_remedy = "Sync once at the end, unless each record must survive a crash."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find files with at least 10 syncs per rank, and one for every two writes."""
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

    def phrase(self, merged: Merged) -> str:
        return f"{count(merged.calls)} syncs of {merged.names}"

    def text(self, merged: Merged) -> str:
        writes = count(int(merged.evidence["writes"]))
        return (
            f"{count(merged.calls)} syncs for {writes} writes took {seconds(merged.stake)} of the "
            "slowest rank: each waits until the storage has everything."
        )

    def remedy(self, merged: Merged) -> str:
        return (
            "Sync once for many records, unless each must survive a crash by itself. In a "
            "database put many changes into one transaction; other programs sync once, after the "
            "last write."
        )
