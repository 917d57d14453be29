# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what jobs did to a file system, as one server counted it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from stripewise.fleet._fitting import fitted, key_text
from stripewise.fleet._names import Names, put_all
from stripewise.fleet._samples import file_system_key
from stripewise.fleet.served._settle import KEY, resum, text_of
from stripewise.fleet.served._sums import Sums
from stripewise.fleet.served._tags import parse_tag
from stripewise.fleet.served._template import Template
from stripewise.fleet.tables import JobLoad, JobTag

_AT_ONCE = 400
LONGEST_TAG = 255


class Load(NamedTuple):
    """What one job did to a file system in an interval, as one server counted it.

    Attributes:
        file_system: Its name.
        tag: As Lustre has it; "": jobs that are not kept apart.
        kind: "read", "write" or "metadata".
        at / seconds: The interval, in seconds since 1970.
        operations / moved_bytes / busy_seconds: None: not told.
        parts: Size of requests in bytes, or name of an operation -> how many; {}: not told.
    """

    file_system: str
    tag: str
    kind: str
    at: int
    seconds: float
    operations: int | None
    moved_bytes: int | None = None
    busy_seconds: float | None = None
    parts: Mapping[str, int] = {}


def store_job_loads(
    connection: Connection,
    cluster: str,
    server: str,
    loads: Sequence[Load],
    templates: Sequence[Template] = (),
) -> set[int]:
    """Add rows; one that is there already grows by what comes.

    Args:
        connection: Within a transaction of which `write_alone` is true.
        cluster: Of the clients; "": not told.
        server: That counted.
        loads: What is new.
        templates: Of the names that clients give to jobs.

    Returns:
        The job ids that names tell: `settle` is to be called for them.
    """
    cluster_id = Names(connection).cluster(cluster)
    found: set[int] = set()
    for portion in _portions(loads):  # all at once would take a kilobyte of memory each
        found |= _store(connection, cluster_id, server, portion, templates)
    return found


def _store(
    connection: Connection,
    cluster_id: int,
    server: str,
    loads: Sequence[Load],
    templates: Sequence[Template],
) -> set[int]:
    tags = _tags(connection, cluster_id, {one.tag for one in loads}, templates)
    systems = {name: file_system_key(connection, name) for name in {x.file_system for x in loads}}
    fresh: dict[tuple[Any, ...], Sums] = {}
    for one in loads:
        tag_id = tags[_kept(one.tag)][0]
        key = (systems[one.file_system], one.at, tag_id, one.kind, key_text(server, 255))
        row = Sums(
            one.at, one.at + one.seconds, one.operations, one.moved_bytes, one.busy_seconds,
            dict(one.parts),
        )  # fmt: skip
        fresh[key] = fresh[key] + row if key in fresh else row
    _add(connection, fresh)
    return {raw_id for _, raw_id in tags.values() if raw_id is not None}


def _add(connection: Connection, fresh: Mapping[tuple[Any, ...], Sums]) -> None:
    owners = dict[tuple[Any, ...], int | None]()
    every = dict(fresh)
    for row in _there(connection, fresh):
        key = tuple(row[: len(KEY)])
        every[key] = Sums.of_row(row) + fresh[key]
        owners[key] = row.job_id
    names = [column.name for column in KEY]
    rows = [
        {**dict(zip(names, key, strict=True)), **_row(one), "job_id": owners.get(key)}
        for key, one in sorted(every.items(), key=lambda item: item[0])
    ]
    put_all(connection, JobLoad, names, [fitted(JobLoad, row) for row in rows])
    resum(connection, {job_id for job_id in owners.values() if job_id is not None})


def _there(connection: Connection, fresh: Mapping[tuple[Any, ...], Sums]) -> Iterable[Any]:
    """Give the rows that are there already; the index goes by names and times."""
    moments = [key[1] for key in fresh]
    for tags in _portions(sorted({key[2] for key in fresh})):
        query = select(*JobLoad.__table__.c).where(
            JobLoad.tag_id.in_(tags), JobLoad.at.between(min(moments), max(moments))
        )
        yield from (
            row for row in connection.execute(query).all() if tuple(row[: len(KEY)]) in fresh
        )


def _row(one: Sums) -> dict[str, Any]:
    return {
        "seconds": one.until - one.at,
        "operations": one.operations,
        "moved_bytes": one.moved_bytes,
        "busy_seconds": one.busy_seconds,
        "parts": text_of(one.parts),
    }


def _kept(tag: str) -> str:
    return key_text(tag, LONGEST_TAG)


def _tags(
    connection: Connection, cluster_id: int, texts: Iterable[str], templates: Sequence[Template]
) -> dict[str, tuple[int, int | None]]:
    """Return kept texts -> keys of tags, which are made where they are new, and job ids."""
    given = {_kept(text): text for text in texts}
    found = _known(connection, cluster_id, given)
    rows = [
        fitted(JobTag, {"cluster_id": cluster_id, "text": kept,
                        **parse_tag(given[kept], templates)._asdict()})
        for kept in sorted(given.keys() - found.keys())
    ]  # fmt: skip
    if rows:
        put_all(connection, JobTag, ("cluster_id", "text"), rows)
        found |= _known(connection, cluster_id, [row["text"] for row in rows])
    return found


def _known(
    connection: Connection, cluster_id: int, texts: Iterable[str]
) -> dict[str, tuple[int, int | None]]:
    found: dict[str, tuple[int, int | None]] = {}
    for portion in _portions(sorted(texts)):
        query = select(JobTag.text, JobTag.id, JobTag.raw_id).where(
            JobTag.cluster_id == cluster_id, JobTag.text.in_(portion)
        )
        found |= {row.text: (row.id, row.raw_id) for row in connection.execute(query)}
    return found


def _portions(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
