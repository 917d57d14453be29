# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A plan -> the records of a job: what the scheduler says, and the profile of its program."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from stripewise.centre.database._records import JobRecord, SourceRecord
from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.storage.machines import load_description
from synthetic_centre._behaviour import PRESET, Place, costs, seconds_of, users_of
from synthetic_centre._evidence import RunOf, evidence_of
from synthetic_centre._people import users
from synthetic_centre._plan import CLUSTERS, FIRST_JOB, RANKS_A_NODE, Plan
from synthetic_centre._sacct import Entry, record
from synthetic_centre._survey import CASES, survey_evidence
from synthetic_centre._weather import DAY, MOUNTS

_CPUS_A_NODE = 64
_STARTING_SECONDS = 4
_WAITED_SECONDS = 600
"""Until a job is cancelled that has not started."""
_SURVEY_DAY = 30
_EXIT_CODES = {"FAILED": "1:0", "CANCELLED": "0:15", "NODE_FAIL": "1:0"}
_LIMITS = (1800, 3600, 7200, 14_400, 43_200, 86_400)


@dataclass(frozen=True)
class Ran:
    """A job that was run.

    Attributes:
        job: What the scheduler says.
        source: Profile of its program; None: there is none.
        read_bytes / write_bytes: That it moved, seen or not.
        meta_operations: Likewise.
        is_recorded: Whether the database gets the scheduler's record.
    """

    job: JobRecord
    source: SourceRecord | None
    read_bytes: int
    write_bytes: int
    meta_operations: int
    is_recorded: bool = True


def run(seed: int, until: int, plans: Sequence[Plan]) -> list[Ran]:
    """Run planned jobs; what becomes of each follows from the seed and its number alone.

    Args:
        seed: Of the centre.
        until: Now, seconds since 1970: some jobs have not ended, or not even begun.
        plans: Of the jobs.
    """
    return [_as_of(until, seed, plan) for plan in plans]


@cache
def _costs() -> dict[str, float]:
    return costs(load_description(PRESET))


def _as_of(until: int, seed: int, plan: Plan) -> Ran:
    """Run a job as far as it got."""
    random = np.random.default_rng([seed, 3, plan.number])
    if (plan.start or plan.submit + _WAITED_SECONDS) >= until:
        return _run(replace(plan, start=None, state="PENDING"), random)
    ran = _run(plan, random)
    start, end = ran.job.start_at, ran.job.end_at
    if start is None or end is None or end <= until:
        return ran
    share = (until - start) / (end - start)
    read, written, operations = (
        int(share * amount) for amount in (ran.read_bytes, ran.write_bytes, ran.meta_operations)
    )
    job = _job(replace(plan, state="RUNNING"), until - start, random, (read, written))
    return Ran(job, None, read, written, operations)


def _run(plan: Plan, random: np.random.Generator) -> Ran:
    if plan.start is None:
        return Ran(_job(plan, None, random), None, 0, 0, 0)
    source = _source(plan, random) if plan.is_profiled else None
    read, written, operations, io_seconds = _moved(plan)
    if source is None:
        job = _job(plan, plan.compute_seconds + io_seconds, random, (read, written))
        return Ran(job, None, read, written, operations)
    figures = source.figures
    moved = figures["read_bytes"], figures["write_bytes"]
    job = _job(plan, figures["run_seconds"], random, moved)
    return Ran(job, source, *moved, figures["meta_operations"], plan.is_recorded)


def _source(plan: Plan, random: np.random.Generator) -> SourceRecord:
    """Return the profile, through the pipeline that real evidence goes through."""
    behaviour, start = plan.program.behaviour(plan.day), plan.start
    assert behaviour is not None
    assert start is not None
    owner = plan.user.name if plan.user else "nobody"
    project = plan.user.project if plan.user else "none"
    name = plan.program.name
    told = RunOf(
        job_id=plan.raw_id,
        user_id=plan.user.uid if plan.user else None,
        command=f"/apps/{name}/{behaviour.version}/bin/{name} {plan.program.arguments}",
        hosts=_hosts(plan),
        directory=f"/scratch/{project}/{owner}/{name}/{plan.cluster[5:]}{plan.raw_id}",
        start=start + _STARTING_SECONDS + plan.shift_seconds,
        compute_seconds=plan.compute_seconds,
    )
    place = Place(plan.ranks, plan.nodes, plan.load)
    evidence = evidence_of(behaviour, place, told, _costs(), random)
    kind = "trace" if behaviour.is_traced else "darshan"
    digest = hashlib.sha256(f"demo {plan.cluster} {plan.raw_id} {plan.submit}".encode())
    ending = {"trace": "sw", "darshan": "darshan"}[kind]
    file = f"{owner}_{name}_id{plan.raw_id}.{ending}"
    return source_of(evidence, Origin(kind, digest.hexdigest(), file, plan.cluster, MOUNTS))


def _hosts(plan: Plan) -> tuple[str, ...]:
    first = plan.number * 7 % 200
    return tuple(f"{plan.cluster[5:]}{first + number:04d}" for number in range(plan.nodes))


def _moved(plan: Plan) -> tuple[int, int, int, float]:
    """Return bytes, operations and mean I/O seconds of a run that nobody watched."""
    behaviour = plan.program.behaviour(plan.day)
    place = Place(plan.ranks, plan.nodes, plan.load)
    read = written = operations = 0
    seconds = 0.0
    for part in behaviour.parts if behaviour else ():
        users = users_of(part, place)
        moved = part.moved_bytes * users * part.times_read
        read, written = read + (0 if part.writes else moved), written + moved * part.writes
        operations += users * part.files * (part.opens + part.stats + part.syncs)
        seconds += seconds_of(part, place, _costs()).whole
    return read, written, operations, seconds


def _job(
    plan: Plan,
    run_seconds: float | None,
    random: np.random.Generator,
    moved: tuple[int, int] = (0, 0),
) -> JobRecord:
    """Return what the scheduler's accounting says; None: it never ran."""
    held = 0 if run_seconds is None else int(run_seconds) + 2 * _STARTING_SECONDS
    limit = _limit(plan, held)
    if plan.state == "TIMEOUT":
        held = limit
    end = plan.submit + _WAITED_SECONDS if plan.start is None else plan.start + held
    slurm, servers = _witnesses(plan, moved, random)
    cancelled = f"CANCELLED by {plan.user.uid if plan.user else 0}"
    return record(Entry(
        plan.cluster, plan.raw_id, plan.visible_id,
        name=f"{plan.program.name[:12]}-{plan.number % 40:02d}",
        user=plan.user,
        state=cancelled if plan.state == "CANCELLED" else plan.state,
        exit_code=_EXIT_CODES.get(plan.state, "0:0") if plan.start is not None else "0:0",
        submit=plan.submit, start=plan.start, end=end, limit_seconds=limit, nodes=plan.nodes,
        cpus=plan.nodes * _CPUS_A_NODE if plan.ranks >= RANKS_A_NODE else plan.ranks,
        node_list=_node_list(plan), restarts=plan.restarts, slurm_bytes=slurm,
        server_bytes=servers,
    ))  # fmt: skip


def _witnesses(
    plan: Plan, moved: tuple[int, int], random: np.random.Generator
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return what Slurm and the servers counted: not everywhere, and not quite the same."""
    slurm = servers = None
    if plan.start is not None and random.random() < 0.8:
        lost = 0.45 if random.random() < 0.02 else 1.0  # a server did not answer
        servers = _about(moved, lost * 0.99, lost * 1.03, random)
    if plan.start is not None and plan.cluster == CLUSTERS[0]:
        slurm = _about(moved, 0.9, 1.05, random)
    return slurm, servers


def _about(
    moved: tuple[int, int], low: float, high: float, random: np.random.Generator
) -> tuple[int, int]:
    read, written = (int(count * random.uniform(low, high)) for count in moved)
    return read, written


def _limit(plan: Plan, held: int) -> int:
    """Return the time limit; it is just too short for a job that runs out of it."""
    if plan.state == "TIMEOUT":
        return max((one for one in _LIMITS if one <= held), default=_LIMITS[0])
    return next((one for one in _LIMITS if one > 1.1 * held), _LIMITS[-1])


def _node_list(plan: Plan) -> str:
    hosts, short = _hosts(plan), plan.cluster[5:]
    if len(hosts) == 1:
        return hosts[0]
    return f"{short}[{hosts[0][len(short) :]}-{hosts[-1][len(short) :]}]"


def survey_run(year: int, number: int) -> Ran:
    """Return a run that has the figures of a published survey.

    Args:
        year: Its first moment, seconds since 1970.
        number: Of the case.
    """
    case, cluster = CASES[number], CLUSTERS[0]
    user = next(one for one in users() if case.program in {p.name for p in one.programs})
    start, raw_id = year + (_SURVEY_DAY + number) * DAY + 36_000, FIRST_JOB - 10 + number
    directory = f"/scratch/{user.project}/{user.name}/survey"
    evidence = survey_evidence(
        case, job_id=raw_id, user_id=user.uid, directory=directory, start=float(start + 2)
    )
    digest = hashlib.sha256(f"demo survey {case.program}".encode()).hexdigest()
    origin = Origin("darshan", digest, f"{case.program}.darshan", cluster, MOUNTS)
    held = int(case.run_seconds) + 4
    job = record(Entry(
        cluster, raw_id, str(raw_id), name="survey", user=user, state="COMPLETED",
        exit_code="0:0", submit=start - 60, start=start, end=start + held, limit_seconds=7200,
        nodes=(nodes := -(-case.n_ranks // RANKS_A_NODE)), cpus=nodes * _CPUS_A_NODE,
        node_list=f"vela[0000-{nodes - 1:04d}]" if nodes > 1 else "vela0000",
    ))  # fmt: skip
    source = source_of(evidence, origin)
    return Ran(job, source, case.read_bytes, case.write_bytes, case.meta_operations)
