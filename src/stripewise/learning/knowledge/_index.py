# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the features of all stored cases in few bytes, for the search of the nearest.

A page holds the features of up to `PAGE_ROWS` parts of cases, one feature after another, and in
a table of its own the studies that they are of.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from math import log2

from stripewise.core import PatternSummary
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns import Pattern, block_bytes, pattern_of, run_bytes
from stripewise.learning.knowledge._codec import decode
from stripewise.learning.knowledge._records import (
    LIBRARIES,
    Case,
    Fingerprint,
    Lesson,
    Part,
    parts_of,
)

# A case in few bytes: what the nearest ones are picked by, before their documents are read.
#
# Each feature is one byte, or two, of a code: shares in 1/250, logarithms in parts of an octave.
# Stacks, machines and structures of patterns are told once each, as terms with a number.  Only the
# two patterns with most bytes are in; the documents that are picked are compared as a whole.

LAYOUT = 1
"""Changes when a feature does: pages of another layout are made again."""
MOST_PATTERNS = 2
SHARES = 250
"""Steps from 0 to 1."""
OCTAVE = 4
"""Steps in a factor of two, of bytes and calls."""
RANK_OCTAVE = 8
"""Steps in a factor of two, of ranks and nodes."""
PATTERN_COLUMNS = (
    "structure", "structure_high", "share", "run", "size", "ranks", "element", "halo",
    "collective", "shape",
)  # fmt: skip
COLUMNS = (
    "part", "stack", "stack_high", "machine", "machine_high", "libraries", "flags",
    "collective", "independent", "posix", "read", "call", "calls", "ranks", "hosts", "volume",
    "digest0", "digest1", "digest2", "digest3",
    *(f"{name}{number}" for number in range(MOST_PATTERNS) for name in PATTERN_COLUMNS),
)  # fmt: skip
NONCONTIGUOUS, SHARED, SYNCED = 1, 2, 4
WRITING = 0x80
"""Bit of a pattern's `shape`; the rest is its number of dimensions."""
Number = Callable[[str, str], int]
"""Kind and text of a term -> its number."""


def features_of(part: Part, place: int, number: Number) -> bytes:
    """Return a byte for each of `COLUMNS`.

    Args:
        part: Of a study's case.
        place: Of it among the parts of the case.
        number: Gives terms a number.
    """
    case, print_ = part.case, part.case.fingerprint
    flags = NONCONTIGUOUS * print_.noncontiguous + SHARED * bool(print_.shared_files)
    codes = [
        min(place, 255),
        *_word(number("stack", _text(case.stack))),
        *_word(number("machine", _text(case.machine))),
        libraries_of(print_),
        flags + SYNCED * case.synced,
        *(
            share_code(share)
            for share in (
                print_.collective_share,
                print_.independent_share,
                print_.posix_share,
                print_.read_share,
            )
        ),
        code(print_.bytes_per_call_log2),
        code(print_.calls_per_rank_log2),
        code(log2(max(1, print_.n_ranks)), RANK_OCTAVE),
        code(log2(max(1, print_.n_hosts)), RANK_OCTAVE),
        code(print_.volume_log2),
        *digest_of(case),
    ]
    for one in first_patterns(print_):
        codes += _pattern(one, print_.n_ranks, number)
    return bytes(codes).ljust(len(COLUMNS), b"\0")


def first_patterns(print_: Fingerprint) -> list[PatternSummary]:
    """Return the patterns with most bytes."""
    return sorted(print_.patterns, key=lambda one: -one.share)[:MOST_PATTERNS]


def code(logarithm: float, octave: int = OCTAVE) -> int:
    """Return the code of a logarithm; what is below 1 byte, call or rank counts as one."""
    return max(0, min(255, round(logarithm * octave)))


def share_code(share: float) -> int:
    """Return the code of a share from 0 to 1."""
    return round(SHARES * min(1.0, max(0.0, share)))


def libraries_of(print_: Fingerprint) -> int:
    """Return a bit for each library that was seen at work."""
    return sum(getattr(print_, name) << place for place, name in enumerate(LIBRARIES))


def digest_of(case: Case) -> bytes:
    """Return the first four bytes of the executable's digest; zeros where it is not known."""
    return bytes.fromhex(case.fingerprint.executable_sha256[:8].ljust(8, "0"))


def halo_share(pattern: Pattern) -> float:
    """Return the part of a block that neighbours have too, in the dimension with most of it."""
    return max(
        (h / max(n, 1) for h, n in zip(pattern.halo, pattern.block, strict=False)), default=0.0
    )


def structure_of(pattern: Pattern) -> str:
    """Return the term of what distributions are compared by: kind, and each dimension that counts.

    A dimension of one element that is not divided is left out, as `patterns.distance` does.  An
    irregular pattern has dimensions, and no distribution of them.
    """
    known = zip(pattern.distributions, pattern.block, strict=bool(pattern.distributions))
    parts = [str(part) for part, size in known if part.kind != "*" or size > 1]
    return json.dumps([str(pattern.kind), parts, bool(pattern.distributions)])


def _pattern(summary: PatternSummary, n_ranks: int, number: Number) -> list[int]:
    pattern = pattern_of(summary, n_ranks)
    return [
        *_word(number("structure", structure_of(pattern))),
        max(1, share_code(summary.share)),
        code(log2(max(1, run_bytes(pattern)))),
        code(log2(max(1, block_bytes(pattern)))),
        code(log2(max(1, pattern.active_ranks)), RANK_OCTAVE),
        code(log2(pattern.element_bytes)),
        share_code(halo_share(pattern)),
        share_code(pattern.collective),
        min(len(pattern.block), WRITING - 1) + WRITING * pattern.writing,
    ]


def _word(number: int) -> tuple[int, int]:
    return number & 0xFF, min(number >> 8, 0xFF)


def _text(record: object) -> str:
    return json.dumps(asdict(record), sort_keys=True)  # type: ignore[call-overload]


# Pages of features beside the studies in a store, kept in the same transactions.

PAGE_ROWS = 2048
_IDENTITY = re.compile("[0-9a-f]{32}")
ID_BYTES = 16
_DAMAGED = (
    "SELECT count(*) FROM page LEFT JOIN page_study ON page_study.number = page.number"
    " WHERE typeof(features) <> 'blob' OR typeof(studies) <> 'blob'"
    f" OR length(studies) % {ID_BYTES} <> 0"
    f" OR length(features) * {ID_BYTES} <> length(studies) * {len(COLUMNS)}"
)
MOST_TERMS = 1 << 16
"""A number has two bytes; stacks, machines and structures beyond are not told apart."""


def has_index(connection: sqlite3.Connection) -> bool:
    """Whether all studies are in pages of the present layout, none of them damaged."""
    try:
        found = connection.execute("SELECT layout FROM page_layout").fetchall()
        (damaged,) = connection.execute(_DAMAGED).fetchone()
    except sqlite3.OperationalError:
        return False  # an older store
    return found == [(LAYOUT,)] and not damaged


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Make all pages again where they are missing or of another layout."""
    if has_index(connection):
        return
    for table in ("page", "page_study", "term", "page_layout"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO page_layout VALUES (?)", (LAYOUT,))
    insert(connection, _readable(connection.execute("SELECT document FROM study").fetchall()))


def _readable(rows: Iterable[tuple[str]]) -> Iterator[Lesson]:
    for (document,) in rows:
        try:
            yield decode(document)
        except (ConfigurationError, TypeError):
            continue  # it is said when it is read


def insert(connection: sqlite3.Connection, lessons: Iterable[Lesson]) -> None:
    """Add the features of studies that are not there yet."""
    terms = _Terms(connection)
    by_family: dict[str, list[tuple[bytes, bytes]]] = {}
    for lesson in lessons:
        rows = by_family.setdefault(lesson.case.stack.mpi_family, [])
        identity = bytes.fromhex(lesson.study_id)
        for place, part in enumerate(parts_of(lesson.case)):
            rows.append((features_of(part, place, terms.number), identity))
    for family, rows in by_family.items():
        _append(connection, family, rows)


def remove(connection: sqlite3.Connection, study_ids: Iterable[str]) -> None:
    """Take studies out of their pages."""
    gone = {bytes.fromhex(one) for one in study_ids if _IDENTITY.fullmatch(one)}
    pages = connection.execute("SELECT number, studies FROM page_study").fetchall()
    for number, studies in pages:
        ids = _ids(studies)
        if gone.isdisjoint(ids):
            continue
        (blob,) = connection.execute(
            "SELECT features FROM page WHERE number = ?", (number,)
        ).fetchone()
        kept = [pair for pair in zip(_rows(blob), ids, strict=True) if pair[1] not in gone]
        _store(connection, number, kept)


def _append(connection: sqlite3.Connection, family: str, rows: list[tuple[bytes, bytes]]) -> None:
    """Fill the last page of a family, then new ones."""
    last = connection.execute(
        "SELECT page.number, features, studies FROM page"
        " JOIN page_study ON page_study.number = page.number"
        " WHERE mpi_family = ? ORDER BY page.number DESC LIMIT 1",
        (family,),
    ).fetchone()
    if last is not None:
        number, blob, studies = last
        kept = list(zip(_rows(blob), _ids(studies), strict=True))
        room = PAGE_ROWS - len(kept)
        if room > 0 and rows:
            _store(connection, number, kept + rows[:room])
            rows = rows[room:]
    for start in range(0, len(rows), PAGE_ROWS):
        cursor = connection.execute(
            "INSERT INTO page (mpi_family, features) VALUES (?, ?)", (family, b"")
        )
        number = cursor.lastrowid
        connection.execute("INSERT INTO page_study VALUES (?, ?)", (number, b""))
        _store(connection, number, rows[start : start + PAGE_ROWS])


def _store(
    connection: sqlite3.Connection, number: int | None, rows: list[tuple[bytes, bytes]]
) -> None:
    columns = zip(*(row for row, _ in rows), strict=True)
    features = b"".join(map(bytes, columns))
    studies = b"".join(identity for _, identity in rows)
    connection.execute("UPDATE page SET features = ? WHERE number = ?", (features, number))
    connection.execute("UPDATE page_study SET studies = ? WHERE number = ?", (studies, number))


def _rows(blob: bytes) -> list[bytes]:
    height = len(blob) // len(COLUMNS)
    columns = (blob[at : at + height] for at in range(0, height * len(COLUMNS), max(height, 1)))
    return [bytes(row) for row in zip(*columns, strict=True)]


def _ids(studies: bytes) -> list[bytes]:
    return [studies[at : at + ID_BYTES] for at in range(0, len(studies), ID_BYTES)]


class _Terms:
    """Texts that many cases have in common, with a number each."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], int] = {}

    def number(self, kind: str, text: str) -> int:
        """Return the number of a term, a new one if it has none."""
        known = self._known.get((kind, text))
        if known is None:
            known = self._known[kind, text] = self._find(kind, text)
        return known

    def _find(self, kind: str, text: str) -> int:
        query = "SELECT number FROM term WHERE kind = ? AND text = ?"
        row = self._connection.execute(query, (kind, text)).fetchone()
        if row is not None:
            return int(row[0])
        (number,) = self._connection.execute(
            "SELECT count(*) FROM term WHERE kind = ?", (kind,)
        ).fetchone()
        if number >= MOST_TERMS:
            return MOST_TERMS - 1
        self._connection.execute("INSERT INTO term VALUES (?, ?, ?)", (kind, number, text))
        return int(number)
