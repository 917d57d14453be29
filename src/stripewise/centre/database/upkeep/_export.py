# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exports the jobs that a viewer sees as tables, or copies the whole database anonymously."""

from __future__ import annotations

import csv
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Engine, Select, Table, func, insert, select

from stripewise.centre.database._records import pack, unpack
from stripewise.centre.database.queries._filters import JobFilter
from stripewise.centre.database.queries._jobs import exported_jobs
from stripewise.centre.database.queries._viewer import Viewer
from stripewise.centre.database.tables._base import Base, Reasons
from stripewise.centre.database.tables._jobs import (
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    Program,
    SettingRow,
)
from stripewise.centre.database.tables._storage import FileSystem, JobServed
from stripewise.core import Pseudonyms, whole_file, with_texts
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.extras import require
from stripewise.present import csv_cell, finite

ROWS = 10_000
_OF_SOURCE: Mapping[str, Any] = {
    "io": JobIo,
    "files": JobFile,
    "patterns": JobPattern,
    "findings": FindingRow,
    "settings": SettingRow,
}
TABLES = ("jobs", *_OF_SOURCE, "served")


def export(
    connection: Connection,
    viewer: Viewer,
    directory: Path,
    form: str = "csv",
    *,
    job_filter: JobFilter | None = None,
    tables: Sequence[str] = TABLES,
    done: Callable[[str, int], None] = lambda table, rows: None,
) -> dict[str, int]:
    """Write tables into a directory, one file each, and return the number of rows of each.

    Files appear when they are complete. Where the viewer may not read names of files, tables with
    such names contain only the viewer's own jobs.

    Args:
        connection: Connection to the database.
        viewer: The viewer whose rights apply.
        directory: Directory, which is created if it does not exist.
        form: Format: "csv", "jsonl" or "parquet".
        job_filter: Filter on jobs; None for all that the viewer sees.
        tables: Names from `TABLES`.
        done: Function that is called with each table and its number of rows.

    Raises:
        UsageError: There is no such format or table.
        StorageError: The directory cannot be written to.
        RuntimeMissingError: pyarrow is not installed.
    """
    if form not in _FORMS:
        raise UsageError(f"{form!r} is not an export format: give {', '.join(_FORMS)}")
    if unknown := [name for name in tables if name not in TABLES]:
        raise UsageError(f"{unknown[0]!r} is not a table of the export: {', '.join(TABLES)}")
    counts = {}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in tables:
            query = _query(connection, viewer, name, job_filter or JobFilter())
            counts[name] = _write(connection, query, directory / f"{name}.{form}", form)
            done(name, counts[name])
    except StorageError:  # its message states what was refused
        raise
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror}: give another directory") from error
    return counts


def _query(
    connection: Connection, viewer: Viewer, name: str, job_filter: JobFilter
) -> Select[Any]:
    if name == "jobs":
        return exported_jobs(connection, viewer, job_filter)
    if name == "served":
        return _served(exported_jobs(connection, viewer, job_filter))
    table = _OF_SOURCE[name]
    columns = [column for column in table.__table__.c if column.name != "source_id"]
    query = exported_jobs(connection, viewer, job_filter, names=True).with_only_columns(
        Job.id.label("job_id"), JobSource.kind.label("source"), *columns
    )
    query = query.join(JobSource, JobSource.job_id == Job.id)
    return query.join(table, table.source_id == JobSource.id)


def _served(jobs: Select[Any]) -> Select[Any]:
    """Return what servers counted for jobs; it contains no names of files."""
    own = ("job_id", "file_system_id")
    columns = [column for column in JobServed.__table__.c if column.name not in own]
    query = jobs.with_only_columns(
        Job.id.label("job_id"), FileSystem.name.label("file_system"), *columns
    )
    query = query.join(JobServed, JobServed.job_id == Job.id)
    return query.join(FileSystem, FileSystem.id == JobServed.file_system_id)


def _write(connection: Connection, query: Select[Any], path: Path, form: str) -> int:
    names = [str(column.key) for column in query.selected_columns]
    number = 0
    with whole_file(path) as place, place.open("wb") as file:
        writer = _FORMS[form](file, names, query)
        found = connection.execute(query.execution_options(yield_per=ROWS))
        for rows in found.partitions(ROWS):
            writer.write([_plain(row) for row in rows])
            number += len(rows)
        writer.close()
    return number


class _Writer(ABC):
    def __init__(self, file: IO[bytes], names: Sequence[str], query: Select[Any]) -> None:
        self.file = file
        self.names = names

    @abstractmethod
    def write(self, rows: Sequence[Any]) -> None:
        """Write rows."""

    def close(self) -> None:  # noqa: B027  # most have nothing left to write
        """Write what is buffered."""


class _Csv(_Writer):
    def __init__(self, file: IO[bytes], names: Sequence[str], query: Select[Any]) -> None:
        super().__init__(file, names, query)
        self.write([names])

    def write(self, rows: Sequence[Any]) -> None:
        text = _Lines()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerows([csv_cell(value) for value in row] for row in rows)
        self.file.write("".join(text.lines).encode())


def _plain(values: Iterable[Any]) -> list[Any]:
    """Return values with reasons as text: "read_bytes: the log is damaged"."""
    return [
        "; ".join(f"{name}: {why}" for name, why in value.items()) or None
        if isinstance(value, dict)
        else value
        for value in values
    ]


class _Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        self.lines.append(text)


class _JsonLines(_Writer):
    def write(self, rows: Sequence[Any]) -> None:
        for row in rows:
            line = json.dumps(finite(dict(zip(self.names, row, strict=True))), allow_nan=False)
            self.file.write(line.encode() + b"\n")


class _Parquet(_Writer):
    def __init__(self, file: IO[bytes], names: Sequence[str], query: Select[Any]) -> None:
        require("parquet", "an export as Parquet")
        import pyarrow
        import pyarrow.parquet

        super().__init__(file, names, query)
        kinds = {
            int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string(),
            bool: pyarrow.bool_(), dict: pyarrow.string(),
        }  # fmt: skip
        self.schema = pyarrow.schema(
            [(column.key, kinds[column.type.python_type]) for column in query.selected_columns]
        )
        self.arrow = pyarrow
        self.out = pyarrow.parquet.ParquetWriter(file, self.schema, compression="zstd")

    def write(self, rows: Sequence[Any]) -> None:
        columns = [list(column) for column in zip(*rows, strict=True)]
        arrays = [
            self.arrow.array(column, one.type)
            for column, one in zip(columns, self.schema, strict=True)
        ]
        self.out.write_table(self.arrow.Table.from_arrays(arrays, schema=self.schema))

    def close(self) -> None:
        self.out.close()


_FORMS: Mapping[str, Callable[[IO[bytes], Sequence[str], Select[Any]], _Writer]] = {
    "csv": _Csv,
    "jsonl": _JsonLines,
    "parquet": _Parquet,
}


# Makes an anonymous copy of the database, to be shared with others.
#
# Every column has a rule here; a column without one stops the copy. Names become pseudonyms that
# are the same throughout a copy and cannot be reversed: their key is random and is discarded.
# Times and sizes are kept: whoever knows the times of a job can find it again. Times and sizes
# stay: who knows a job's times can find it again.

_ROWS_COPIED = 2000
SKIPPED = (
    "audit",
    "ledger",
    "login_attempt",
    "monitor_state",
    "principal",
    "seen_file",
    "session",
    "token",
)
"""Tables that a copy does not have: accounts, and the ledger of inputs."""
FEWEST_USERS = 5
"""A program with fewer users is anonymised like them."""
_VEILED = {
    "cluster.name": "cluster", "person.name": "user", "project.name": "project",
    "file_system.name": "file-system", "job_io.file_system": "file-system",
    "job.name": "job", "job.partition": "partition", "job.qos": "qos",
    "job.unix_group": "group",
    "job_source.name": "source", "job_source.user": "user", "job_file.path": "file",
    "job_file.file_class": "class", "job_pattern.file_class": "class",
    "job_pattern.dataset": "dataset", "setting.file_class": "class", "series.server": "server",
    "job_tag.text": "tag", "job_tag.user": "user", "job_tag.program": "program",
    "job_tag.host": "host", "job_load.server": "server",
    "series.target": "target", "campaign.name": "campaign", "campaign.storage": "storage",
}  # fmt: skip
_NUMBERED = ("job.raw_id", "job.array_job_id", "job.het_job_id", "job.uid", "job_source.uid",
             "job_tag.raw_id", "job_tag.uid", "person_uid.uid")  # fmt: skip
_EMPTIED: Mapping[str, Any] = {
    "job.sluid": None, "job.node_list": None, "file_system.mount": "", "event.text": "",
    "paired_run.configuration": "", "paired_run.hints": "", "finding.phrase": "",
    "setting.requested": None, "setting.applied": None, "setting.effective": None,
}  # fmt: skip
_HASHED = ("job_source.digest", "paired_run.digest", "campaign.digest")
_PACKED = ("job_source.document", "job_source.rows", "campaign.document")
_OF_PROGRAM = ("program.name",)
_KEPT_TEXT = (
    *("job.state", "job.no_data_reason", "job.top_finding", "job.pattern", "job_source.kind"),
    *("job_source.match_rule", "job_file.interface", "job_pattern.form"),
    *("job_pattern.notation", "finding.code", "finding.severity", "setting.name"),
    *("series.metric", "series.unit", "event.kind", "campaign.suite", "campaign_figure.case"),
    *("campaign_figure.operation", "campaign_figure.unit", "paired_run.pattern"),
    *("job_load.kind", "job_load.parts", "job_served.kind", "job_served.parts"),
    *("paired_run.verification", "program.area"),
)
_KEPT_WORDS = frozenset({
    "interface", "layer", "severity", "code", "kind", "view", "direction", "notation",
})  # fmt: skip
"""Members of a profile whose text contains no names."""
_RANKS = re.compile(r"(ranks?|process|thread) [\d\-–,. to]{1,40}", re.ASCII)


class Veil(Pseudonyms):
    """Pseudonyms of one copy."""

    def name(self, kind: str, text: str | None) -> str | None:
        """Return the pseudonym of a name; an empty name stays empty."""
        return f"{kind}-{self.digest(kind, text)[:12]}" if text else text

    def number(self, kind: str, number: int | None) -> int | None:
        """Return the pseudonym of a number, less than 2^53."""
        return None if number is None else int(self.digest(kind, str(number))[:13], 16)

    def text(self, text: str, member: str) -> str:
        """Return the replacement of a text in a profile or campaign, according to its member."""
        if not text or member in _KEPT_WORDS or (member == "labels" and _RANKS.fullmatch(text)):
            return text
        return self.name("file", text) or "" if member in ("path", "file", "labels") else ""


def anonymise(
    source: Connection,
    target: Engine,
    *,
    veil: Veil | None = None,
    done: Callable[[str, int], None] = lambda table, rows: None,
) -> int:
    """Copy a database into an empty one, without names, and return the number of rows.

    Args:
        source: Engine of the database to read.
        target: Engine of a database with empty tables.
        veil: Makes the pseudonyms; None to use one with a new key.
        done: Function that is called with each table and its number of rows.

    Raises:
        StorageError: The target is not empty.
    """
    veil = veil or Veil()
    total = 0
    with target.execution_options(writing=True).begin() as connection:
        if connection.scalar(select(func.count()).select_from(Job)):
            raise StorageError("the copy is to go into a database that has jobs: give a new one")
        for table in Base.metadata.sorted_tables:
            if table.name not in SKIPPED:
                number = _copy(source, connection, table, veil)
                done(table.name, number)
                total += number
                _count_on(connection, table)
    return total


def _count_on(connection: Connection, table: Table) -> None:
    """Set PostgreSQL's sequences to continue after the keys that were copied."""
    if connection.dialect.name == "postgresql" and "id" in table.c:
        last = select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
        sequence = func.pg_get_serial_sequence(table.name, "id")
        connection.execute(select(func.setval(sequence, last, False)))


def _copy(source: Connection, target: Connection, table: Table, veil: Veil) -> int:
    rules = {column.name: _rule(f"{table.name}.{column.name}", column, veil)
             for column in table.c}  # fmt: skip
    few = _programs_of_few_users(source) if table.name == "program" else frozenset()
    number = 0
    for rows in _parts(source, table):
        made = [{name: rule(row[name]) for name, rule in rules.items()} for row in rows]
        for row, was in zip(made, rows, strict=True):
            if was.get("name") in few:
                row["name"] = veil.name("program", was["name"])
        target.execute(insert(table), made)
        number += len(made)
    return number


def _parts(source: Connection, table: Table) -> Iterator[Sequence[Any]]:
    keys = list(table.primary_key.columns)
    found = source.execute(select(table).order_by(*keys).execution_options(yield_per=_ROWS_COPIED))
    yield from found.mappings().partitions(_ROWS_COPIED)


def _rule(place: str, column: Any, veil: Veil) -> Callable[[Any], Any]:
    """Return the function that makes a value of a column anonymous.

    Raises:
        StorageError: The column has no rule.
    """
    if place in _EMPTIED:
        return lambda value: _EMPTIED[place]
    if place in _VEILED:
        return lambda value: veil.name(_VEILED[place], value)
    if place in _NUMBERED:
        kind = "uid" if place.endswith("uid") else "job"
        return lambda value: veil.number(kind, value)
    if place in _HASHED:
        return lambda value: veil.digest("digest", value)
    if place in _PACKED:
        return lambda value: pack(with_texts(unpack(value), veil.text))
    if isinstance(column.type, Reasons):
        return lambda value: dict.fromkeys(value, "not told in this copy")
    if place in _KEPT_TEXT or place in _OF_PROGRAM or column.type.python_type is not str:
        return lambda value: value
    raise StorageError(f"{place}: nothing says what an anonymous copy has there")


def _programs_of_few_users(source: Connection) -> frozenset[str]:
    """Return the programs that only few users run."""
    users = func.count(Job.person_id.distinct())
    query = select(Program.name).outerjoin(Job, Job.program_id == Program.id)
    found = source.scalars(query.group_by(Program.name).having(users < FEWEST_USERS))
    return frozenset(found)
