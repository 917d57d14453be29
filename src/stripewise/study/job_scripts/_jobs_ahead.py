# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts what the study of a script would submit, and how far its trials would get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import isfinite

from stripewise.core import (
    Configuration,
    Measurement,
    ObservedFile,
    ProgramFacts,
    RungAhead,
    RunStatus,
    Trial,
    TrialState,
    Value,
)
from stripewise.run.slurm import Slurm
from stripewise.settings.tunables import find_space, key_of
from stripewise.study.job_scripts._prepared import PreparedJob, prepare_job
from stripewise.study.job_scripts._tools import with_prepared
from stripewise.study.plan import (
    CLASSES,
    LOOKS,
    MINIMUM_RUNS,
    NO_LIMIT,
    TRIAL_RUNS,
    OutsideUse,
    StudyOptions,
    most_trials,
)
from stripewise.study.strategies import NODES, Strategy, create, is_on_request, last_run

_ASSUMED_BYTES = 1 << 40
"""Bytes assumed for a program that has not run yet: enough for each setting to have an effect."""


@dataclass(frozen=True)
class JobsAhead:
    """Jobs that a study of a job script would submit.

    Attributes:
        script / step / line: The script and its launch line, as written.
        nodes: Number of compute nodes of a run.
        tier / pool: Kind of burst buffer, and pool of its nodes.
        bb_nodes: Numbers of burst-buffer nodes to try.
        shared: Whether one allocation runs many runs.
        allocation_seconds / run_seconds: Time limits; None if unknown.
        most_runs: Maximum number of runs within the limits; None if only the budget limits it.
        least_runs: Number of runs of a study that tries one configuration.
        node_hours: Maximum node-hours of the runs if each one takes its time limit; None if there
            is no limit.
        budget: Limit in node-hours; None if there is none.
        trials: Maximum number of configurations; None if only the budget limits it.
        rungs: Number of trials before each number of nodes is tried, if the strategy climbs them.
        warnings: Warnings for the user.
        outside: Effects of the script's shell lines outside of the copies of runs.
        allow: Option of `tune` that allows these effects; empty if none is needed.
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
    """Return what a study of a job script would submit, without submitting anything.

    Raises:
        UsageError: The requested study cannot run here.
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
    """Return the maximum number of runs; None if only time or a budget limits it."""
    trials = most_trials(options)
    if trials == NO_LIMIT:
        return options.runs
    return min(MINIMUM_RUNS + 3 * trials + 4 * LOOKS[-1], options.runs or NO_LIMIT)


def _most_trials(options: StudyOptions) -> int | None:
    """Return the maximum number of trials; None if only time or a budget limits it."""
    trials = most_trials(options)
    if options.runs is not None:
        trials = min(trials, 1 + (options.runs - MINIMUM_RUNS) // TRIAL_RUNS)
    return None if trials == NO_LIMIT else trials


def _rungs(options: StudyOptions, prepared: PreparedJob) -> tuple[RungAhead, ...]:
    """Return when each number of burst-buffer nodes is tried for a program with MPI-IO.

    The program has not run yet; it is assumed to write collectively with ROMIO.
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
    jobs, resources = prepared.jobs, prepared.jobs.script.resources
    ranks = (
        prepared.launch.ranks or resources.ranks or jobs.nodes * (resources.ranks_per_node or 1)
    )
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


# Number of trials before the next numbers of burst-buffer nodes are tried.
#
# It depends on the results of the trials.  The strategy itself is simulated with made-up results:
# every setting helps, has no effect, or is worse; more nodes always help.

Tried = tuple[Trial, float]
"""Trial, and the noise that was passed to the strategy with it."""
_FASTER = 0.5
"""Ratio of a made-up gain, which is beyond any noise."""
_FACTORS: tuple[Callable[[int], int | float], ...] = (
    lambda n: _FASTER,
    lambda n: 1,
    lambda n: 2**n,
)
"""Ratio of the n-th setting if it helps, has no effect, or is worse and makes more calls."""
_FILE = ObservedFile("file", write_bytes=1 << 40, io_seconds=1.0, system_writes=1)
_RUN = Measurement("made-up", RunStatus.OK, 0, 2.0, 1.0, 0, 1 << 40, files=(_FILE,))
"""Measurement that is assumed if there is no trial yet."""
_MOST = 1000
"""Maximum number of made-up trials."""


def rungs_ahead(
    make: Callable[[], Strategy], facts: ProgramFacts, tried: Sequence[Tried] = ()
) -> tuple[RungAhead, ...]:
    """Return the numbers of nodes that a strategy has not tried yet, in its order.

    Empty if it has finished climbing, or does not climb them one after the other.

    Args:
        make: Creates the strategy anew, as the study did.
        facts: Facts of the program.
        tried: Trials whose results the strategy was given.
    """
    strategy = make()
    if not strategy.climbs_nodes or not is_on_request(strategy.space):
        return ()
    ways = [_first_trials(make(), facts, tried, factor) for factor in _FACTORS]
    common = [nodes for nodes in ways[0] if all(nodes in way for way in ways)]
    return tuple(
        RungAhead(nodes, min(way[nodes] for way in ways), max(way[nodes] for way in ways))
        for nodes in common
    )


def reach_text(rungs: Sequence[RungAhead], trials: int) -> str:
    """Return a text on the number of rungs that a number of trials is likely to reach.

    Args:
        rungs: All rungs, as predicted before the first trial.
        trials: Maximum number of trials.
    """
    sure = sum(rung.most_trials <= trials for rung in rungs)
    likely = sum(rung.fewest_trials <= trials for rung in rungs)
    reached = f"all {likely}" if sure == len(rungs) else f"{likely} of {len(rungs)}"
    if sure < likely:
        reached = f"{sure} to {likely} of {len(rungs)}"
    nodes = ", ".join(str(rung.nodes) for rung in rungs)
    verb = "trial is" if trials == 1 else "trials are"
    return (
        f"{trials} {verb} likely to reach {reached} rungs ({nodes} burst-buffer nodes); "
        f"{last_text(rungs)}"
    )


def last_text(rungs: Sequence[RungAhead]) -> str:
    """Return a text that says with which trial the last rung begins."""
    last = rungs[-1]
    return f"the last one begins with trial {span_text(last.fewest_trials, last.most_trials)}"


def span_text(low: int, high: int) -> str:
    """Return "5" or "5 to 20"."""
    return str(low) if low == high else f"{low} to {high}"


def _first_trials(
    strategy: Strategy,
    facts: ProgramFacts,
    tried: Sequence[Tried],
    factor: Callable[[int], int | float],
) -> dict[int, int]:
    """Return nodes to the number of further trials before they are tried, for made-up results."""
    known = {key_of(trial.settings): (trial, noise) for trial, noise in tried}
    reached = {facts.burst_buffer_nodes, *(_nodes(t.settings, facts) for t, _ in tried)}
    best = _best([trial for trial, _ in tried], facts)
    found: dict[int, int] = {}
    harmful = count(1)
    made = 0
    while made < _MOST and (proposals := strategy.ask(1)):
        settings = proposals[0].settings
        if key_of(settings) in known:
            trial, strategy.noise = known[key_of(settings)]
            strategy.tell(replace(trial, settings=settings))
            continue
        made += 1
        nodes = _nodes(settings, facts)
        is_new = nodes not in reached
        reached.add(nodes)
        if is_new and nodes:
            found[nodes] = made
        result = _made_up(settings, best, _FASTER if is_new else factor(next(harmful)))
        if result.io_ratio < best.io_ratio:
            best = result
        strategy.tell(result)
    return found


def _nodes(settings: Mapping[str, Value], facts: ProgramFacts) -> int:
    nodes = settings.get(NODES, facts.burst_buffer_nodes)
    return nodes if isinstance(nodes, int) else 0


def _best(trials: Sequence[Trial], facts: ProgramFacts) -> Trial:
    """Return the fastest trial on the burst buffer; the baseline if there is none."""
    there = [t for t in trials if isfinite(t.io_ratio) and _nodes(t.settings, facts)]
    if facts.burst_buffer_nodes or not there:
        there.append(_made_up({}, None, 1.0))
    return min(there, key=lambda trial: trial.io_ratio)


def _made_up(settings: Mapping[str, Value], best: Trial | None, factor: int | float) -> Trial:
    """Return a trial whose times are those of the best one times a factor.

    The number of system calls is multiplied as well if the factor is above 1.
    """
    io, run = (best.io_ratio, best.elapsed_ratio) if best else (1.0, 1.0)
    seen = (last_run(best) if best else None) or _RUN
    calls = max(1, int(factor))
    files = tuple(
        replace(
            file, system_writes=calls * file.system_writes, system_reads=calls * file.system_reads
        )
        for file in seen.files
    )
    return Trial(
        0,
        dict(settings),
        Configuration(),
        TrialState.COMPLETE,
        (replace(seen, files=files),),
        io_ratio=io * factor,
        elapsed_ratio=run * factor,
    )
