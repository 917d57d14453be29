# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a small centre, and a portal that shows them to a viewer."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, select
from starlette.requests import Request

from stripewise.centre.database._records import (
    JobRecord,
    PairRecord,
    Record,
    SampleRecord,
    SourceRecord,
)
from stripewise.centre.database.ingest._profile_record import Origin, record_of
from stripewise.centre.database.queries import Role, Viewer
from stripewise.centre.database.store import Load, Template, settle, store_job_loads
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job, Person, Project
from stripewise.centre.portal import Gate, Guest, create_app
from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.readers import read_evidence
from stripewise.present import finite

START = 1_770_001_200
"""A full hour."""
SECRET = "hush-hush"
"""Stands in every name and text of a profile that only its owner may read."""
LINES = (
    "printf '%s\\n' 'romio_cb_write enable' > romio-hints; "
    "export ROMIO_HINTS=$PWD/romio-hints   # ROMIO: MPICH, Intel MPI",
    "export MPICH_MPIIO_HINTS='*:romio_cb_write=enable'   # Cray MPICH",
    "export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO; and the first line",
)


def finding(**changes: Any) -> dict[str, Any]:
    """Return a finding of a profile."""
    return {
        "code": "shredded-collective",
        "severity": "high",
        "phrase": f"collective writes of {SECRET}.h5 in pieces of 4 KiB",
        "text": f"16 collective calls to {SECRET}.h5 became 4096 system calls.",
        "evidence": {"seconds": 3.2, "calls": 16, "slowest_file": f"/{SECRET}"},
        "cost_seconds": 2.5,
        "stake_seconds": 3.2,
        "cost_basis": "the same collective calls through ROMIO with its buffers",
        "remedy": f"Enable collective buffering for {SECRET}: the hint romio_cb_write=enable.",
        "lines": list(LINES),
        "tune": f"stripewise tune -- {SECRET}",
        "files": [f"/scratch/{SECRET}.h5"],
        "n_files": 1,
        "least_seconds": 2.0,
        "most_seconds": 3.0,
        "measured": False,
        "title": f"Collective writes of {SECRET}.h5 in pieces of 4 KiB",
        "advice": f"Change {SECRET}",
        **changes,
    }


@lru_cache(maxsize=1)
def _base() -> dict[str, Any]:
    logs = Path(pytest.importorskip("darshan").__file__).parent / "examples/example_logs"
    evidence = read_evidence(logs / "ior_hdf5_example.darshan")
    patterns = find_patterns(evidence.accesses)
    found: dict[str, Any] = finite(profile_to_json(diagnose(evidence, patterns), patterns))
    return found


def document(
    number: int, findings: Iterable[dict[str, Any]] = (), **figures: Any
) -> dict[str, Any]:
    """Return a profile of the job with this number; every name in it is secret."""
    made = copy.deepcopy(_base())
    made |= {
        "job_id": str(number),
        "command": f"/home/{SECRET}/flash_io {SECRET}",
        "headline": f"Most of it in {SECRET}.",
        "source": f"/logs/{SECRET}.darshan",
        "findings": list(findings),
        "patterns": [
            {"file": f"/scratch/{SECRET}-{number}.h5", "dataset": f"/{SECRET}", "writing": True,
             "notation": "<3D, (BLOCK, *, *), (240, 960, 960)>", "element_bytes": 8},
        ],
    }  # fmt: skip
    made["figures"] |= {"io_seconds": 4.0, "run_seconds": 60.0, "io_share": 4 / 60, **figures}
    for place, one in enumerate(made["files"]):
        one["path"] = (
            f"/scratch/{SECRET}-{number}.h5" if place == 0 else f"/scratch/{SECRET}.{place}"
        )
        one["layout"] |= {"stripe_count": 4, "stripe_bytes": 1 << 20}
    return made


def profile(
    number: int,
    *,
    user: str = "ada",
    start: int = START,
    made: dict[str, Any] | None = None,
    kind: str = "darshan",
    digest: str = "",
) -> SourceRecord:
    """Return the record of a profile, named as all names are."""
    origin = Origin(kind, digest or f"{kind}{number}", f"{SECRET}.darshan", "alpha",
                    [("/scratch", "scratch")])  # fmt: skip
    return record_of(made or document(number), origin, user=user, start_at=start + 1.0,
                     end_at=start + 61.0)  # fmt: skip


def job(number: int, *, user: str = "ada", start: int | None = START, **columns: Any) -> JobRecord:
    """Return the scheduler's record of a job of 64 s."""
    end = None if start is None else start + 64
    submit = (START if start is None else start) - 100
    told: dict[str, Any] = {"name": f"job {number}", "state": "COMPLETED", "node_count": 2}
    if start is not None:
        told["run_seconds"] = 64.0
    return JobRecord("alpha", number, submit, user=user, uid=None, account="physics",
                     start_at=start, end_at=end, columns={**told, **columns})  # fmt: skip


def pair(user: str = "ada", **columns: Any) -> PairRecord:
    """Return a proved gain of flash_io."""
    told = {
        "made_at": START, "speedup": 3.8, "low": 3.5, "high": 4.1, "pair_count": 12,
        "elapsed_speedup": 1.2, "saved_seconds": 2.9, "node_count": 2, "rank_count": 4,
        "pattern": None, "verification": "identical",
        "configuration": 'version = 1\n\n[[file]]\nmatch = "*.h5"\nmpiio = { cb_nodes = 4 }\n',
        "hints": "export MPICH_MPIIO_HINTS='*.h5:cb_nodes=4'\n",
    }  # fmt: skip
    return PairRecord(f"study of {user} {columns}", "flash_io", user, {**told, **columns})


def samples(metric: str, first: int, rates: Iterable[float], seconds: int = 60) -> SampleRecord:
    """Return samples of the whole of a storage, one rate after the other."""
    values = tuple(
        (first + place * seconds, float(seconds), rate * seconds)
        for place, rate in enumerate(rates)
    )
    return SampleRecord("scratch", "", "", metric, "bytes", True, values)


def store(engine: Engine, records: Iterable[Record]) -> dict[int, int]:
    """Store records; return the keys of all jobs by their number."""
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(records)
    return keys(engine)


def serve(engine: Engine, tag: str = "1") -> None:
    """Let a server of the storage have counted what a job did in its first minute."""
    loads = [
        Load("scratch", tag, "read", START, 60.0, 4, 4 << 20, 0.5, {"1048576": 4}),
        Load("scratch", "secret-tool.1000", "write", START, 60.0, 9, 9 << 20),
    ]
    with engine.execution_options(writing=True).begin() as connection:
        found = store_job_loads(connection, "alpha", "oss-secret", loads, (Template("%e.%u"),))
        settle(connection, found)


def keys(engine: Engine) -> dict[int, int]:
    """Return the keys of jobs by their number."""
    with engine.connect() as connection:
        rows = connection.execute(select(Job.raw_id, Job.id)).all()
    return {number: key for number, key in rows}


def viewer(connection: Connection, name: str) -> Viewer:
    """Return a viewer: a user by name, "manager" of physics, "support", "admin" or "nobody"."""
    if name == "nobody":
        return Viewer()
    if name in ("support", "admin"):
        return Viewer(name, Role(name))
    if name == "manager":
        project = connection.scalar(select(Project.id).where(Project.name == "physics"))
        assert project is not None
        return Viewer(name, Role.USER, None, frozenset({project}))
    return Viewer(name, Role.USER, connection.scalar(select(Person.id).where(Person.name == name)))


class _As(Gate):
    def __init__(self, name: str, may_read_names: bool) -> None:
        self.name, self.may_read_names = name, may_read_names

    def guest(self, connection: Connection, request: Request) -> Guest:
        from dataclasses import replace

        found = viewer(connection, self.name)
        return Guest(replace(found, may_read_names=self.may_read_names), "token")


def portal(engine: Engine, name: str, *, may_read_names: bool = True) -> Any:
    """Return a client of a portal in which this viewer is logged in."""
    from starlette.testclient import TestClient

    app = create_app(engine, _As(name, may_read_names))
    return TestClient(app, follow_redirects=False)


def data_of(engine: Engine, key: int, name: str = "ada", **options: Any) -> dict[str, Any]:
    """Return the page of a job as JSON."""
    answer = portal(engine, name, **options).get(f"/jobs/{key}?as=json")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def page_of(engine: Engine, key: int, name: str = "ada") -> str:
    """Return the page of a job as HTML."""
    answer = portal(engine, name).get(f"/jobs/{key}")
    assert answer.status_code == 200, answer.text
    return str(answer.text)
