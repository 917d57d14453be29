# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the ledger of inputs and of Slurm queries, and stores each batch in one transaction."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

from stripewise import __version__
from stripewise.centre.database._engine import database_errors, refresh_statistics
from stripewise.centre.database._records import Parsed, Record
from stripewise.centre.database._schema import check
from stripewise.centre.database.ingest._base import identity
from stripewise.centre.database.ingest._inputs import Input
from stripewise.centre.database.ingest._profile_record import clean
from stripewise.centre.database.ingest._sacct import Window, window
from stripewise.centre.database.ingest._work import Refused, Stored
from stripewise.centre.database.store._jobs import put_all
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables._access import Ledger, SeenFile
from stripewise.centre.database.tables._storage import FileSystem
from stripewise.present import printable

STORED, REFUSED = "stored", "refused"
_LONGEST_REASON = 2000
_OF_NO_KIND = "of no kind for "
OF_NO_KIND = f"{_OF_NO_KIND}{__version__}"[:64]
"""Stands for the digest of a file that this version cannot read; a newer one may."""
_FAULTS = (DataError, IntegrityError, ArithmeticError, LookupError, TypeError, ValueError)
"""Errors of records that the tables cannot store; all others are errors of the database."""


@dataclass
class LedgerEntry:
    """An input that is to be recorded in the ledger.

    Attributes:
        inputs: Places of the input; equal contents may be in several places.
        digest: Digest of its content.
        answer: Result of reading it; None if it is known already.
    """

    inputs: list[Input]
    digest: str
    answer: Stored | Refused | None = None
    outcome: str = field(default="known", init=False)


def unseen(engine: Engine, found: Sequence[Input]) -> list[Input]:
    """Return the inputs that are new or have changed since they were last read."""
    query = select(SeenFile.place, SeenFile.size_bytes, SeenFile.changed_ns)
    query = query.where(
        SeenFile.place.in_([one.place for one in found]),
        SeenFile.digest.not_like(f"{_OF_NO_KIND}%") | (SeenFile.digest == OF_NO_KIND),
    )
    with database_errors(engine), engine.connect() as connection:
        rows = connection.execute(query)
        seen = {row.place: (row.size_bytes, row.changed_ns) for row in rows}
    return [
        one for one in found
        if seen.get(one.place) != (one.stamp.size_bytes, one.stamp.changed_ns)
    ]  # fmt: skip


def outcomes(engine: Engine, digests: Iterable[str]) -> dict[str, str]:
    """Return the recorded outcome of each content that is in the ledger."""
    with database_errors(engine), engine.connect() as connection:
        return _outcomes(connection, digests)


def mounts(engine: Engine) -> list[tuple[str, str]]:
    """Return the mount points and the names of their file systems, the longest first."""
    with database_errors(engine), engine.connect() as connection:
        rows = connection.execute(select(FileSystem.mount, FileSystem.name)).all()
    found = [(line, name) for lines, name in rows for line in lines.split("\n") if line]
    return sorted(found, key=lambda pair: -len(pair[0]))


def write(engine: Engine, entries: Sequence[LedgerEntry]) -> None:
    """Write inputs, all or none; an input that the tables cannot store is refused on its own.

    Raises:
        StorageError: The database refuses; nothing of these inputs is written.
    """
    try:
        _write(engine, entries)
    except (StatementError, *_FAULTS) as error:
        if isinstance(error, DBAPIError) and not isinstance(error, _FAULTS):
            raise
        if len(entries) > 1:
            for one in entries:
                write(engine, [one])
        elif isinstance(entries[0].answer, Stored):
            what = " ".join(str(getattr(error, "orig", error)).split())
            reason = f"the tables cannot hold it: {type(error).__name__}: {what}"
            entries[0].answer = Refused(entries[0].answer.kind, reason)
            _write(engine, entries)
        else:
            raise


def store(
    engine: Engine, kind: str, name: str, records: Iterable[Record],
    problems: Sequence[str] = (), at: int | None = None,
) -> None:  # fmt: skip
    """Store records that do not come from a file, such as those queried from Slurm.

    The ledger has one row for each name, with the time of the last query (`at`, by default now)
    and what could not be read.

    Raises:
        StorageError: The database refuses; nothing is stored.
    """
    answer = Stored(kind, tuple(records), tuple(problems))
    with database_errors(engine), engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(answer.records)
        row = _row(identity("asked", kind, name), name, 0, answer, at)
        put_all(connection, Ledger, ("digest",), [row])


def _write(engine: Engine, entries: Sequence[LedgerEntry]) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        writer = Writer(connection)  # from here on, nobody else writes
        present = _outcomes(connection, (one.digest for one in entries))
        fresh = {one.digest: one for one in entries if present.get(one.digest) != STORED}
        answers = [(one, one.answer) for one in fresh.values() if one.answer is not None]
        rows = [
            _row(one.digest, str(one.inputs[0].path), one.inputs[0].stamp.size_bytes, answer)
            for one, answer in answers
        ]
        for (one, _), row in zip(answers, rows, strict=True):
            one.outcome = row["outcome"]
        put_all(connection, Ledger, ("digest",), rows)
        good = {one.digest for one in entries if STORED in (one.outcome, present.get(one.digest))}
        _see(writer, [(place, one.digest) for one in entries for place in one.inputs], good)
        stored = [answer for _, answer in answers if isinstance(answer, Stored)]
        writer.store(record for answer in stored for record in answer.records)


def _outcomes(connection: Connection, digests: Iterable[str]) -> dict[str, str]:
    query = select(Ledger.digest, Ledger.outcome).where(Ledger.digest.in_(list(digests)))
    return {row.digest: row.outcome for row in connection.execute(query)}


def _row(
    digest: str, name: str, size_bytes: int, answer: Stored | Refused, at: int | None = None
) -> dict[str, Any]:
    """Return the row of the ledger for an input."""
    refused = isinstance(answer, Refused)
    reason = answer.reason if isinstance(answer, Refused) else "; ".join(answer.problems)
    return {
        "digest": digest,
        "kind": answer.kind,
        "name": printable(name),
        "size_bytes": size_bytes,
        "outcome": REFUSED if refused else STORED,
        "reason": clean(reason, _LONGEST_REASON),
        "at": int(time.time()) if at is None else at,
    }


def _see(writer: Writer, found: Sequence[tuple[Input, str]], good: Collection[str]) -> None:
    """Record the current state of files, and remove what they contained before.

    Args:
        writer: Writer within a transaction.
        found: Each file with the digest of its content.
        good: Digests of contents that are in the tables.
    """
    connection = writer.connection
    query = select(SeenFile.place, SeenFile.digest)
    query = query.where(SeenFile.place.in_([one.place for one, _ in found]))
    former = {row.place: row.digest for row in connection.execute(query)}
    rows = {
        one.place: {
            "place": one.place,
            "size_bytes": one.stamp.size_bytes,
            "changed_ns": one.stamp.changed_ns,
            "digest": digest,
        }
        for one, digest in found
    }
    put_all(connection, SeenFile, ("place",), list(rows.values()))
    for place, was in former.items():
        if was != rows[place]["digest"]:
            _forget(writer, was, is_replaced=rows[place]["digest"] in good)


def _forget(writer: Writer, digest: str, *, is_replaced: bool) -> None:
    """Remove a content that no file has any more; a replaced one only if the new one is stored."""
    others = select(SeenFile.place).where(SeenFile.digest == digest).limit(1)
    if writer.connection.scalar(others) is not None:
        return
    line = delete(Ledger).where(Ledger.digest == digest)
    if is_replaced:
        writer.forget(digest)
    else:
        line = line.where(Ledger.outcome == REFUSED)
    writer.connection.execute(line)


# Jobs that Slurm is queried for: everything new since the last query.

KIND = "scheduler"
_ROWS = 2000


@dataclass
class SlurmIntake:
    """Result of a query to Slurm.

    Attributes:
        jobs: Number of records; a job that runs for days is returned with each day.
        problems: What could not be read, one sentence each.
        span: The time span of the query.
    """

    span: Window
    jobs: int = 0
    problems: tuple[str, ...] = ()


def next_window(engine: Engine, name: str, since: int | None = None) -> Window:
    """Return the time span of the next query.

    Args:
        engine: Engine of the database.
        name: Name of what is queried.
        since: Start of the span; None to begin some time before the last query.

    Raises:
        StorageError: The database refuses.
    """
    check(engine)
    now = int(time.time())
    if since is not None:
        return Window(min(since, now), now)
    return window(_last(engine, name), now)


def _last(engine: Engine, name: str) -> int | None:
    """Return until when everything has been queried, or None if nothing has been."""
    query = select(Ledger.at).where(Ledger.digest == identity("asked", KIND, name))
    with database_errors(engine), engine.connect() as connection:
        return connection.scalar(query)


def take_jobs(engine: Engine, name: str, span: Window, parts: Iterable[Parsed]) -> SlurmIntake:
    """Store the jobs of a time span, and record the query once all of them are stored.

    A span that begins after the end of the previous one leaves a gap. Then the query is not
    recorded, so that the next one covers the gap.

    Args:
        engine: Engine of the database.
        name: Name of what is queried.
        span: The time span.
        parts: The answer, in parts.

    Raises:
        StorageError: The database refuses; what was stored before is complete.
    """
    began = int(time.time())
    intake = SlurmIntake(span)
    for part in parts:
        for first in range(0, len(part.records), _ROWS):
            records = part.records[first : first + _ROWS]
            with (
                database_errors(engine),
                engine.execution_options(writing=True).begin() as connection,
            ):
                Writer(connection).store(records)
            intake.jobs += len(records)
        intake.problems += part.problems
    last = _last(engine, name)
    until = began if last is None or span.start <= last else last
    store(engine, KIND, name, (), intake.problems[:50], at=until)
    if intake.jobs >= _ROWS:
        with database_errors(engine):
            refresh_statistics(engine)
    return intake
