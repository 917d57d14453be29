# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of features beside the studies in a store, kept in the same transactions.

A page holds the features of up to `PAGE_ROWS` parts of cases, one feature after another, and in
a table of its own the studies that they are of.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

from stripewise.errors import ConfigurationError
from stripewise.knowledge._codec import decode
from stripewise.knowledge._features import COLUMNS, LAYOUT, features_of
from stripewise.knowledge._parts import parts_of
from stripewise.knowledge._records import Lesson

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
