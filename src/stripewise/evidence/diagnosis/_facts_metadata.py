# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells facts about calls that move no data: opens, queries, calls on names, syncs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stripewise.core import ReportedPart
from stripewise.evidence.diagnosis._base import Numbers, opening_of
from stripewise.evidence.diagnosis._facts_base import FactRule, SeenRun
from stripewise.evidence.figures import DATA, Fact
from stripewise.evidence.trace import Action, IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import files_of
from stripewise.present import number_text as number
from stripewise.present import percent_text as percent
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds

LEAST_METADATA = 0.3
LEAST_SYNC = 0.2
LEAST_SYNCS = 10
LEAST_OPENS = 10
_OF_FILES = (Op.OPEN, Op.CLOSE, Op.META)
_MOST_NAMED = 3


class Metadata(FactRule):
    """A large share of the I/O time in opens, closes, queries and calls on names, syncs apart."""

    code = "metadata"
    subject = "share of metadata in the I/O time"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        parts = _parts(run)
        spent = sum(parts.values())
        share = run.share(spent)
        if not share >= LEAST_METADATA or self.why_unknown(run):
            return
        data = run.whole.calls(DATA).cumulated
        worst = sorted(parts.items(), key=lambda one: -one[1])
        told = ", ".join(
            f"{name} {percent(run.share(n))}" for name, n in worst if n > 0.01 * spent
        )
        counted = _calls(run)
        named = ", ".join(things(n, name) for name, n in counted[:_MOST_NAMED])
        text = (
            f"{percent(share)} of the I/O time is metadata: {told}"
            f"{f' ({named})' if named else ''}; data took {percent(run.share(data))}."
        )
        numbers: Numbers = {"share": share, "calls": sum(n for _, n in counted), **dict(counted)}
        yield run.timed_fact(self.code, text, spent, run.whole.calls(_OF_FILES).elapsed, numbers)

    def why_unknown(self, run: SeenRun) -> str:
        why = "" if run.is_timed else "the source has no times of I/O"
        lacking = (run.profile.why_missing(part) for part in ReportedPart)
        return next(filter(None, lacking), "") or why


def _parts(run: SeenRun) -> dict[str, float]:
    """Return the time of all ranks in each kind of metadata.

    Other calls on streams are seeks, which write and read buffers: these are data.
    """
    layers = [layer for layer in IoLayer if layer is not IoLayer.STDIO]
    opens, closes = (run.whole.calls([op]) for op in (Op.OPEN, Op.CLOSE))
    is_apart = opens.cumulated > 0 or not opens.count  # Darshan has one time of all metadata
    return {
        "opening": opens.cumulated,
        "closing": closes.cumulated,
        "other calls on files" if is_apart else "opening and other calls on files": (
            run.whole.calls([Op.META], layers=layers).cumulated
        ),
        "calls on names": max(run.io_cumulated - run.whole.calls().cumulated, 0.0),
    }


def _calls(run: SeenRun) -> list[tuple[str, int]]:
    """Return the calls that move no data by name, most frequent first."""
    names = run.profile.names
    by_action = names["count"].sum(axis=0) if len(names) else np.zeros(len(Action), int)
    words = {Action.OPEN: "open", Action.STAT: "stat", Action.ACCESS: "access call",
             Action.LIST: "directory listing", Action.MKDIR: "mkdir", Action.RMDIR: "rmdir",
             Action.UNLINK: "unlink", Action.RENAME: "rename", Action.LINK: "link",
             Action.SYMLINK: "symlink", Action.CHANGE: "attribute change",
             Action.TRUNCATE: "truncate", Action.STATFS: "statfs call"}  # fmt: skip
    found = {word: int(by_action[action]) for action, word in words.items()}
    found["open"] = max(found["open"], run.whole.calls([Op.OPEN]).count)
    if not any(n for word, n in found.items() if word != "open"):
        layers = [layer for layer in IoLayer if layer is not IoLayer.STDIO]
        found["other call"] = run.whole.calls([Op.META], layers=layers).count
    return sorted(((w, n) for w, n in found.items() if n), key=lambda one: -one[1])


class Syncs(FactRule):
    """Much time in syncs of files."""

    code = "sync"
    subject = "syncs"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        calls = run.whole.calls([Op.SYNC])
        share = run.share(calls.cumulated)
        if not share >= LEAST_SYNC or calls.count < LEAST_SYNCS:
            return
        paths = [use.path for use in run.files if use.calls([Op.SYNC]).count]
        text = (
            f"{things(calls.count, 'sync')} of {files_of(paths[:16], len(paths))} took "
            f"{percent(share)} of the I/O time."
        )
        numbers: Numbers = {"calls": calls.count, "share": share}
        yield run.timed_fact(self.code, text, calls.cumulated, calls.elapsed, numbers, paths)

    def why_unknown(self, run: SeenRun) -> str:
        return "" if run.is_timed else "the source has no times of I/O"


class Opens(FactRule):
    """Files that are opened again and again."""

    code = "opens"
    subject = "opens of the same file"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        again = [
            use
            for use in run.files
            if (calls := use.calls([Op.OPEN])).count >= LEAST_OPENS * max(calls.ranks, 1)
        ]
        if not again:
            return
        again.sort(key=lambda use: -opening_of(use).cumulated)
        opens = [use.calls([Op.OPEN]) for use in again]
        total, ranks = sum(one.count for one in opens), max(opens[0].ranks, 1)
        spent = sum(opening_of(use).cumulated for use in again)
        paths = [use.path for use in again]
        each = opens[0].count / ranks
        elapsed = sum(opening_of(use).elapsed for use in again)
        text = (
            f"{files_of(paths[:16], len(paths))} {'was' if len(paths) == 1 else 'were'} opened "
            f"{count(total)} times, up to {number(each)} times by each process; opening and "
            f"closing took {seconds(elapsed)}."
        )
        numbers: Numbers = {"calls": total, "opens_a_rank": each}
        yield run.timed_fact(self.code, text, spent, elapsed, numbers, paths)

    def why_unknown(self, run: SeenRun) -> str:
        return run.profile.why_missing(ReportedPart.CALLS)
