# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses job_stats of a target repeatedly, each time only the entries that changed."""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from stripewise.centre.monitor._records import JobEntry
from stripewise.centre.monitor.collectors.lustre._job_rows import (
    EntryError,
    RowReader,
    split_times,
)
from stripewise.present import plural, printable

# Ids of jobs as Lustre prints them.
#
# Since 2.15.55, an id with other characters than letters, digits and ``.@-_:/`` is quoted, with
# each of these characters as ``\xHH``; before, printable characters were unchanged and the rest
# became "?". Source: lprocfs_jobstats.c.

MOST_TAG_CHARACTERS = 128
_QUOTED = re.compile(rb'"((?:[A-Za-z0-9.@_:/-]|\\x[0-9A-Fa-f]{2})*)"')
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_DIGEST_BYTES = 8


def raw_id(printed: bytes) -> bytes:
    """Return the bytes of an id; text that no quoting version would print is used unchanged."""
    if not printed.startswith(b'"'):
        return printed
    quoted = _QUOTED.fullmatch(printed)
    if quoted is None:
        return printed
    inner = quoted[1]
    if b"\\" not in inner:
        return inner
    return _ESCAPE.sub(lambda found: bytes((int(found[1], 16),)), inner)


def tag_of(raw: bytes) -> str:
    r"""Return an id as text of at most 128 characters; different ids give different texts.

    UTF-8 without a backslash is returned unchanged. In anything else, each byte that is not
    printable ASCII, and each backslash, becomes ``\xHH``, so that nothing else can look like it. A
    text that is too long ends with a digest after ``\~``.
    """
    if raw.isalnum() and len(raw) <= MOST_TAG_CHARACTERS:  # nearly all
        return raw.decode()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = _escaped(raw)
    else:
        if "\\" in text:
            text = _escaped(raw)
    if len(text) <= MOST_TAG_CHARACTERS:
        return text
    digest = "\\~" + hashlib.blake2b(raw, digest_size=_DIGEST_BYTES).hexdigest()
    return text[: MOST_TAG_CHARACTERS - len(digest)] + digest


def _escaped(raw: bytes) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02X}" for byte in raw
    )


# Splits a text of job_stats into its entries, whatever pieces it arrives in.

_ENTRY_MARK = b"\n- job_id:"
_STEP_BYTES = 48 << 10
"""Size of a step: large enough that joins are cheap, small compared to a text of 449 MB."""


def cut_entries(pieces: Iterable[bytes], most_bytes: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the text before the first entry, then each entry without its "- job_id:".

    Each comes with a flag whether it is known to be complete: the last one is if the text ends
    with a newline. An entry longer than `most_bytes` is cut to that many bytes plus one.
    """
    head, rest = b"", b"\n"
    for step in _steps(pieces):
        parts = (rest + step).split(_ENTRY_MARK)
        rest = parts.pop()
        for part in parts:
            if head or len(part) > most_bytes:
                part, head = (head + part)[: most_bytes + 1], b""
            yield part, True
        if len(rest) > most_bytes:  # keep the end, which may be the start of a mark
            head, rest = (head + rest)[: most_bytes + 1], rest[-len(_ENTRY_MARK) :]
    whole = rest.endswith(b"\n")
    yield (head + rest.rstrip(b"\n"))[: most_bytes + 1], whole


def _steps(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of a suitable size: small ones are merged, large ones split."""
    gathered: list[bytes] = []
    size = 0
    for piece in pieces:
        if len(piece) >= _STEP_BYTES and not gathered:
            for start in range(0, len(piece), _STEP_BYTES):
                yield piece[start : start + _STEP_BYTES]
            continue
        gathered.append(piece)
        size += len(piece)
        if size >= _STEP_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)


# What was left out of a text, in a few sentences however much it was.

_EXAMPLES = 3
_EXCERPT_CHARACTERS = 80


@dataclass
class Problems:
    """Counts what was left out by reason, with the first few examples of each."""

    _found: dict[str, list[str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, tag: str = "", excerpt: bytes = b"") -> None:
        """Count one more, with one of the few reasons."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        examples = self._found.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(_example(tag, excerpt))

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each reason."""
        return tuple(
            f"{plural(count, 'entry', 'entries')} of job_stats: {reason}"
            f" ({'; '.join(filter(None, self._found[reason])) or 'no id'})"
            for reason, count in self._counts.items()
        )


def _example(tag: str, excerpt: bytes) -> str:
    text = excerpt[: 4 * _EXCERPT_CHARACTERS].decode(errors="replace")
    shown = printable(" ".join(text.split()))[:_EXCERPT_CHARACTERS]
    job = f"job {printable(tag)[:_EXCERPT_CHARACTERS]}" if tag else ""
    return ": ".join(filter(None, (job, shown)))


# The counters of jobs on one target, read repeatedly; few entries are parsed each time.

MOST_ENTRIES = 100_000
_MOST_ENTRY_BYTES = 64 << 10
_MOST_ID_BYTES = 1024
_PADDING = b" " * 10
"""Blanks between "- job_id:" and the id in all versions; further blanks belong to the id."""
_BEFORE = re.compile(rb"\n*(?:[^\n]*=)?(?:\n?job_stats:)?\n*")
"""Text before the first entry; 2.16 prints nothing at all if there are no entries."""
_BAD_HISTOGRAM = "its histogram does not add up to its samples and is left out, the rest counts"
_LOST = "gone before what they did last was read"
_HASH_BITS = 46
"""With the rest, it fits an integer of 32 bytes; one change in 2^46 goes unnoticed once."""
_HASH_MASK = (1 << _HASH_BITS) - 1
_BEHIND_SHIFT, _MOST_BEHIND = 2, (1 << 12) - 1
_HASH_SHIFT = 14
_MARK = 3


@dataclass(frozen=True)
class JobsRead:
    """Jobs of one target in one reading.

    Attributes:
        changed: Entries with counters that were not given before: those that are new, that paused
            or, if the reading is settled, all that changed.
        gone: Tags that are not there any more.
        count: Number of entries in the text, valid or not.
        is_first: Whether there is no reading before; then all valid entries are in `changed`.
        is_settled: Whether everything that changed has been given.
        problems: What was left out, in a few sentences.
    """

    changed: tuple[JobEntry, ...] = ()
    gone: tuple[str, ...] = ()
    count: int = 0
    is_first: bool = False
    is_settled: bool = True
    problems: tuple[str, ...] = ()


class _Taken(NamedTuple):
    """An entry that counts as valid unless its id or its rows turn out odd."""

    digest: int
    names: tuple[str, ...]
    entry: JobEntry


@dataclass
class _Round:
    """A reading under way; nothing of it is remembered unless it is completed.

    Attributes:
        mark: Mark of entries that occurred in it.
        is_settled: Whether everything that changed is parsed.
        same / new: Number of entries that are unchanged or were not parsed, and of those that
            occur for the first time.
        left_out: Ids that are unknown and whose entries are invalid.
        doubtful: Whether damage makes it unknown whose entry it was.
    """

    mark: int
    is_settled: bool
    count: int = 0
    same: int = 0
    new: int = 0
    doubtful: bool = False
    taken: dict[bytes, _Taken] = field(default_factory=dict)
    left_out: set[bytes] = field(default_factory=set)
    beyond: array[int] = field(default_factory=lambda: array("q"))
    problems: Problems = field(default_factory=Problems)

    def refuse(self, raw: bytes, why: EntryError) -> None:
        """Leave an entry out."""
        self.left_out.add(raw)
        self.problems.add(why.reason, tag_of(raw), why.excerpt)
        self.doubtful |= not why.certain


class JobStatsReader:
    """Reads the job_stats of one target, as `lctl get_param -n` prints them.

    For each entry, only a hash of its counters is remembered, by its id. An entry whose counters
    change from reading to reading, as those of active jobs do, is only parsed in settled readings
    and once it pauses; it is given together with how many readings ago its growth began. If
    entries do not report when they began, every reading is settled: only falling counters show
    that an entry is new.

    An entry is valid as a whole or not at all. If it is invalid, what was remembered of it is
    kept.

    All entries of a target have the same rows, so an entry with other rows than most has lost
    some. A tag is `gone` once two readings in a row were without it: until 2.15, Lustre skips an
    entry if one before it expires while the text is read (lprocfs_jobstats_seq_start counts
    places), and what such a job did would be counted twice. A reading with damage that may hide an
    entry declares nothing gone.
    """

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        """Set the maximum number of entries to remember; entries beyond it are never given."""
        self._most = most_entries
        self._rows = RowReader()
        self._known: dict[bytes, int] = {}
        self._absent: set[bytes] = set()
        self._beyond: array[int] = array("q")
        self._order: tuple[str, ...] = ()
        self._doubted: tuple[str, ...] = ()
        self._mark = 1
        self._is_first = self._is_dated = True
        self._is_torn = False

    def read(self, pieces: Iterable[bytes], *, is_settled: bool = True) -> JobsRead:
        """Parse a text that arrives in pieces of any size.

        Exceptions of the pieces are passed on; such a reading gives nothing and declares nothing
        gone, and the next one is settled.

        Args:
            pieces: Pieces of the text.
            is_settled: Whether to give everything that changed.
        """
        self._mark = 3 - self._mark  # alternates between 1 and 2; 0: not in the last reading
        is_settled = is_settled or self._is_first or self._is_torn or not self._is_dated
        now = _Round(self._mark, is_settled)
        self._is_torn = True
        try:
            self._take_all(pieces, now)
        except BaseException:
            self._known = {raw: value & ~_MARK for raw, value in self._known.items()}
            raise
        self._is_torn = False
        self._drop_odd(now)
        return self._finish(now)

    def _take_all(self, pieces: Iterable[bytes], now: _Round) -> None:
        entries = cut_entries(pieces, _MOST_ENTRY_BYTES)
        before, whole = next(entries)
        if not _BEFORE.fullmatch(before):
            now.problems.add("the text before it cannot be read", "", before)
            now.doubtful = True
        for entry, whole in entries:
            now.count += 1
            end = entry.find(b"\n")
            if end < 0:  # only an id: damaged, but it may be a duplicate
                end = len(entry)
            raw = _id(entry[:end])
            if raw:
                self._take(raw, entry, end + 1, whole, now)
            else:
                now.refuse(raw, EntryError("its id cannot be read", entry))
        now.doubtful |= not whole

    def _take(self, raw: bytes, entry: bytes, start: int, whole: bool, now: _Round) -> None:
        """Process one entry: compare it with what is remembered, and parse it if changed."""
        last = self._known.get(raw)
        head, text = split_times(entry, start)
        # Only the start time is used: in 2.15, the snapshot time is that of reading any entry.
        digest = hash((head and head[2], text)) & _HASH_MASK
        behind = until = 0
        if last is None:
            if raw in now.taken or raw in now.left_out:
                return _double(raw, now)
            has_room = len(self._known) + now.new < self._most
            if (self._beyond or not has_room) and self._is_beyond(raw, has_room, now):
                return None
        else:
            if last & _MARK == now.mark:
                return _double(raw, now)
            behind = last >> _BEHIND_SHIFT & _MOST_BEHIND
            until = int(last >> _HASH_SHIFT == digest)
            if whole and self._is_passed_over(raw, digest, behind, bool(until), now):
                now.same += 1
                return None
            self._known[raw] = last & ~_MARK | now.mark
        try:
            _check_whole(entry, start, whole)
            rows = self._rows.read(head, text)
        except EntryError as why:
            return now.refuse(raw, why)
        now.new += last is None
        if rows.bad_histogram:
            now.problems.add(_BAD_HISTOGRAM, tag_of(raw), rows.bad_histogram)
        self._is_dated = rows.start_at is not None
        tag = tag_of(raw)
        found = JobEntry(tag, rows.snapshot_at, rows.start_at, rows.counts, behind + 1, until)
        now.taken[raw] = _Taken(digest, rows.names, found)
        return None

    def _is_passed_over(
        self, raw: bytes, digest: int, behind: int, is_same: bool, now: _Round
    ) -> bool:
        """Return whether a known entry need not be parsed; its current state is remembered."""
        if is_same:
            if behind:
                return False
        elif now.is_settled or behind >= _MOST_BEHIND:
            return False
        else:
            behind += 1
        self._known[raw] = _remembered(digest, behind, now.mark)
        return True

    def _is_beyond(self, raw: bytes, has_room: bool, now: _Round) -> bool:
        """Return whether an unknown entry is or was beyond the limit, with an unknown past."""
        place = hash(raw)
        found = bisect_left(self._beyond, place)
        was_beyond = found < len(self._beyond) and self._beyond[found] == place
        if has_room and not was_beyond:
            return False
        now.beyond.append(place)
        now.problems.add(f"beyond the {self._most} that are followed", tag_of(raw))
        return True

    def _drop_odd(self, now: _Round) -> None:
        """Leave out entries whose rows are not those of most entries."""
        counts = Counter(one.names for one in now.taken.values())
        if not counts:
            return
        counts[self._order] += now.same
        usual = max(counts, key=lambda names: (counts[names], names == self._order, len(names)))
        if self._order and usual not in (self._order, self._doubted):
            self._doubted, usual = usual, self._order  # valid if they are so twice
        else:
            self._order, self._doubted = usual, ()
        for raw in [raw for raw, one in now.taken.items() if one.names != usual]:
            del now.taken[raw]
            now.refuse(raw, EntryError("its rows are not those of the other entries"))

    def _finish(self, now: _Round) -> JobsRead:
        """Remember the reading and return its result."""
        for raw, one in now.taken.items():
            self._known[raw] = _remembered(one.digest, 0, now.mark)
        for raw in now.left_out & self._known.keys():
            self._fall_behind(raw, now.mark)
        missing = {raw for raw, value in self._known.items() if value & _MARK != now.mark}
        again = missing & self._absent
        gone = [] if now.doubtful else sorted(again)
        for raw in gone:
            if self._known.pop(raw) >> _BEHIND_SHIFT & _MOST_BEHIND:
                now.problems.add(_LOST, tag_of(raw))
        for raw in missing.difference(gone):
            if self._known[raw] >> _BEHIND_SHIFT & _MOST_BEHIND:
                self._fall_behind(raw, 0)
            else:
                self._known[raw] &= ~_MARK
        self._absent = again if now.doubtful else missing.difference(gone)
        self._beyond = array("q", sorted(now.beyond))
        is_first, self._is_first = self._is_first, False
        return JobsRead(
            tuple(one.entry for one in now.taken.values()), tuple(map(tag_of, gone)),
            now.count, is_first, now.is_settled, now.problems.sentences(),
        )  # fmt: skip

    def _fall_behind(self, raw: bytes, mark: int) -> None:
        """Record that an entry was not parsed: its growth begins before this reading."""
        last = self._known[raw]
        behind = last >> _BEHIND_SHIFT & _MOST_BEHIND
        self._known[raw] = _remembered(last >> _HASH_SHIFT, behind + 1, mark)


def _remembered(digest: int, behind: int, mark: int) -> int:
    """Return the packed state of an entry.

    Args:
        digest: Hash of its bytes.
        behind: Number of readings since its counters were given; 0 if they are the latest.
        mark: Mark of the last reading if it occurred there, 0 if not.
    """
    return digest << _HASH_SHIFT | min(behind, _MOST_BEHIND) << _BEHIND_SHIFT | mark


def _check_whole(entry: bytes, start: int, whole: bool) -> None:
    """Check that an entry is complete.

    Raises:
        EntryError: It is not.
    """
    if not whole:
        raise EntryError("the text ends within it", entry[start:])
    if len(entry) > _MOST_ENTRY_BYTES:
        raise EntryError(f"it is longer than {_MOST_ENTRY_BYTES >> 10} KiB", entry[start:])


def _double(raw: bytes, now: _Round) -> None:
    """Discard all entries of an id that occurs twice."""
    now.taken.pop(raw, None)
    now.refuse(raw, EntryError("the same id is there twice", certain=True))


def _id(printed: bytes) -> bytes:
    """Return the bytes of an id, or nothing if there are too many."""
    bare = printed.removeprefix(_PADDING)
    if len(bare) == len(printed):
        bare = printed.lstrip(b" ")
    raw = bare if bare.isalnum() else raw_id(bare)
    return raw if len(raw) <= _MOST_ID_BYTES else b""
