# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fills a statistics database like that of a centre after years: synthetic rows, real profiles.

Names, times and amounts are random; the compressed profiles are those of logs that come with
PyDarshan.  Rows are written directly into the tables, bypassing the ingest.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import darshan
from sqlalchemy import Connection, Engine, text

from stripewise.centre.database._records import SourceRecord
from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.centre.database.tables import Base
from stripewise.evidence.readers import read_evidence

LOGS = ("example.darshan", "ior_hdf5_example.darshan", "noposix.darshan",
        "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan")  # fmt: skip
PROFILED = 0.7
"""Share of the jobs with a profile."""
FILES_PER_JOB = 10
USERS, PROJECTS, PROGRAMS, CLUSTERS = 1000, 150, 80, 2
FIRST_AT, LASTS = 1_700_000_000, 2 * 365 * 86400
STATES = ("COMPLETED",) * 17 + ("FAILED", "TIMEOUT", "CANCELLED")
CODES = ("small-requests", "shared-file", "metadata", "stripe-count", "rank-imbalance", "no-hints")
FORMS = ("<1D, (BLOCK)>", "<2D, (BLOCK, *)>", "<3D, (BLOCK, *, *)>", "<3D, (*, *, BLOCK)>",
         "<3D, (BLOCK, BLOCK, BLOCK)>", "irregular")  # fmt: skip
WORDS = ("ocean", "sim", "wrf", "lammps", "train", "post", "qe", "vasp", "mesh", "test")
_PORTION = 5000

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Tables:
    """Rows of one portion of jobs, by table; the columns are those of `COLUMNS`."""

    rows: dict[str, list[Row]]


COLUMNS: dict[str, tuple[str, ...]] = {
    "cluster": ("id", "name"),
    "person": ("id", "name"),
    "project": ("id", "name"),
    "program": ("id", "name"),
    "member": ("id", "project_id", "person_id", "is_manager"),
    "job": (
        *("id", "cluster_id", "raw_id", "submit_at", "is_recorded", "name", "state", "exit_code"),
        *("person_id", "uid", "project_id", "partition", "node_list", "node_count", "cpu_count"),
        *("rank_count", "eligible_at", "start_at", "end_at", "run_seconds", "program_id"),
        *("source_count", "no_data_reason", "io_seconds", "io_share", "read_bytes"),
        *("write_bytes", "read_seconds", "write_seconds", "meta_seconds", "meta_operations"),
        *("file_count", "shared_file_count", "bytes_per_second", "finding_count", "top_finding"),
        *("avoidable_seconds", "avoidable_node_seconds", "pattern", "changed_at"),
    ),
    "job_source": (
        *("id", "job_id", "kind", "digest", "name", "program_id", "match_rule", "confidence"),
        *("start_at", "end_at", "uid", "rank_count", "is_partial", "io_seconds"),
        *("document", "rows"),
    ),
    "job_io": ("source_id", "file_system", "read_bytes", "write_bytes", "cumulated_seconds",
               "meta_operations", "file_count"),
    "job_file": (
        *("source_id", "number", "path", "file_class", "interface", "read_bytes", "write_bytes"),
        *("read_calls", "write_calls", "meta_operations", "elapsed_seconds", "rank_count"),
        *("stripe_count", "stripe_bytes"),
    ),
    "job_pattern": ("source_id", "number", "file_class", "dataset", "is_write", "form",
                    "notation", "element_bytes", "moved_bytes", "lost_seconds"),
    "finding": ("source_id", "number", "code", "severity", "phrase", "cost_seconds",
                "least_seconds", "most_seconds", "is_measured", "file_count"),
}  # fmt: skip


def fill(engine: Engine, jobs: int) -> None:
    """Fill a database whose tables are empty.

    Args:
        engine: Engine of the database.
        jobs: Number of jobs.
    """
    indices = [index for table in Base.metadata.sorted_tables for index in table.indexes]
    with engine.execution_options(writing=True).begin() as connection:
        for index in indices:
            index.drop(connection, checkfirst=True)
    chance = random.Random(7)
    _put(engine, _names(chance))
    for rows in _portions(chance, jobs, _profiles()):
        _put(engine, rows)
    with engine.execution_options(writing=True).begin() as connection:
        for index in indices:
            index.create(connection)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE" if _is_postgres(connection) else "ANALYZE"))


def _profiles() -> list[SourceRecord]:
    folder = Path(darshan.__file__).parent / "examples" / "example_logs"
    return [
        source_of(read_evidence(folder / name), Origin("darshan", name, name)) for name in LOGS
    ]


def _names(chance: random.Random) -> Tables:
    members = sorted({(_skewed(chance, PROJECTS), user) for user in range(1, USERS + 1)})
    managers = {project: user for project, user in members}
    return Tables({
        "cluster": [(key, f"cluster{key}") for key in range(1, CLUSTERS + 1)],
        "person": [(key, f"user{key:04}") for key in range(1, USERS + 1)],
        "project": [(key, f"g{key:03}") for key in range(1, PROJECTS + 1)],
        "program": [(key, f"{WORDS[key % len(WORDS)]}{key}.exe")
                    for key in range(1, PROGRAMS + 1)],
        "member": [(number, project, user, managers[project] == user)
                   for number, (project, user) in enumerate(members, 1)],
    })  # fmt: skip


def _portions(
    chance: random.Random, jobs: int, profiles: Sequence[SourceRecord]
) -> Iterator[Tables]:
    made = Tables({name: [] for name in COLUMNS})
    for job_id in range(1, jobs + 1):
        _job(made.rows, chance, job_id, jobs, profiles)
        if job_id % _PORTION == 0 or job_id == jobs:
            yield made
            made = Tables({name: [] for name in COLUMNS})


def _skewed(chance: random.Random, most: int) -> int:
    """Return a random number from 1 to `most`; small ones are many times as frequent."""
    return 1 + int(most * chance.random() ** 3)


def _job(
    rows: dict[str, list[Row]], chance: random.Random, job_id: int, jobs: int,
    profiles: Sequence[SourceRecord],
) -> None:  # fmt: skip
    submit = FIRST_AT + LASTS * job_id // jobs
    wait, run = int(chance.expovariate(1 / 600)), chance.lognormvariate(6.5, 1.8)
    person, program = _skewed(chance, USERS), _skewed(chance, PROGRAMS)
    nodes, state = 2 ** chance.randint(0, 8), chance.choice(STATES)
    start, end = submit + wait, submit + wait + int(run)
    figures: Row = ("no profile",) + (None,) * 16
    if chance.random() < PROFILED:
        figures = _source(rows, chance, (job_id, person, program, start, run, nodes),
                          chance.choice(profiles))  # fmt: skip
    rows["job"].append((
        job_id, 1 + (person % 7 == 0), 1_000_000 + job_id, submit, True,
        f"{chance.choice(WORDS)}_{chance.randint(1, 5000)}", state, int(state == "FAILED"),
        person, 20_000 + person, 1 + person % PROJECTS, "batch", f"n[{job_id % 900:04}-]",
        nodes, nodes * 64, nodes * 64, submit, start, end, run,
        program if figures[0] is None else None, int(figures[0] is None), *figures, end,
    ))  # fmt: skip


def _source(
    rows: dict[str, list[Row]], chance: random.Random, job: tuple[Any, ...],
    profile: SourceRecord,
) -> Row:  # fmt: skip
    """Add a profile with its rows; return the job's columns from no_data_reason on."""
    job_id, person, program, start, run, nodes = job
    files = max(1, int(chance.expovariate(PROFILED / FILES_PER_JOB) + 0.5))
    share = chance.betavariate(1, 6)
    seconds, written = run * share, int(chance.lognormvariate(22, 3))
    read = int(chance.lognormvariate(20, 3))
    rows["job_source"].append((
        job_id, job_id, "darshan", f"{job_id:064x}", f"user_{job_id}.darshan", program,
        "job id and time", 1.0, float(start), start + run, 20_000 + person, nodes * 64, False,
        seconds, profile.document, profile.rows,
    ))  # fmt: skip
    rows["job_io"].append((job_id, "scratch", read, written, seconds * nodes, files * 4, files))
    folder = f"/scratch/g{1 + person % PROJECTS:03}/user{person:04}/run{job_id}"
    rows["job_file"] += [
        (job_id, number, f"{folder}/out.{number:05}.nc", "out.*.nc", "MPI-IO", read // files,
         written // files, 16, 64, 4, seconds / files, nodes * 64, 8, 1 << 20)
        for number in range(files)
    ]  # fmt: skip
    form = FORMS[_skewed(chance, len(FORMS)) - 1]
    lost = seconds * chance.random()
    rows["job_pattern"] += [
        (job_id, number, "out.*.nc", "u", bool(number == 0), form, form, 8, written, lost)
        for number in range(chance.randint(1, 3))
    ]  # fmt: skip
    found = chance.sample(CODES, chance.choice((0, 1, 1, 2, 3)))
    rows["finding"] += [
        (job_id, number, code, "warning", f"out.*.nc: {code} in {files} files",
         lost / (number + 1), None, None, False, files)
        for number, code in enumerate(found)
    ]  # fmt: skip
    avoidable = lost if found else 0.0
    return (
        None, seconds, share, read, written, seconds / 3, seconds / 2, seconds / 6, files * 4,
        files, 1, (read + written) / max(seconds, 1e-3), len(found), found[0] if found else None,
        avoidable, avoidable * nodes, form,
    )  # fmt: skip


def _put(engine: Engine, tables: Tables) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        for name, rows in tables.rows.items():
            if rows:
                _insert(connection, name, COLUMNS[name], rows)


def _insert(
    connection: Connection, name: str, columns: Sequence[str], rows: Iterable[Row]
) -> None:
    driver = connection.connection.driver_connection
    assert driver is not None
    words = ", ".join(f'"{column}"' for column in columns)
    if not _is_postgres(connection):
        marks = ", ".join("?" * len(columns))
        driver.executemany(f"INSERT INTO {name} ({words}) VALUES ({marks})", rows)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {name} ({words}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"
