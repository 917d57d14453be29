# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the jobs that a viewer sees, as files for other programs."""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Select

from stripewise.errors import StorageError, UsageError
from stripewise.extras import require
from stripewise.fleet.queries import JobFilter, Viewer, exported_jobs
from stripewise.fleet.tables import (
    FileSystem,
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobServed,
    JobSource,
    SettingRow,
)
from stripewise.outputs import whole_file
from stripewise.text import csv_cell, finite

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
    asked: JobFilter | None = None,
    tables: Sequence[str] = TABLES,
    done: Callable[[str, int], None] = lambda table, rows: None,
) -> dict[str, int]:
    """Write tables into a directory, a file each; return how many rows each has.

    Files appear when they are whole.  Where the viewer may not read names of files, only jobs
    that are their own are in the tables that have them.

    Args:
        connection: To the database.
        viewer: Whose rights hold.
        directory: Made if it is not there.
        form: "csv", "jsonl" or "parquet".
        asked: Which jobs; None: all that the viewer sees.
        tables: Which of `TABLES`.
        done: Told the table and its rows after each.

    Raises:
        UsageError: There is no such form or table.
        StorageError: The directory cannot be written to.
        RuntimeMissingError: pyarrow is not installed.
    """
    if form not in _FORMS:
        raise UsageError(f"{form!r} is no form of export: give {', '.join(_FORMS)}")
    if unknown := [name for name in tables if name not in TABLES]:
        raise UsageError(f"{unknown[0]!r} is no table of the export: {', '.join(TABLES)}")
    counts = {}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in tables:
            query = _query(connection, viewer, name, asked or JobFilter())
            counts[name] = _write(connection, query, directory / f"{name}.{form}", form)
            done(name, counts[name])
    except StorageError:  # it says itself what was refused
        raise
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror}: give another directory") from error
    return counts


def _query(connection: Connection, viewer: Viewer, name: str, asked: JobFilter) -> Select[Any]:
    if name == "jobs":
        return exported_jobs(connection, viewer, asked)
    if name == "served":
        return _served(exported_jobs(connection, viewer, asked))
    table = _OF_SOURCE[name]
    columns = [column for column in table.__table__.c if column.name != "source_id"]
    query = exported_jobs(connection, viewer, asked, names=True).with_only_columns(
        Job.id.label("job_id"), JobSource.kind.label("source"), *columns
    )
    query = query.join(JobSource, JobSource.job_id == Job.id)
    return query.join(table, table.source_id == JobSource.id)


def _served(jobs: Select[Any]) -> Select[Any]:
    """Return what servers counted for jobs; no name of a file is in it."""
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
        """Write what is left."""


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
