# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of jobs that batch systems write, read by `centre ingest`.

A case's input has the facts of `jobs` and the `form` in which they are rendered, or `text`.  The
answer is the same facts, so that nothing of this product decides it:

* `jobs`: how many are stored; each has all facts that its form holds;
* `lacks`: facts that the form does not hold, which must be unknown, not zero;
* `says`: words of a problem that must be reported; `refused`: words of the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.rendered import slurm
from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from stripewise.centre.database.tables import Job

_FORMS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "text": slurm.sacct_text,
    "columns": slurm.sacct_columns,
    "json": slurm.slurm_json,
    "as-is": lambda given: given["text"],
}


class TheKind(Kind):
    """Records of jobs."""

    title = "records of jobs"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Write the records, take them into a database, and compare what is there."""
        given = case.input
        path = directory / given.get("file", "jobs.txt")
        data = _FORMS[given.get("form", "text")](given).replace("\n", given.get("newline", "\n"))
        path.write_bytes(given.get("mark", "").encode() + data.encode("utf-8", "surrogateescape"))
        engine = create_engine(str(directory / "base.sqlite"))
        initialise(engine)
        tally = ingest(engine, IngestOptions(roots=(path,), settle_seconds=0, jobs=1))
        said = " ".join(text for _, text in (*tally.problems, *tally.reasons))
        if words := case.answer.get("refused"):
            if not tally.refused:
                return Outcome(Verdict.WRONG, f"read, though it cannot be: {said}")
            missing = [word for word in words if word not in said]
            return Outcome.of([f"{missing} not in: {said}"]) if missing else _REFUSED
        if tally.refused:
            return Outcome(Verdict.WRONG, f"refused: {said}")
        with engine.connect() as connection:
            rows = [dict(row) for row in connection.execute(select(Job)).mappings()]
        wrong = [f"{word!r} is not said: {said}" for word in case.answer.get("says", ())
                 if word not in said]  # fmt: skip
        return Outcome.of([*_objections(case, rows), *wrong])


_REFUSED = Outcome(Verdict.REFUSED)


def _objections(case: Case, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(found) != case.answer["jobs"]:
        yield f"{len(found)} jobs, not {case.answer['jobs']}"
    rows = {row["raw_id"]: row for row in sorted(found, key=lambda row: row["submit_at"])}
    lacks = case.answer.get("lacks", ())
    for job in map(slurm.job_of, case.input["jobs"]):
        if job.get("unread"):
            continue
        if job["id"] not in rows:
            yield f"job {job['id']} is missing"
            continue
        for name, right in _facts(job).items():
            expected = None if name in lacks else right
            if rows[job["id"]][name] != expected:
                yield f"job {job['id']}: {name} {rows[job['id']][name]!r}, not {expected!r}"


def _facts(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the row of a job has to be."""
    start = None if job["wait"] is None else job["submit"] + job["wait"]
    end = None if start is None or job["run"] is None else start + job["run"]
    reads = [step["read"] for step in job["steps"] if "read" in step]
    writes = [step["written"] for step in job["steps"] if "written" in step]
    return {
        "submit_at": job["submit"], "start_at": start, "end_at": end, "state": job["state"],
        "name": job["name"],
        "exit_code": None if end is None else job["exit"],
        "exit_signal": None if end is None else job["signal"],
        "node_count": job["nodes"], "cpu_count": job["cpus"], "partition": job["partition"],
        "time_limit_seconds": None if job["limit"] is None else 60 * job["limit"],
        "array_task_id": job.get("task"), "het_offset": job.get("offset"),
        "slurm_read_bytes": sum(reads) if reads else None,
        "slurm_write_bytes": sum(writes) if writes else None,
    }  # fmt: skip
