# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of the statistics database, each with its own content; and what a database holds."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.ingest import IngestOptions, Tally, ingest
from stripewise.centre.database.ingest._report import FORMAT, SUFFIX, VERSION
from stripewise.centre.database.tables import Base
from stripewise.core import (
    Configuration,
    FileRule,
    Measurement,
    ProgramFacts,
    RunEntry,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import finite
from stripewise.study.report import result_to_json
from support.containers import FakeFile, FakeProcess, build_container, sealed
from support.trace_samples import evidence, one_thread, rank
from support.traces import FakeCall

_OF_THE_MOMENT = {"id", "at", "changed_at", "changed_ns", "place"}
"""Columns that differ between two ingests of the same inputs."""
_FIRST, _COPY = "2026/1/0/a0.darshan", "again/twice.darshan"
"""Two files of a tree with one log: it is stored under the name of whichever was read first."""


def darshan_logs() -> list[Path]:
    """Return each log inside the PyDarshan package once."""
    darshan = pytest.importorskip("darshan", reason="PyDarshan is not installed")
    found = {
        hashlib.sha256(path.read_bytes()).digest(): path
        for path in sorted(Path(darshan.__file__).parent.rglob("*.darshan"))
    }
    return sorted(found.values())


def old(path: Path, seconds: float = 3600.0) -> Path:
    """Make a file, or all that is in a directory, as old as inputs are that grow no more."""
    then = time.time() - seconds
    for one in (path, *(path.rglob("*") if path.is_dir() else ())):
        os.utime(one, (then, then))
    return path


def write_trace(directory: Path, number: int) -> Path:
    """Write a trace whose numbers no other one has."""
    path = directory / f"program{number}.trace"
    path.mkdir(parents=True)
    file = FakeFile(
        f"/scratch/me/out{number}.dat",
        IoLayer.POSIX,
        ops={Op.WRITE: (number + 1, 4096 * (number + 1), 1000)},
        outermost=(1000, 0, 4096 * (number + 1)),
    )
    fields = {"start_ns": 10**18 + number * 10**12, "end_ns": 10**18 + number * 10**12 + 10**10,
              "command": f"./program{number % 5}", "outermost_write_bytes": 4096}  # fmt: skip
    data = build_container([FakeProcess(fields, [file])], run_id=f"run{number}")
    (path / "node1.sw").write_bytes(sealed(data))
    return old(path)


def report(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a report of a run."""
    calls = [FakeCall("/scratch/me/a.dat", offset=place, bytes=100) for place in (0, 100)]
    found = evidence(rank(0, 1, one_thread(*calls)))
    uid = os.geteuid()
    start = 1_700_000_000.0 + 10_000 * number
    return {
        "format": FORMAT, "version": VERSION, "cluster": "alpha", "job_id": str(100 + number),
        "user": "", "uid": uid, "start": start, "end": start + 60.0,
        "exit_code": 0, "settings": {}, "profile": profile_to_json(diagnose(found)),
        **changes,
    }  # fmt: skip


def write_report(directory: Path, number: int = 0, **changes: Any) -> Path:
    """Write a report as `stripewise run` leaves it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{number}{SUFFIX}"
    path.write_text(json.dumps(finite(report(number, **changes))))
    return old(path)


def study_result(directory: str, number: int = 0, *, improved: bool = True) -> StudyResult:
    """Return the result of a study that found one hint to be faster."""
    runs = [
        RunEntry(role, _run(seconds))
        for role, seconds in [(RunRole.PAIR_BASELINE, 10.0), (RunRole.PAIR_WINNER, 4.0)] * 3
    ]
    pairs = tuple(
        (runs[place].measurement, runs[place + 1].measurement) for place in range(0, 6, 2)
    )
    configuration = Configuration((FileRule("*", mpiio={"cb_nodes": 4 + number}),))
    winner = Trial(1, {"mpiio.cb_nodes": 4 + number}, configuration, TrialState.COMPLETE,
                   tuple(pair[1] for pair in pairs))  # fmt: skip
    return StudyResult(
        command=("mpiexec", "-n", "4", "./solver", "out.h5"),
        directory=directory,
        runs=tuple(runs),
        trials=(winner,),
        baseline=tuple(pair[0] for pair in pairs),
        winner=winner,
        improved=improved,
        speedup=Speedup(2.5, 2.2, 2.8, 3),
        elapsed_speedup=Speedup(1.4, 1.2, 1.6, 3),
        pairs=pairs,
        verification=Verification(VerificationStatus.IDENTICAL, ("out.h5",)),
        facts=ProgramFacts(n_ranks=4, mpi_family="mpich"),
        provenance={"date": "2026-07-01 12:00:00 +0200", "host": "node1"},
    )


def _run(io_seconds: float) -> Measurement:
    return Measurement("", RunStatus.OK, 0, 20.0, io_seconds, write_bytes=1 << 30)


def write_study(directory: Path, number: int = 0, *, improved: bool = True) -> Path:
    """Write the directory that a study leaves."""
    path = directory / f"solver{number}.stripewise"
    (path / "runs").mkdir(parents=True)
    (path / "journal.jsonl").write_text("{}\n")
    result = study_result(str(path), number, improved=improved)
    (path / "result.json").write_text(json.dumps(result_to_json(result)))
    return old(path)


def copied(source: Path, target: Path) -> Path:
    """Copy a file to where no directory need be yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return old(target)


def tree(root: Path, traces: int = 30, reports: int = 10) -> int:
    """Write a tree of inputs of all kinds; return how many there are."""
    logs = darshan_logs()
    for number, log in enumerate(logs):
        copied(log, root / f"2026/{number % 12 + 1}/{number}/a{number}.darshan")
    for number in range(traces):
        write_trace(root / "traces", number)
    for number in range(reports):
        write_report(root / "spool", number)
    for number in range(2):
        write_study(root / "studies", number)
    copied(root / _FIRST, root / _COPY)
    broken = root / "broken.darshan"
    broken.write_bytes(logs[0].read_bytes()[:200])
    old(broken)
    return len(logs) + traces + reports + 4


def dump(engine: Engine, *, whole: bool = False) -> dict[str, list[str]]:
    """Return all rows of all tables, in an order that does not depend on that of the ingest.

    Args:
        engine: Of the database.
        whole: With keys and times, as they are.
    """
    with engine.connect() as connection:
        rows = {
            name: [dict(row._mapping) for row in connection.execute(select(table))]
            for name, table in Base.metadata.tables.items()
        }
    if whole:
        return {name: sorted(map(repr, some)) for name, some in rows.items()}
    names = {
        (table, row["id"]): _natural(table, row)
        for table, some in rows.items() for row in some if "id" in row
    }  # fmt: skip
    return {
        table: sorted(_of_the_first(repr(_without_keys(table, row, names))) for row in some)
        for table, some in rows.items()
    }


def _of_the_first(row: str) -> str:
    return row.replace(_COPY, _FIRST).replace(Path(_COPY).name, Path(_FIRST).name)


def _natural(table: str, row: Mapping[str, Any]) -> str:
    if table == "job":
        return repr([row[name] for name in ("raw_id", "submit_at", "start_at", "io_seconds")])
    return str(row.get("digest") or row.get("name") or row["id"])


def _without_keys(
    table: str, row: Mapping[str, Any], names: Mapping[tuple[str, Any], str]
) -> dict[str, Any]:
    foreign = {
        key.parent.name: key.column.table.name for key in Base.metadata.tables[table].foreign_keys
    }
    return {
        name: names.get((foreign[name], value)) if name in foreign else value
        for name, value in row.items()
        if name not in _OF_THE_MOMENT
    }


def take(engine: Engine, *roots: Path, **given: object) -> Tally:
    """Take inputs in at once."""
    given = {"jobs": 2, "settle_seconds": 0.0, **given}
    return ingest(engine, IngestOptions(roots, **given))  # type: ignore[arg-type]
