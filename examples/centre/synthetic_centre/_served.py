# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the demo's servers counted for its jobs (assumed): of late by interval, before in sums."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select

from stripewise.centre.database.store import Load, settle, store_job_loads, write_parts
from stripewise.centre.database.store._samples import file_system_key
from stripewise.centre.database.tables import Cluster, Job, JobServed
from synthetic_centre._plan import CLUSTERS
from synthetic_centre._run import Ran
from synthetic_centre._weather import DAY, MINUTE, SCRATCH

AGENTS = ("mds1", "oss1", "oss2")
_COUNTED_DAYS = 14
_COUNTED_SHARE = 0.7
_MOST_INTERVALS = 12
_SIZES = {"large": {1 << 20: 0.9, 64 << 10: 0.07, 4096: 0.03}, "small": {16384: 0.6, 4096: 0.4}}
"""Upper end of the size of requests -> share of them, of bulk data and of small pieces."""
_SMALL_BYTES = 64 << 10
"""A job that moves less for each of its metadata operations has small files (assumed)."""
_OPERATIONS = {"open": 0.3, "close": 0.3, "getattr": 0.35, "mknod": 0.04, "unlink": 0.01}
_SECONDS = {"read": 0.006, "write": 0.006, "metadata": 0.0004}


class _Part(NamedTuple):
    """What servers did for a job of one kind."""

    kind: str
    operations: int
    moved_bytes: int | None
    parts: dict[str, int]


def store_served(connection: Connection, seed: int, until: int, jobs: Sequence[Ran]) -> None:
    """Store what servers counted for a share of the jobs, and the state of the agents.

    Args:
        connection: Within a transaction for writing; the jobs are stored.
        seed: Of the centre.
        until: Now, seconds since 1970.
        jobs: All of them.
    """
    keys = _keys(connection)
    sums, late = list[dict[str, Any]](), dict[str, list[tuple[Ran, list[_Part]]]]()
    for number, one in enumerate(jobs):
        random = np.random.default_rng([seed, 5, number])
        start = one.job.start_at
        if start is None or not one.is_recorded or random.random() >= _COUNTED_SHARE:
            continue
        parts = list(_parts(one))
        if start >= until - _COUNTED_DAYS * DAY:
            late.setdefault(one.job.cluster, []).append((one, parts))
        else:
            key = keys.get((one.job.cluster, one.job.raw_id, one.job.submit_at))
            sums += _sums(one, parts, key)
    _store_sums(connection, sums)
    for cluster in CLUSTERS:
        _store_loads(connection, cluster, until, late.get(cluster, []))
    for agent in AGENTS:
        write_parts(connection, agent, float(until), {"agent": zlib.compress(b"{}")})


def _keys(connection: Connection) -> dict[tuple[str, int | None, int], int]:
    query = select(Cluster.name, Job.raw_id, Job.submit_at, Job.id).join(
        Cluster, Cluster.id == Job.cluster_id
    )
    rows: Any = connection.execute(query)
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def _parts(one: Ran) -> Iterator[_Part]:
    each = (one.read_bytes + one.write_bytes) / max(one.meta_operations, 1)
    sizes = _SIZES["small" if each < _SMALL_BYTES else "large"]
    for kind, moved in (("read", one.read_bytes), ("write", one.write_bytes)):
        if moved:
            mean = sum(0.75 * size * share for size, share in sizes.items())
            number = max(int(moved / mean), 1)
            yield _Part(kind, number, moved, _shared(number, sizes))
    if one.meta_operations:
        number = one.meta_operations
        yield _Part("metadata", number, None, _shared(number, _OPERATIONS))


def _shared(number: int, shares: dict[Any, float]) -> dict[str, int]:
    """Return a number in parts that add up to it; none is zero."""
    found = {str(name): int(number * share) for name, share in shares.items()}
    first = next(iter(found))
    found[first] += number - sum(found.values())
    return {name: part for name, part in found.items() if part}


def _sums(one: Ran, parts: Sequence[_Part], key: int | None) -> list[dict[str, Any]]:
    start, end = one.job.start_at, one.job.end_at
    if key is None or start is None or end is None:
        return []
    return [
        {"job_id": key, "kind": part.kind, "first_at": float(start), "last_at": float(end),
         "operations": part.operations, "moved_bytes": part.moved_bytes,
         "busy_seconds": part.operations * _SECONDS[part.kind], "parts": json.dumps(part.parts)}
        for part in parts
    ]  # fmt: skip


def _store_sums(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    key = file_system_key(connection, SCRATCH)
    if rows:
        connection.execute(insert(JobServed), [{**row, "file_system_id": key} for row in rows])


def _store_loads(
    connection: Connection, cluster: str, until: int, jobs: Sequence[tuple[Ran, list[_Part]]]
) -> None:
    """Store the loads of jobs evenly over their runs: data on two servers, metadata on one."""
    loads: dict[str, list[Load]] = {agent: [] for agent in AGENTS}
    for one, parts in jobs:
        for part in parts:
            servers = AGENTS[:1] if part.kind == "metadata" else AGENTS[1:][: part.operations]
            for place, server in enumerate(servers):
                loads[server] += _intervals(one, part, until, place, len(servers))
    ids = set[int]()
    for server, some in loads.items():
        ids |= store_job_loads(connection, cluster, server, some)
    settle(connection, ids)


def _intervals(one: Ran, part: _Part, until: int, place: int, servers: int) -> Iterator[Load]:
    start, end = one.job.start_at or 0, one.job.end_at or until
    number = min(max((end - start) // MINUTE, 1), _MOST_INTERVALS, part.operations // servers)
    shares = {name: count / part.operations for name, count in part.parts.items()}
    seconds = max((end - start) / number, 1.0)
    for interval in range(number):
        nth, of = interval * servers + place, number * servers
        operations = _nth(part.operations, nth, of)
        yield Load(
            SCRATCH, str(one.job.raw_id), part.kind, int(start + interval * seconds), seconds,
            operations, None if part.moved_bytes is None else _nth(part.moved_bytes, nth, of),
            operations * _SECONDS[part.kind], _shared(operations, shares),
        )  # fmt: skip


def _nth(number: int, place: int, of: int) -> int:
    """Return a part of a number; all parts add up to it."""
    return number * (place + 1) // of - number * place // of
