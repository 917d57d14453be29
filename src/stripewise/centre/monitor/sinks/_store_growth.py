# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes how much the counters of a target's jobs have grown since the last reading.

A state contains what was read last. It must be stored in the same transaction as the growth that
leads to it: then nothing counts twice and nothing is lost, whichever process is killed at any
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from stripewise.centre.monitor._records import JobEntry, OperationCount, TargetJobs
from stripewise.centre.monitor.collectors.lustre._job_rows import (
    PackedCounts,
    added_sizes,
    pack_counts,
)
from stripewise.centre.monitor.sinks._store_state import pack_rows, unpack_rows


class JobGrowth(NamedTuple):
    """What one job did on one target since the previous reading.

    Attributes:
        tag: Id of the job.
        snapshot_at / start_at: See `JobEntry`.
        is_new: Whether its counters began at zero since the previous reading.
        operations: Growth by operation; sizes are None if one of the readings does not report
            them. Operations without growth are left out.
        since / until: How many readings ago it began and ended, as in its entry.
    """

    tag: str
    snapshot_at: int | None
    start_at: int | None
    is_new: bool
    operations: Mapping[str, OperationCount]
    since: int = 1
    until: int = 0


@dataclass(frozen=True)
class EntryState:
    """Last counters of the jobs on one target; a state is replaced, never changed.

    Attributes:
        since_at: When the monitoring of this target, or of its server, began, in seconds since
            1970.
        has_begun: Whether there has been a reading.
        is_whole: Whether the first reading had all entries: then whatever comes later is new.
        packed: Counters by tag.
        absent: Tags that a new reader has not met, and will not report as gone: they are forgotten
            unless the next reading has them.
    """

    since_at: float
    has_begun: bool = False
    is_whole: bool = False
    packed: Mapping[str, KeptCounts] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.packed)


def grow_entries(state: EntryState, jobs: TargetJobs) -> tuple[list[JobGrowth], EntryState]:
    """Return the growth from a state to a reading, and the state after it.

    * An entry that is new began at zero: all of it is growth.
    * If any counter is less than before, an operation does not exist any more, its unit differs,
    or `start_at` differs, the entry is a new one of that name: all of it is growth.
    * What was counted before the monitoring began cannot be dated. In the first reading of a
    target without state, an entry is only the base of later growth, unless its `start_at` is after
    `since_at`. If that reading left entries out, those that come later are treated alike.
    * A histogram that a reading does not report is updated by the next reading that does.

    If an entry was dropped and began again between two readings, reports no `start_at` (before
    2.14.56) and exceeded each of its old counters, it cannot be distinguished from one that
    continued: then its growth is too small by its former counts.
    """
    packed = dict(state.packed)
    for tag in jobs.gone:
        packed.pop(tag, None)
    grown: list[JobGrowth] = []
    for entry in jobs.changed:
        last = packed.get(entry.tag)
        growth, packed[entry.tag] = _grow(entry, last, is_base=_is_base(entry, state))
        if growth is not None:
            grown.append(growth)
    given = {entry.tag for entry in jobs.changed}
    for tag in state.absent - given:
        packed.pop(tag, None)
    has_all = jobs.is_first and jobs.count == len(jobs.changed)
    absent = frozenset(packed.keys() - given) if has_all else frozenset()
    is_whole = state.is_whole if state.has_begun else has_all
    return grown, EntryState(state.since_at, True, is_whole, packed, absent)


def _is_base(entry: JobEntry, state: EntryState) -> bool:
    """Return whether an entry without a previous reading may be older than the monitoring."""
    if state.is_whole:
        return False
    if entry.start_at is None:
        return not state.has_begun
    return entry.start_at <= state.since_at


def _grow(
    entry: JobEntry, last: KeptCounts | None, *, is_base: bool
) -> tuple[JobGrowth | None, KeptCounts]:
    """Return the growth of an entry (None if there is none) and the counters to keep of it."""
    if last is None:
        kept = KeptCounts.of(entry.start_at, entry.operations)
        return None if is_base else _all_of(entry), kept
    start_at = last.start_at if entry.start_at is None else entry.start_at
    now = KeptCounts.of(start_at, entry.operations)
    added = plain_growth(last, now)
    if added is not None:
        return _growth(entry, added), now
    operations, before = dict(entry.operations.items()), dict(last.operations.items())
    if _is_another(entry.start_at, operations, last.start_at, before):
        return _all_of(entry), KeptCounts.of(entry.start_at, operations)
    added = {
        name: grown
        for name, count in operations.items()
        if (grown := _added(count, before.get(name))) is not None
    }
    whole = {name: _with_sizes(count, before.get(name)) for name, count in operations.items()}
    if whole != operations:
        now = KeptCounts.of(start_at, whole)
    return _growth(entry, added), now


def _growth(entry: JobEntry, added: Mapping[str, OperationCount]) -> JobGrowth | None:
    if not added:
        return None
    return JobGrowth(
        entry.tag, entry.snapshot_at, entry.start_at, False, added, entry.since, entry.until
    )


def _all_of(entry: JobEntry) -> JobGrowth | None:
    happened = {name: count for name, count in entry.operations.items() if count.samples}
    if not happened:
        return None
    return JobGrowth(
        entry.tag, entry.snapshot_at, entry.start_at, True, happened, entry.since, entry.until
    )


def _is_another(
    start_at: int | None,
    operations: Mapping[str, OperationCount],
    began: int | None,
    before: Mapping[str, OperationCount],
) -> bool:
    """Return whether counters cannot result from growth of the previous ones."""
    if start_at is not None and began is not None and start_at != began:
        return True
    for name, old in before.items():
        now = operations.get(name)
        if now is None:
            if old.samples:
                return True
        elif now.samples < old.samples or now.total < old.total or now.unit != old.unit:
            return True
        elif now.sizes is not None and old.sizes is not None:
            counts = dict(now.sizes)
            if any(counts.get(size, 0) < number for size, number in old.sizes):
                return True
    return False


def _added(now: OperationCount, old: OperationCount | None) -> OperationCount | None:
    """Return what was added to a counter, or None if nothing was."""
    if old is None:
        return now if now.samples else None
    samples, total = now.samples - old.samples, now.total - old.total
    if now.sizes is None or old.sizes is None:
        return OperationCount(samples, now.unit, total) if samples or total else None
    counts = dict(old.sizes)
    grown = ((size, number - counts.get(size, 0)) for size, number in now.sizes)
    sizes = tuple((size, number) for size, number in grown if number)
    if not (samples or total or sizes):
        return None
    return OperationCount(samples, now.unit, total, sizes)


def _with_sizes(now: OperationCount, old: OperationCount | None) -> OperationCount:
    """Return a counter with the histogram that was reported last."""
    if now.sizes is not None or old is None or old.sizes is None:
        return now
    return now._replace(sizes=old.sizes)


def encode(state: EntryState) -> bytes:
    """Return a state as bytes."""
    return pack_rows(_state_rows(state))


def _state_rows(state: EntryState) -> Iterator[list[Any]]:
    yield [state.since_at, state.has_begun, state.is_whole, sorted(state.absent)]
    for tag, counters in state.packed.items():
        yield [tag, counters.decode()]


def decode(data: bytes) -> EntryState:
    """Return the state that was encoded; its counters are unpacked when needed.

    Raises:
        ValueError: The bytes are damaged, or written by another version.
    """
    (since_at, has_begun, is_whole, absent), *rows = unpack_rows(data, "counters")
    packed = {tag: KeptCounts(text.encode()) for tag, text in rows}
    return EntryState(since_at, has_begun, is_whole, packed, frozenset(absent))


# Counters of an entry as they were read, compared without unpacking unchanged ones.
#
# Nearly all entries of a busy server grow in the simplest way from one reading to the next: the
# same operations, none of them less than before. This computes their growth in a third of the
# time; for any other entry it returns None, and `_growth` examines it in full.

_UNKNOWN = b"-"


class KeptCounts(bytes):
    """Start of an entry, and rows as in `PackedCounts`: "START|-", then one row per line."""

    __slots__ = ()

    @classmethod
    def of(cls, start_at: int | None, operations: Mapping[str, OperationCount]) -> Self:
        """Return the counters to keep of an entry."""
        start = _UNKNOWN if start_at is None else b"%d" % start_at
        return cls(b"%b\n%b" % (start, pack_counts(operations).rows))

    @property
    def start_at(self) -> int | None:
        """Start of the entry; None if not reported."""
        start = self.partition(b"\n")[0]
        return None if start == _UNKNOWN else int(start)

    @property
    def operations(self) -> PackedCounts:
        """Counters of the entry."""
        return PackedCounts(self.partition(b"\n")[2])


def plain_growth(before: bytes, now: bytes) -> dict[str, OperationCount] | None:
    """Return the growth between two readings as `_growth` does, or None if that has to examine it.

    Args:
        before: `KeptCounts` of the first reading.
        now: `KeptCounts` of the second reading.
    """
    old_lines, new_lines = before.split(b"\n"), now.split(b"\n")
    if len(old_lines) != len(new_lines) or old_lines[0] != new_lines[0]:
        return None
    found: dict[str, OperationCount] = {}
    for old, new in zip(old_lines, new_lines, strict=True):
        if old == new:
            continue
        if not old or not new:  # one of them has no operations at all
            return None
        name, unit, old_samples, old_total, old_bins = old.split(b";")
        new_name, new_unit, new_samples, new_total, new_bins = new.split(b";")
        samples, total = int(new_samples) - int(old_samples), int(new_total) - int(old_total)
        if samples < 0 or total < 0 or name != new_name or unit != new_unit:
            return None
        try:
            sizes = added_sizes(old_bins, new_bins)
        except ValueError:
            return None
        if samples or total or sizes:
            found[name.decode()] = OperationCount(samples, unit.decode(), total, sizes)
    return found
