# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores and finds lessons."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import TypeVar

from stripewise.core import installed_packs
from stripewise.core.errors import ConfigurationError
from stripewise.learning.knowledge._codec import decode, decode_case, encode
from stripewise.learning.knowledge._file import StoreFile, own_path, version_of
from stripewise.learning.knowledge._records import WHOLE, Lesson, StudiedCase, parts_of
from stripewise.learning.knowledge._similarity import nearest_part
from stripewise.present import plural

MOST_LESSONS = 5000
"""Maximum number of lessons that are read, the newest first."""
MOST_NEAREST = 16
"""Default number of similar studies that are read."""
SITE_VARIABLE = "STRIPEWISE_SITE_KNOWLEDGE"
PACKED = "knowledge.sqlite"
"""Name of the store in the directory of an installed pack."""
T = TypeVar("T")
_Near = tuple[float, bool, float, str]
"""Sort key of a near study: distance, whether only a part of it is near, age, and id."""


class Store(StoreFile):
    """Lessons in a file; a file that does not exist contains none.

    Attributes:
        damage: What the last reading skipped, in words; empty if nothing.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Store the arguments; nothing is opened yet."""
        super().__init__(path, read_only=read_only)
        self.damage = ""

    def lessons(
        self,
        *,
        mpi_family: str | None = None,
        program: str = "",
        most: int | None = MOST_LESSONS,
    ) -> list[Lesson]:
        """Return the stored lessons, the newest first; damaged rows are skipped.

        Args:
            mpi_family: MPI of the studies to return; None for any.
            program: Name of the program of the studies to return; empty for any.
            most: Maximum number of lessons, the newest first; None for all.

        Raises:
            StorageError: The file cannot be read.
        """
        found = self.entries(mpi_family=mpi_family, program=program, most=most)
        return [lesson for lesson, _ in found]

    def identities(self, program: str = "") -> list[str]:
        """Return the ids of all studies or of one program's, including damaged ones.

        Raises:
            StorageError: The file cannot be read.
        """
        if not self.path.exists():
            return []
        with self.opened(writing=False) as connection:
            if not version_of(connection):
                return []
            query = "SELECT id FROM study WHERE ?1 = '' OR program = ?1"
            return [study for (study,) in connection.execute(query, (program,))]

    def entries(
        self,
        *,
        mpi_family: str | None = None,
        program: str = "",
        most: int | None = MOST_LESSONS,
    ) -> list[tuple[Lesson, str]]:
        """Return lessons with their origin, "own" or "imported"; see `lessons`."""
        self.damage = ""
        if not self.path.exists():
            return []
        with self.opened(writing=False) as connection:
            if not version_of(connection):
                return []
            wanted = {"program": program or None, "mpi_family": mpi_family}
            given = {name: value for name, value in wanted.items() if value is not None}
            where = " AND ".join(["1", *(f"{name} = ?" for name in given)])
            newest = "ORDER BY recorded_unix_seconds DESC, id"
            # The newest rows are selected before any document is read.
            rows = connection.execute(
                "SELECT document, origin FROM study WHERE id IN"
                f" (SELECT id FROM study WHERE {where} {newest} LIMIT ?) {newest}",
                (*given.values(), -1 if most is None else most),
            ).fetchall()
        return self._decoded(rows)

    def _decoded(self, rows: Iterable[tuple[str, T]], damaged: int = 0) -> list[tuple[Lesson, T]]:
        """Return the decoded lessons, each with its second column; count the damaged rows."""
        found = []
        for document, beside in rows:
            try:
                found.append((decode(document), beside))
            except (ConfigurationError, TypeError):
                damaged += 1
        if damaged:
            number = plural(damaged, "study", "studies")
            self.damage = f"{self.path}: skipped {number} that cannot be read"
        return found

    def nearest(self, case: StudiedCase, most: int = MOST_NEAREST) -> tuple[list[Lesson], int]:
        """Return the studies most similar to a case, and the number of studies with its MPI.

        Only the cases of all studies are read and compared; the nearest studies are read entirely.

        Args:
            case: Case to look up, with its classes of files.
            most: Number of studies to return for all files, and for each class.

        Raises:
            StorageError: The file cannot be read.
        """
        self.damage = ""
        if not self.path.exists():
            return [], 0
        cases = list(parts_of(case).values())
        with self.opened(writing=False) as connection:
            if not version_of(connection):
                return [], 0
            known, damaged, chosen = _nearest(connection, cases, most)
            marks = ",".join("?" * len(chosen))
            query = f"SELECT id, document FROM study WHERE id IN ({marks})"
            documents = dict(connection.execute(query, chosen))
        lessons = self._decoded(((documents[study], None) for study in chosen), damaged)
        return [lesson for lesson, _ in lessons], known

    def add(self, lessons: Sequence[Lesson], origin: str = "own") -> int:
        """Store lessons in one transaction; return how many were new.

        Raises:
            StorageError: The file cannot be written.
            ConfigurationError: A lesson contains something that cannot be stored.
        """
        rows = [_row(lesson, origin) for lesson in lessons]
        self.create()
        with self.opened(writing=True) as connection:
            query = "INSERT OR IGNORE INTO study VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
            return sum(connection.execute(query, row).rowcount for row in rows)

    def forget(self, study_ids: Sequence[str]) -> int:
        """Remove studies; return how many existed.

        Raises:
            StorageError: The file cannot be written.
        """
        if not study_ids or not self.path.exists():
            return 0
        with self.opened(writing=True) as connection:
            query = "DELETE FROM study WHERE id = ?"
            return sum(connection.execute(query, (one,)).rowcount for one in study_ids)


def own_store() -> Store:
    """Return the user's own store."""
    return Store(own_path())


def site_stores(policy_paths: Sequence[str]) -> tuple[Store, ...]:
    """Return the read-only stores of policies, the environment and installed packs."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    packed = [path / PACKED for path in installed_packs()]
    paths = dict.fromkeys([*(Path(path) for path in named if path), *packed])
    return tuple(Store(path, read_only=True) for path in paths)


def _row(lesson: Lesson, origin: str) -> tuple[object, ...]:
    print_ = lesson.case.fingerprint
    effect = lesson.effect
    return (
        lesson.study_id,
        lesson.recorded_unix_seconds,
        origin,
        print_.program,
        print_.executable_sha256,
        print_.n_ranks,
        lesson.case.stack.mpi_family,
        lesson.case.machine.filesystem,
        int(lesson.improved),
        effect.median if effect else None,
        effect.low if effect else None,
        effect.high if effect else None,
        encode(lesson),
    )


def _nearest(
    connection: sqlite3.Connection, cases: Sequence[StudiedCase], most: int
) -> tuple[int, int, list[str]]:
    """Compare a case with those of all studies with the same MPI.

    Returns:
        Number of studies, number that cannot be read, and the ids of the studies nearest to each
        of the requested cases.
    """
    near: list[list[_Near]] = [[] for _ in cases]
    known = damaged = 0
    for study, recorded, document in connection.execute(
        "SELECT id, recorded_unix_seconds, document FROM study WHERE mpi_family = ?",
        (cases[0].stack.mpi_family,),
    ):
        known += 1
        try:
            other = decode_case(document)
            alike = [nearest_part(case, other) for case in cases]
        except (ValueError, TypeError):
            damaged += 1
            continue
        for rows, found in zip(near, alike, strict=True):
            if found:
                match, likeness = found
                rows.append((likeness.distance, match != WHOLE, -recorded, study))
    return known, damaged, list(dict.fromkeys(row[-1] for r in near for row in nsmallest(most, r)))
