# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates the launcher and search space of a script's study, and locates its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from stripewise.core import JobFigures, JobSettings, RunRole, StudyResult, Trial, TrialState, Value
from stripewise.core.errors import StripewiseError, StudyError, UsageError
from stripewise.learning.knowledge import Machine, tier_machine
from stripewise.present import plural, ratio_text
from stripewise.run.jobs import Changes, rewrite
from stripewise.run.launch import Launcher, SlurmLauncher
from stripewise.run.runtime import Runtime
from stripewise.run.slurm import Slurm
from stripewise.settings import load_policy
from stripewise.study.job_scripts._prepared import PreparedJob, prepare_job
from stripewise.study.job_scripts._tuned_script import write_tuned_script
from stripewise.study.plan import JobOptions, StudyLedger, StudyOptions
from stripewise.study.strategies import FILES, NODES
from stripewise.study.workspace import InputSnapshot

MOST_THREADS = 8
SPOOLS = "jobs"
"""Folder of the study's directory for messages between tuner and allocations."""


def with_job(options: StudyOptions) -> StudyOptions:
    """Return the options completed from the job script, if there is one.

    Raises:
        UsageError: The requested study cannot run here.
        StorageError: Too few burst-buffer nodes are free.
    """
    if options.job is None:
        return options
    if options.cases or options.storage is not None:
        raise UsageError(
            "a job script cannot be combined with --case, --cases and --on: leave them out"
        )
    prepared = prepare_job(options, Slurm(), again=options.resume)
    if not options.resume:
        prepared.outside.check(prepared.jobs.script.name)
    return with_prepared(options, prepared)


def with_prepared(options: StudyOptions, prepared: PreparedJob) -> StudyOptions:
    """Return the options completed from the prepared job.

    Raises:
        UsageError: The script does not give a number of ranks that is needed, or cannot be changed
            as trials would.
    """
    assert options.job is not None
    job = replace(
        options.job,
        hybrid=_hybrid(options.job, prepared),
        bb_nodes=prepared.bb_nodes,
        step=prepared.launch.number,
        words=options.command[1:],
        digest=prepared.digest,
    )
    options = replace(options, command=prepared.command, job=job)
    if prepared.jobs.own is not None:
        # Then the library goes to the burst buffer, where the small files would be missing.
        options = replace(options, exclude=(*options.exclude, FILES))
    if job.resources:
        options = _with_resources(options, prepared)
    _check_rewritten(options, prepared)
    return options


def _check_rewritten(options: StudyOptions, prepared: PreparedJob) -> None:
    """Refuse a script into which a trial could not be written, before anything is submitted.

    Raises:
        UsageError: A trial could not be written, for example the ranks of a heterogeneous job.
    """
    settings = JobSettings(
        ranks=min(options.ranks, default=None),
        ranks_per_node=min(options.ranks_per_node, default=None),
        threads=max(options.threads, default=None),
    )
    changes = Changes(wrap=("stripewise-task",), step=prepared.launch.number, job=settings)
    rewrite(prepared.jobs.script, changes)


def _hybrid(job: JobOptions, prepared: PreparedJob) -> str:
    """Return how large files are placed on the burst buffer: as requested or as the site prefers.

    Raises:
        UsageError: Links are requested, but the elements of an array would share them.
    """
    is_array = bool(prepared.jobs.script.resources.array)
    if job.hybrid == "links" and is_array:
        raise UsageError(
            f"--hybrid links: the elements of the array {prepared.jobs.script.name} would share "
            "the links in one directory; use --hybrid redirect"
        )
    if job.hybrid != "auto":
        return job.hybrid
    return "redirect" if is_array else load_policy().hybrid or "redirect"


def _with_resources(options: StudyOptions, prepared: PreparedJob) -> StudyOptions:
    """Return the options with default numbers of ranks and threads to try.

    Raises:
        UsageError: The script does not give the number of ranks.
    """
    assert options.job is not None
    resources = prepared.jobs.script.resources
    ranks = prepared.launch.ranks or resources.ranks
    if not ranks:
        raise UsageError(
            "--resources: the script does not say how many ranks there are; give --ranks"
        )
    least = max(1, options.job.min_nodes) * (
        resources.ranks_per_node or max(1, ranks // max(1, prepared.jobs.nodes))
    )
    halves = tuple(n for n in (ranks >> k for k in range(1, 12)) if n >= least)
    threads = tuple(n for n in (2, 4, MOST_THREADS) if n <= MOST_THREADS)
    return replace(options, ranks=options.ranks or halves, threads=options.threads or threads)


def job_launcher(
    options: StudyOptions, runtime: Runtime, ledger: StudyLedger
) -> tuple[Launcher, PreparedJob]:
    """Return the launcher that submits the jobs of a study, and the prepared job.

    Raises:
        StudyError: The script has changed, or cannot be run any more.
    """
    assert options.job is not None
    slurm = Slurm()
    given = replace(options, command=("", *options.job.words))
    try:
        prepared = prepare_job(given, slurm, again=True)
    except UsageError as error:
        raise StudyError(f"the study cannot continue: {error}") from error
    if prepared.digest != options.job.digest:
        raise StudyError(
            f"{prepared.jobs.script.name} has changed since the study was started, so that its "
            "runs cannot be compared: restore it, or start over with --force"
        )
    prepared.outside.check(prepared.jobs.script.name)
    for text in (*prepared.warnings, *prepared.outside.messages):
        ledger.warn(text)
    is_linked = options.job.hybrid == "links"
    jobs = replace(prepared.jobs, links=is_linked, seen=partial(_files_seen, ledger))
    prepared = replace(prepared, jobs=jobs)
    launcher = SlurmLauncher(
        runtime,
        prepared.jobs,
        slurm,
        options.study_directory / SPOOLS,
        per_run=options.job.per_run,
    )
    return launcher, prepared


def _files_seen(ledger: StudyLedger) -> Iterator[str]:
    """Yield the names of the files that runs of the unchanged script used."""
    for entry in ledger.entries:
        if entry.role in (RunRole.WARM_UP, RunRole.BASELINE):
            yield from (file.path for file in entry.measurement.files)


def places_of(prepared: PreparedJob) -> JobPlaces:
    """Return the storage places on which the files of trials may be."""
    jobs, ask = prepared.jobs, prepared.jobs.ask
    pool = jobs.pool.name if jobs.pool else ""
    details = (pool, ask.access, ask.type, ask.persistent or ask.directory)
    return JobPlaces(jobs.tier.name, details, prepared.own_nodes)


def described_job(prepared: PreparedJob) -> dict[str, str]:
    """Return the entries of a report about the jobs, title to text."""
    jobs = prepared.jobs
    found = {
        "job script": jobs.script.name,
        "launch line": prepared.launch.text,
        "compute nodes": str(jobs.nodes),
        "burst buffer": jobs.tier.name,
    }
    if jobs.ask.persistent:
        found["persistent burst buffer"] = jobs.ask.persistent
    if jobs.pool is not None:
        found["pool"] = f"{jobs.pool.name}, {plural(jobs.pool.nodes, 'node')}"
    return found


def leave_script(
    options: StudyOptions,
    prepared: PreparedJob,
    runtime: Runtime,
    snapshot: InputSnapshot,
    launcher: Launcher,
    result: StudyResult,
) -> JobFigures | None:
    """Write the script that applies the result; return figures of the jobs.

    If the script cannot be written, the result is kept and the figures say why.
    """
    job, jobs, winner = options.job, prepared.jobs, result.winner
    if job is None:
        return None
    figures = JobFigures(
        script=job.script,
        step=prepared.launch.number,
        compute_nodes=jobs.nodes,
        baseline_nodes=prepared.own_nodes,
    )
    if isinstance(launcher, SlurmLauncher):
        figures = replace(
            figures,
            n_jobs=launcher.n_jobs,
            controller_requests=launcher.slurm.limiter.n_requests,
            node_seconds=launcher.node_seconds,
        )
    if winner is None or not result.improved:
        return figures
    figures = replace(figures, winner_nodes=jobs.nodes_of(winner.configuration.job))
    try:
        tuned = write_tuned_script(
            jobs,
            winner.configuration,
            runtime=runtime,
            script_path=options.origin / job.script,
            study=options.study_directory,
            snapshot=snapshot,
            stage_in=job.stage_in,
            stage_out=job.stage_out,
            is_cray=result.facts.uses_cray_mpich,
            notes=_notes(options, result),
        )
    except StripewiseError as error:
        return replace(figures, no_script=str(error))
    return replace(figures, tuned_script=str(tuned))


def _notes(options: StudyOptions, result: StudyResult) -> tuple[str, ...]:
    """Return the comments for the marked lines of the script."""
    found = result.speedup
    gain = ""
    if found:
        ends = f"{ratio_text(found.low)}-{ratio_text(found.high)}"
        gain = f"{ratio_text(found.median)}x [{ends}]"
    return (
        f"settings found by stripewise tune {options.job.script if options.job else ''}",
        f"I/O {gain} against the script as it was; stripewise settings script --revert takes "
        f"them out",
    )


# Places of the files of a job script's trials, and what is remembered for each place.
#
# Results from a burst buffer do not apply to the parallel file system, nor to another number of
# burst-buffer nodes: each place is a separate storage.


@dataclass(frozen=True)
class JobPlaces:
    """Storage places of a job script's study: parallel file system and numbers of nodes.

    Attributes:
        tier: Kind of the burst buffer.
        details: Other properties that distinguish burst buffers: pool, access, directory or name.
        own_nodes: Number of burst-buffer nodes of the unchanged script; 0 if it uses the parallel
            file system.
    """

    tier: str
    details: tuple[str, ...] = ()
    own_nodes: int = 0

    def machine(self, machine: Machine, nodes: int) -> Machine:
        """Return a machine with the storage of a place."""
        return tier_machine(machine, self.tier, nodes, self.details) if nodes else machine

    def nodes(self, settings: Mapping[str, Value]) -> int:
        """Return the burst-buffer nodes with given settings; 0 for the parallel file system."""
        nodes = settings.get(NODES, self.own_nodes)
        return nodes if isinstance(nodes, int) else 0

    def remembered(self, result: StudyResult) -> tuple[StudyResult, int] | None:
        """Return a study's result for its winner's place, as if only that place had been searched.

        Ratios are relative to that place with nothing else set; a speed-up is given only if pairs
        against that were run.

        Returns:
            The result and the nodes of the place; None if there is no result for the place because
            nothing unchanged was run there, or because the files were on two places (hybrid).
        """
        settings = result.winner.settings if result.winner is not None else {}
        nodes = self.nodes(settings)
        if FILES in settings:
            return None
        there = tuple(
            trial
            for trial in result.trials
            if FILES not in trial.settings and self.nodes(trial.settings) == nodes
        )
        if nodes == self.own_nodes:
            return replace(result, trials=there), nodes
        plain = next((t for t in there if _is_plain(t)), None)
        return None if plain is None else (_against(result, there, plain), nodes)


def _is_plain(trial: Trial) -> bool:
    """Return whether a trial set only the place, and ran successfully."""
    is_done = trial.state in (TrialState.COMPLETE, TrialState.HOPELESS)
    return set(trial.settings) == {NODES} and is_done and 0 < trial.io_ratio < inf


def _against(result: StudyResult, there: tuple[Trial, ...], plain: Trial) -> StudyResult:
    """Return a result whose baseline is the plain trial of a place."""
    winner = result.winner if result.winner and not _is_plain(result.winner) else None
    pairs = next((r for r in result.references if dict(r.settings) == dict(plain.settings)), None)
    return replace(
        result,
        trials=tuple(_to_plain(trial, plain) for trial in there if trial is not plain),
        winner=_to_plain(winner, plain) if winner and pairs else None,
        improved=bool(winner and pairs and result.improved and pairs.speedup.low > 1),
        speedup=pairs.speedup if winner and pairs else None,
        elapsed_speedup=pairs.elapsed_speedup if winner and pairs else None,
    )


def _to_plain(trial: Trial, plain: Trial) -> Trial:
    return replace(
        trial,
        settings={name: value for name, value in trial.settings.items() if name != NODES},
        io_ratio=trial.io_ratio / plain.io_ratio,
        elapsed_ratio=trial.elapsed_ratio / plain.elapsed_ratio,
        class_ratios={},
    )
