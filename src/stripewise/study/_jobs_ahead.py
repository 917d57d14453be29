# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study of a job script would submit; nothing is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from stripewise.model import ProgramFacts, RungAhead
from stripewise.slurm import Slurm
from stripewise.strategies import create, rungs_ahead
from stripewise.study._budget import NO_LIMIT, TRIAL_RUNS, most_trials
from stripewise.study._job_tools import with_prepared
from stripewise.study._options import CLASSES, MINIMUM_RUNS, StudyOptions
from stripewise.study._outside import OutsideUse
from stripewise.study._prepared_job import PreparedJob, prepare_job
from stripewise.study._statistics import LOOKS
from stripewise.tunables import find_space

_ASSUMED_BYTES = 1 << 40
"""What a program that was not seen yet is taken to write: enough for each setting to act."""


@dataclass(frozen=True)
class JobsAhead:
    """What a study of a job script would submit.

    Attributes:
        script / step / line: The script and its launch line, as written.
        nodes: Compute nodes of a run.
        tier / pool: Kind of burst buffer, and where its nodes come from.
        bb_nodes: Numbers of its nodes to try.
        shared: Whether many runs are made in one allocation.
        allocation_seconds / run_seconds: Time limits; None: not known.
        most_runs: Executions, as far as the limits allow them; None: as many as fit into the
            budget.
        least_runs: Of a study that tries one configuration.
        node_hours: That the runs may take at most, if each one took its time limit; None: there
            is no limit.
        budget: In node-hours; None: none.
        trials: Configurations that may be tried; None: as many as the budget holds.
        rungs: After how many trials each number of nodes is tried, where the strategy climbs them.
        warnings: For the user.
        outside: What shell lines of the script do outside of the copies of runs.
        allow: What `tune` has to be given before it does so; "": nothing.
    """

    script: str
    step: int
    line: str
    nodes: int
    tier: str
    pool: str
    bb_nodes: tuple[int, ...]
    shared: bool
    allocation_seconds: float | None
    run_seconds: float | None
    most_runs: int | None
    least_runs: int
    node_hours: float | None
    budget: float | None
    trials: int | None = None
    rungs: tuple[RungAhead, ...] = ()
    warnings: tuple[str, ...] = ()
    outside: tuple[OutsideUse, ...] = ()
    allow: str = ""


def plan_jobs(options: StudyOptions) -> JobsAhead:
    """Say what a study of a job script would submit; submit nothing.

    Raises:
        UsageError: What is asked for cannot run here.
        StorageError: Too few burst-buffer nodes are free.
    """
    assert options.job is not None
    prepared = prepare_job(options, Slurm())
    jobs = prepared.jobs
    least, runs = MINIMUM_RUNS, _most_runs(options)
    hours = options.node_hours
    if runs is not None and jobs.wall_seconds is not None:
        of_runs = runs * jobs.nodes * jobs.wall_seconds / 3600
        hours = of_runs if hours is None else min(of_runs, hours)
    return JobsAhead(
        script=jobs.script.name,
        step=prepared.launch.number,
        line=prepared.launch.text,
        nodes=jobs.nodes,
        tier=jobs.tier.name,
        pool=jobs.pool.name if jobs.pool else "",
        bb_nodes=prepared.bb_nodes,
        shared=not options.job.per_run,
        allocation_seconds=jobs.allocation_seconds,
        run_seconds=jobs.wall_seconds,
        most_runs=runs,
        least_runs=least,
        node_hours=hours,
        budget=options.node_hours,
        trials=_most_trials(options),
        rungs=_rungs(with_prepared(options, prepared), prepared),
        warnings=(*prepared.warnings, *prepared.outside.warnings),
        outside=prepared.outside.uses,
        allow=prepared.outside.remedy_text,
    )


def _most_runs(options: StudyOptions) -> int | None:
    """Return how many runs there may be; None where only a time or a budget limits them."""
    trials = most_trials(options)
    if trials == NO_LIMIT:
        return options.runs
    return min(MINIMUM_RUNS + 3 * trials + 4 * LOOKS[-1], options.runs or NO_LIMIT)


def _most_trials(options: StudyOptions) -> int | None:
    """Return how many trials there may be; None where only a time or a budget limits them."""
    trials = most_trials(options)
    if options.runs is not None:
        trials = min(trials, 1 + (options.runs - MINIMUM_RUNS) // TRIAL_RUNS)
    return None if trials == NO_LIMIT else trials


def _rungs(options: StudyOptions, prepared: PreparedJob) -> tuple[RungAhead, ...]:
    """Return when each number of burst-buffer nodes is tried, of a program with MPI-IO.

    The program was not seen yet: it is taken for one that writes collectively under ROMIO.
    """
    facts = _assumed(prepared)
    excluded = frozenset(options.exclude)
    space = find_space(
        facts,
        lambda tunable: "excluded" if tunable.name in excluded else "",
        classes=CLASSES[options.allow],
        only=options.only,
        ladders=options.ladders,
    )
    make = partial(create, options.strategy, space, facts, options.seed, options.strategy_options)
    return rungs_ahead(make, facts)


def _assumed(prepared: PreparedJob) -> ProgramFacts:
    jobs, said = prepared.jobs, prepared.jobs.script.resources
    ranks = prepared.launch.ranks or said.ranks or jobs.nodes * (said.ranks_per_node or 1)
    return ProgramFacts(
        n_ranks=ranks,
        n_hosts=prepared.hosts,
        mpi_family="mpich",
        mpiio_implementation="romio",
        collective_bytes=_ASSUMED_BYTES,
        write_bytes=_ASSUMED_BYTES,
        shared_files=1,
        filesystem="lustre",
        burst_buffer_nodes=prepared.own_nodes,
        job_cpus=prepared.cpus,
    )
