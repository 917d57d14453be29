#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the size of the statistics database and the speed of its pages, for a large centre.

python benchmarks/fleet_scale.py [--jobs 1000000] [--directory DIR]

The rows are synthetic (`fleet_scale_data.py`).  Every search is run with every sort order, on the
first page and on a late one, by a user, by one with very many jobs, by a manager and by an
administrator; each answer includes the number of hits, as on the first request of a page.  A
separate PostgreSQL is started if the machine has one.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from fleet_scale_data import FIRST_AT, FORMS, LASTS, fill
from sqlalchemy import Connection, Engine, func, select, text

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.queries import (
    SORTS,
    JobFilter,
    Role,
    Viewer,
    count_jobs,
    list_files,
    list_jobs,
    view_job,
)
from stripewise.centre.database.tables import Job

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.postgres import missing, running

GOAL_SECONDS = 0.2
PAGES = 300
"""Number of job pages to open, chosen at random."""
_DEEP_PAGES, _DEEP_ROWS = 4, 500
_DEEP = ("all", "program", "finding", "no profile")
_SETTINGS = ("shared_buffers=1GB", "maintenance_work_mem=256MB", "max_wal_size=8GB")
VIEWERS = {
    "user": Viewer("user0500", Role.USER, 500),
    "user with very many jobs": Viewer("user0001", Role.USER, 1),
    "manager": Viewer("user0002", Role.USER, 2, frozenset({2, 60, 150})),
    "administrator": Viewer("admin", Role.ADMIN),
}
_MIDDLE = FIRST_AT + LASTS // 2
FILTERS = {
    "all": JobFilter(),
    "word": JobFilter(q="lammps"),
    "job id": JobFilter(q="1000777"),
    "program": JobFilter(program="wrf2.exe"),
    "rare program": JobFilter(program="mesh78.exe"),
    "user": JobFilter(user="user0100"),
    "project": JobFilter(project="g101"),
    "state": JobFilter(state="FAILED"),
    "week": JobFilter(since=_MIDDLE, until=_MIDDLE + 7 * 86400),
    "finding": JobFilter(finding="stripe-count"),
    "pattern that loses": JobFilter(
        pattern=FORMS[2], direction="write", least_avoidable_seconds=10.0
    ),
    "no profile": JobFilter(source="none"),
    "much I/O": JobFilter(least_io_seconds=10_000.0),
    "several": JobFilter(program="sim1.exe", state="TIMEOUT", since=_MIDDLE, source="any"),
    "nothing": JobFilter(q="no-such-thing"),
}


@dataclass(frozen=True)
class Row:
    """Time for one kind of query.

    Attributes:
        database: "sqlite" or "postgresql".
        what: Who queries what.
        count: Number of answers.
        p50_seconds / p95_seconds / most_seconds: Quantiles and maximum of the time of an answer.
        slowest: Query that took longest.
    """

    database: str
    what: str
    count: int
    p50_seconds: float
    p95_seconds: float
    most_seconds: float
    slowest: str


def main() -> None:
    """Build, measure, and print the tables."""
    options = _options()
    rows, sizes = [], {}
    with _directory(options.directory) as directory:
        for name, engine in _engines(directory):
            start = time.monotonic()
            initialise(engine)
            with engine.connect() as connection:
                is_empty = connection.scalar(select(Job.id).limit(1)) is None
            if is_empty:
                fill(engine, options.jobs)
            built = time.monotonic() - start
            sizes[name] = {"bytes_per_job": _size(engine) / options.jobs, "build_seconds": built}
            rows += measured(name, engine)
            engine.dispose()
    document = {"jobs": options.jobs, "sizes": sizes, "rows": [asdict(row) for row in rows]}
    print(json.dumps(document, indent=2) if options.json else markdown(document))


def measured(name: str, engine: Engine) -> Iterator[Row]:
    """Yield the times of all queries."""
    for who, viewer in VIEWERS.items():
        for place in ("first", "deep"):
            times = dict(_lists(engine, viewer, place))
            yield _row(name, f"list of jobs, {place} page, {who}", times)
    yield _row(name, "page of a job", dict(_pages(engine)))


def markdown(document: dict[str, object]) -> str:
    """Return the tables as Markdown."""
    lines = [f"{document['jobs']:,} jobs, synthetic; times in ms; the aim is a p95 of at most "
             f"{GOAL_SECONDS * 1e3:.0f} ms.", "",
             "| database | question | answers | p50 | p95 | most |",
             "|---|---|--:|--:|--:|--:|"]  # fmt: skip
    for row in document["rows"]:  # type: ignore[attr-defined]
        times = (row[f"{name}_seconds"] * 1e3 for name in ("p50", "p95", "most"))
        cells = " | ".join(f"{value:.1f}" for value in times)
        lines.append(f"| {row['database']} | {row['what']} | {row['count']} | {cells} |")
    lines += ["", "| database | KiB a job |", "|---|--:|"]
    for name, size in document["sizes"].items():  # type: ignore[attr-defined]
        lines.append(f"| {name} | {size['bytes_per_job'] / 1024:.2f} |")
    return "\n".join(lines)


def _lists(engine: Engine, viewer: Viewer, place: str) -> Iterator[tuple[str, float]]:
    with engine.connect() as connection:
        for name in FILTERS if place == "first" else _DEEP:
            asked = FILTERS[name]
            for sort in SORTS:
                for order in (sort, f"-{sort}"):
                    after = _deep(connection, viewer, asked, order) if place == "deep" else ""
                    if place == "deep" and not after:
                        continue
                    yield (
                        f"{name}, {order}",
                        _timed(
                            lambda asked=asked, order=order, after=after: _list(  # type: ignore[misc]
                                connection, viewer, asked, order, after
                            )
                        ),
                    )


def _list(
    connection: Connection, viewer: Viewer, asked: JobFilter, order: str, after: str
) -> None:
    listing = list_jobs(connection, viewer, asked, sort=order, after=after)
    if listing.total is None:
        count_jobs(connection, viewer, asked)


def _deep(connection: Connection, viewer: Viewer, asked: JobFilter, order: str) -> str:
    """Return a position some thousand rows behind the first, or the last one before the end."""
    after = ""
    for _ in range(_DEEP_PAGES):
        listing = list_jobs(connection, viewer, asked, sort=order, after=after, limit=_DEEP_ROWS)
        if not listing.next:
            break
        after = listing.next
    return after


def _pages(engine: Engine) -> Iterator[tuple[str, float]]:
    chance = random.Random(3)
    with engine.connect() as connection:
        most = connection.scalar(select(func.max(Job.id))) or 0
        for number in range(PAGES):
            job_id = chance.randint(1, most)
            yield (
                f"{number}, job {job_id}",
                _timed(lambda job_id=job_id: _page(connection, job_id)),
            )  # type: ignore[misc]


def _page(connection: Connection, job_id: int) -> None:
    viewer = VIEWERS["administrator"]
    found = view_job(connection, viewer, job_id)
    assert found is not None
    for one in found.sources:
        list_files(connection, viewer, job_id, one.about["id"])


def _timed(ask: Callable[[], None]) -> float:
    start = time.perf_counter()
    ask()
    return time.perf_counter() - start


def _row(database: str, what: str, times: dict[str, float]) -> Row:
    values = np.array(list(times.values()) or [np.nan])
    slowest = max(times, key=lambda name: times[name], default="")
    return Row(database, what, len(times), float(np.percentile(values, 50)),
               float(np.percentile(values, 95)), float(values.max()), slowest)  # fmt: skip


def _size(engine: Engine) -> int:
    name = engine.url.database or ""
    if engine.dialect.name == "sqlite":
        return Path(name).stat().st_size
    with engine.connect() as connection:
        return int(
            connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
        )


@contextmanager
def _directory(given: Path | None) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="fleet-scale-", dir=given))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made)


def _engines(directory: Path) -> Iterator[tuple[str, Engine]]:
    yield "sqlite", create_engine(str(directory / "fleet.sqlite"))
    why = missing()
    if why:
        print(f"postgresql is left out: {why}", file=sys.stderr)
        return
    with running(directory, _SETTINGS) as server:
        yield "postgresql", create_engine(server.url())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1_000_000, help="jobs in the database")
    parser.add_argument("--directory", type=Path, help="where the databases are made for a time")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")
    return parser.parse_args()


if __name__ == "__main__":
    main()
