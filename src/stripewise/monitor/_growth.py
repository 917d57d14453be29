# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How much the jobs of a target did between two readings, for the statistics database.

A state says what was read last. It is to be stored in the same transaction as the growth that it
follows: then nothing counts twice and nothing is lost, whoever is killed when.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stripewise.monitor._live_rows import LiveRows, live_rows, plain_growth
from stripewise.monitor._packed import (
    number_at,
    pack_entry,
    put_number,
    put_text,
    seal,
    text_at,
    unpack_entry,
    unseal,
)
from stripewise.monitor._records import JobEntry, OperationCount, TargetJobs

_KIND, _VERSION = 1, 2
_SINCE = struct.Struct("<d??")


class JobGrowth(NamedTuple):
    """What one job did on one target since the reading before.

    Attributes:
        tag: The job's id.
        snapshot_at / start_at: As of its entry.
        is_new: Its counters began at zero since the reading before.
        operations: What was added, by operation; sizes are None where one of the readings does
            not tell them. Those without growth are left out.
        since / until: As of its entry: how many readings ago it began and ended.
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
    """What was read last of the jobs on one target; never changed, only replaced.

    Attributes:
        since_at: When the monitoring of this target, or of its server, began, in seconds since
            1970.
        has_begun: A reading was taken.
        is_whole: The first one had all entries: whatever comes later is new.
        packed: Counters by tag, as `pack_entry` or `live_rows` has them.
        absent: Tags that a new reader did not meet, and will not name: they are forgotten unless
            the next reading has them.
    """

    since_at: float
    has_begun: bool = False
    is_whole: bool = False
    packed: Mapping[str, bytes] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.packed)


def grow_entries(state: EntryState, jobs: TargetJobs) -> tuple[list[JobGrowth], EntryState]:
    """Return what grew from a state to a reading, and the state after it.

    * An entry that is new began at zero: all of it is growth.
    * Where any counter is less than before, an operation is no longer there, its unit is another,
      or `start_at` is another, the entry is a new one of that name: all of it is growth.
    * What was counted before the monitoring began is not ours to date. In the first reading of a
      target without state an entry is only the base of later growth, unless its `start_at` is
      after `since_at`. If that reading left entries out, those that come later are treated alike.
    * A histogram that a reading does not tell is caught up with by the next that does.

    An entry that was dropped and began again between two readings, tells no `start_at` (before
    2.14.56) and overtook each of its old counters cannot be told from one that went on: then its
    growth is too small by what it had before.
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
    """Whether an entry without a past may be older than the monitoring."""
    if state.is_whole:
        return False
    if entry.start_at is None:
        return not state.has_begun
    return entry.start_at <= state.since_at


def _grow(entry: JobEntry, last: bytes | None, *, is_base: bool) -> tuple[JobGrowth | None, bytes]:
    """Return an entry's growth, None if there is none, and its counters packed."""
    if isinstance(last, LiveRows):
        now = live_rows(entry, last.start_at if entry.start_at is None else entry.start_at)
        added = plain_growth(last, now) if now is not None else None
        if now is not None and added is not None:
            return _growth(entry, added), now
    operations = dict(entry.operations.items())
    if last is None:
        return None if is_base else _all_of(entry, operations), _kept(entry, operations)
    return _full_growth(entry, operations, *_unpacked(last))


def _full_growth(
    entry: JobEntry,
    operations: Mapping[str, OperationCount],
    began: int | None,
    before: Mapping[str, OperationCount],
) -> tuple[JobGrowth | None, bytes]:
    if _is_another(entry.start_at, operations, began, before):
        return _all_of(entry, operations), _kept(entry, operations)
    added = {
        name: grown
        for name, count in operations.items()
        if (grown := _added(count, before.get(name))) is not None
    }
    start_at = began if entry.start_at is None else entry.start_at
    whole = {name: _with_sizes(count, before.get(name)) for name, count in operations.items()}
    data = live_rows(entry, start_at) if whole == operations else None
    return _growth(entry, added), data or pack_entry(start_at, whole)


def _growth(entry: JobEntry, added: Mapping[str, OperationCount]) -> JobGrowth | None:
    if not added:
        return None
    return JobGrowth(
        entry.tag, entry.snapshot_at, entry.start_at, False, added, entry.since, entry.until
    )


def _kept(entry: JobEntry, operations: Mapping[str, OperationCount]) -> bytes:
    return live_rows(entry, entry.start_at) or pack_entry(entry.start_at, operations)


def _unpacked(last: bytes) -> tuple[int | None, Mapping[str, OperationCount]]:
    if isinstance(last, LiveRows):
        return last.start_at, dict(last.operations.items())
    return unpack_entry(last)


def _all_of(entry: JobEntry, operations: Mapping[str, OperationCount]) -> JobGrowth | None:
    happened = {name: count for name, count in operations.items() if count.samples}
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
    """Whether counters are not those of before, grown."""
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
    """Return what was added to a counter; None: nothing."""
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
    """Return a counter with the histogram that was told last."""
    if now.sizes is not None or old is None or old.sizes is None:
        return now
    return now._replace(sizes=old.sizes)


def encode(state: EntryState) -> bytes:
    """Return a state as bytes."""
    out = bytearray(_SINCE.pack(state.since_at, state.has_begun, state.is_whole))
    put_number(out, len(state.packed))
    for tag, data in state.packed.items():
        put_text(out, tag.encode("utf-8", "surrogatepass"))
        out.append(isinstance(data, LiveRows))
        put_text(out, data)
    put_number(out, len(state.absent))
    for tag in sorted(state.absent):
        put_text(out, tag.encode("utf-8", "surrogatepass"))
    return seal(_KIND, _VERSION, bytes(out))


def decode(data: bytes) -> EntryState:
    """Return the state that was encoded; its counters are unpacked when they are needed.

    Raises:
        ValueError: The bytes are damaged, or written by another version.
    """
    body = unseal(_KIND, _VERSION, data)
    packed: dict[str, bytes] = {}
    absent: set[str] = set()
    try:
        since_at, has_begun, is_whole = _SINCE.unpack_from(body)
        number, place = number_at(body, _SINCE.size)
        for _ in range(number):
            tag, place = text_at(body, place)
            is_live = body[place]
            counters, place = text_at(body, place + 1)
            text = tag.decode("utf-8", "surrogatepass")
            packed[text] = LiveRows(counters) if is_live else counters
        number, place = number_at(body, place)
        for _ in range(number):
            tag, place = text_at(body, place)
            absent.add(tag.decode("utf-8", "surrogatepass"))
    except (IndexError, struct.error):
        raise ValueError("a stored state of counters ends too early") from None
    return EntryState(since_at, has_begun, is_whole, packed, frozenset(absent))
