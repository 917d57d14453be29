# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes how much the counters of a target's jobs grew, and packs them into checked bytes.

A state says what was read last. It is to be stored in the same transaction as the growth that it
follows: then nothing counts twice and nothing is lost, whoever is killed when.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stripewise.centre.monitor._records import JobEntry, OperationCount, TargetJobs
from stripewise.centre.monitor.collectors._lustre_job_rows import PackedCounts, added_sizes

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


# Counters of an entry as they were read, compared without unpacking what did not change.
#
# Nearly all entries of a busy server grow in the plainest way from one reading to the next: the
# same operations, all of them at least as they were.  This finds the growth of those in a third of
# the time; of any other it says so, and `_growth` looks at it in full.

_UNTOLD = b"-"


class LiveRows(bytes):
    """An entry's start, and rows as its `PackedCounts` has them: "START|-", then a row a line."""

    __slots__ = ()

    @property
    def start_at(self) -> int | None:
        """When the entry began; None: not told."""
        start = self.partition(b"\n")[0]
        return None if start == _UNTOLD else int(start)

    @property
    def operations(self) -> PackedCounts:
        """Its counters."""
        return PackedCounts(self.partition(b"\n")[2])


def live_rows(entry: JobEntry, start_at: int | None) -> LiveRows | None:
    """Return the counters of an entry; None: they did not come packed."""
    counts = entry.operations
    if not isinstance(counts, PackedCounts):
        return None
    start = _UNTOLD if start_at is None else b"%d" % start_at
    return LiveRows(b"%b\n%b" % (start, counts.rows))


def plain_growth(before: bytes, now: bytes) -> dict[str, OperationCount] | None:
    """Return what was added from one reading to the next, as `_growth` has it; None: look in full.

    Args:
        before: `LiveRows`.
        now: The same of the reading after.
    """
    old_lines, new_lines = before.split(b"\n"), now.split(b"\n")
    if len(old_lines) != len(new_lines) or old_lines[0] != new_lines[0]:
        return None
    found: dict[str, OperationCount] = {}
    for old, new in zip(old_lines, new_lines, strict=True):
        if old == new:
            continue
        if not old or not new:  # there were no operations at all
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


# Counters of a job on a target as a few bytes, and states as bytes that can be checked.
#
# An entry of five operations with two histograms takes about 80 bytes.

MAGIC = b"SWG"
_LONG = 0xF8
"""First bytes from here on say that one to eight others follow."""
_ENVELOPE = struct.Struct("<3sBBI")
"""Magic, kind, version, CRC-32 of the rest."""
_NAMES = (
    *("read_bytes", "write_bytes", "read", "write", "getattr", "setattr", "punch", "sync"),
    *("destroy", "create", "statfs", "get_info", "set_info", "quotactl", "prealloc", "open"),
    *("close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr", "setxattr"),
    *("samedir_rename", "crossdir_rename", "parallel_rename_file", "parallel_rename_dir"),
    *("rename_trylocks", "migrate", "fallocate", "readpage", "", "bytes", "usecs", "reqs"),
)
"""By number in stored states: new ones are added at the end, none is ever taken out."""
_NUMBERS = {name: number + 1 for number, name in enumerate(_NAMES)}


_ODD_SIZE = 64
"""Stands before a size that is no power of two; for one that is, its exponent stands."""
_EXPONENTS = {1 << bit: bit for bit in range(_ODD_SIZE)}


def pack_entry(start_at: int | None, operations: Mapping[str, OperationCount]) -> bytes:
    """Return an entry's counters as bytes; equal ones give equal bytes."""
    numbers = [0 if start_at is None else start_at + 1]
    for name, (samples, unit, total, sizes) in sorted(operations.items()):
        numbers += *_word(name), *_word(unit), samples, total
        if sizes is None:
            numbers.append(0)
            continue
        numbers.append(len(sizes) + 1)
        for size, number in sizes:
            exponent = _EXPONENTS.get(size, _ODD_SIZE)
            numbers += (exponent, number) if exponent < _ODD_SIZE else (exponent, size, number)
    return _bytes_of(numbers)


def unpack_entry(data: bytes) -> tuple[int | None, dict[str, OperationCount]]:
    """Return an entry's start and counters.

    Raises:
        ValueError: The bytes are damaged.
    """
    operations: dict[str, OperationCount] = {}
    try:
        numbers = iter(_numbers_of(data))
        start = next(numbers)
        for code in numbers:
            name = _text(code, numbers)
            unit = _text(next(numbers), numbers)
            samples, total, told = next(numbers), next(numbers), next(numbers)
            sizes = tuple([_bin(numbers) for _ in range(told - 1)]) if told else None
            operations[name] = OperationCount(samples, unit, total, sizes)
    except StopIteration:
        raise ValueError("stored counters of a job end too early") from None
    return (start - 1 if start else None), operations


def _bin(numbers: Iterator[int]) -> tuple[int, int]:
    exponent = next(numbers)
    return (1 << exponent if exponent < _ODD_SIZE else next(numbers)), next(numbers)


def _word(word: str) -> tuple[int, ...]:
    number = _NUMBERS.get(word)
    if number is not None:
        return (number,)
    text = word.encode()
    return (0, len(text), *text)


def _text(code: int, numbers: Iterator[int]) -> str:
    if code > len(_NAMES):
        raise ValueError(f"stored counters of a job have an unknown name, number {code}")
    if code:
        return _NAMES[code - 1]
    return bytes([next(numbers) for _ in range(next(numbers))]).decode()


def _bytes_of(numbers: Iterable[int]) -> bytes:
    """Return numbers as bytes, as `put_number` has each."""
    out = bytearray()
    for number in numbers:
        if number < _LONG:
            out.append(number)
        else:
            put_number(out, number)
    return bytes(out)


def _numbers_of(data: bytes) -> list[int]:
    numbers: list[int] = []
    place, end = 0, len(data)
    while place < end:
        code = data[place]
        place += 1
        if code >= _LONG:
            size = code - _LONG + 1
            code = int.from_bytes(data[place : place + size], "little")
            place += size
        numbers.append(code)
    if place > end:
        raise ValueError("stored counters of a job end too early")
    return numbers


def put_number(out: bytearray, number: int) -> None:
    """Add a whole number from 0 to 2^64 - 1: one byte, or how many follow, and these."""
    if number < _LONG:
        out.append(number)
    else:
        size = number.bit_length() + 7 >> 3
        out.append(_LONG - 1 + size)
        out += number.to_bytes(size, "little")


def number_at(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it.

    Raises:
        IndexError: It ends too early.
    """
    code = data[place]
    place += 1
    if code < _LONG:
        return code, place
    end = place + code - _LONG + 1
    if end > len(data):
        raise IndexError
    return int.from_bytes(data[place:end], "little"), end


def put_text(out: bytearray, text: bytes) -> None:
    """Add bytes with their length."""
    put_number(out, len(text))
    out += text


def text_at(data: bytes, place: int) -> tuple[bytes, int]:
    """Return the bytes at a place, and the place behind them.

    Raises:
        IndexError: They end too early.
    """
    size, place = number_at(data, place)
    if place + size > len(data):
        raise IndexError
    return data[place : place + size], place + size


def seal(kind: int, version: int, body: bytes) -> bytes:
    """Return a state's bytes, compressed, with what is needed to check them."""
    packed = zlib.compress(body, 1)
    return _ENVELOPE.pack(MAGIC, kind, version, zlib.crc32(packed)) + packed


def unseal(kind: int, version: int, data: bytes) -> bytes:
    """Return what was sealed.

    Raises:
        ValueError: It is damaged, of another kind, or of a later version.
    """
    if len(data) < _ENVELOPE.size:
        raise ValueError(f"a stored state of counters has only {len(data)} bytes")
    magic, its_kind, its_version, check = _ENVELOPE.unpack_from(data)
    packed = data[_ENVELOPE.size :]
    if magic != MAGIC or its_kind != kind:
        raise ValueError("these are not a stored state of such counters")
    if its_version != version:
        raise ValueError(f"a stored state of counters has version {its_version}, not {version}")
    if check != zlib.crc32(packed):
        raise ValueError("a stored state of counters is damaged: its checksum differs")
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"a stored state of counters is damaged: {error}") from None
