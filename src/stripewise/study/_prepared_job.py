# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job script and its cluster, looked at before anything is submitted."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.jobs import JobScript, LaunchLine, OnTier, is_rewritten
from stripewise.launch import MARGIN_SECONDS, ScriptJobs, least_wall_seconds
from stripewise.slurm import (
    BurstBuffers,
    Partition,
    Slurm,
    SlurmAwayError,
    SlurmError,
    parse_burst,
)
from stripewise.study._job_options import JobOptions
from stripewise.study._options import StudyOptions
from stripewise.study._tuned_script import results_place
from stripewise.text import printable
from stripewise.tiers import Pool, Tier, TierRequest, find_tier, ladder, tier_of_words, variable_of

RUNS_OF_AN_ALLOCATION = 12
"""An allocation is asked for so many runs at their limit, as far as the partition allows."""
_OF_PLUGIN = {"datawarp": "datawarp", "lua": "lua"}


@dataclass(frozen=True)
class PreparedJob:
    """What a study of a job script needs to know of it and of the cluster.

    Attributes:
        jobs: How runs become jobs.
        launch: The line that is tuned.
        bb_nodes: Numbers of burst-buffer nodes to try, 0 among them where the script has some.
        warnings: For the user.
        digest: Of the script.
    """

    jobs: ScriptJobs
    launch: LaunchLine
    bb_nodes: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Tells the script from a changed one."""
        return sha256(self.jobs.script.data).hexdigest()

    @property
    def own_nodes(self) -> int:
        """The burst-buffer nodes of the script as it is."""
        jobs = self.jobs
        if jobs.own is None or jobs.pool is None:
            return 0
        return jobs.own.nodes or jobs.tier.nodes_of(jobs.own.capacity_bytes, jobs.pool)

    @property
    def command(self) -> tuple[str, ...]:
        """The command that is tuned, as far as the script tells without being run."""
        return self.launch.words


def read_job_script(path: Path) -> JobScript:
    """Read a job script.

    Raises:
        UsageError: It is none, cannot be read, or holds settings of an earlier study.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{printable(str(path))}: {error.strerror}; give a job script") from None
    script = JobScript.parse(data, path.name)
    if is_rewritten(data):
        raise UsageError(
            f"{script.name} holds settings of an earlier study: tune the script that it was made "
            f"of, or take them out with stripewise convert --revert {script.name}"
        )
    return script


def prepare_job(options: StudyOptions, slurm: Slurm, *, again: bool = False) -> PreparedJob:
    """Look at the script and the cluster; refuse what cannot run.

    Args:
        options: Of the study.
        slurm: Of the cluster.
        again: The study was begun already: how many nodes are free now does not matter.

    Raises:
        UsageError: The script has no launch line, or several; it submits jobs itself; there is no
            Slurm, no such pool, or more is asked for than there is.
        StorageError: Too few burst-buffer nodes are free.
    """
    job = options.job
    assert job is not None
    script = read_job_script(options.origin / job.script)
    if script.calls_sbatch:
        raise UsageError(
            f"{script.name} submits jobs itself, which a study would do again and again: tune the "
            "script that it submits"
        )
    launch = script.launch(job.step)
    if not launch.program:
        raise UsageError(f"{script.name}, line {launch.first_line}: {launch.problem}")
    slurm.check()
    partition = _partition(script, slurm)
    tier, pools, own = _tier(script, job, slurm)
    if again:
        pools = tuple(replace(pool, free_bytes=pool.total_bytes) for pool in pools)
    if own is not None:
        _check_own(script, own)
    ask = _asked(job, own, tier, options.origin)
    pool = _checked(job, ask, tier, pools, own, options.origin)
    jobs = ScriptJobs(
        script=script,
        step=launch.number,
        tier=tier,
        words=options.command[1:],
        pool=pool,
        own=own,
        ask=ask,
        nodes=_nodes(script, launch),
        wall_seconds=_wall_seconds(script, partition),
    )
    jobs = replace(jobs, allocation_seconds=_allocation_seconds(options, jobs, partition))
    return PreparedJob(jobs, launch, _ladder(job, jobs, pools), _warnings(options, jobs))


def _partition(script: JobScript, slurm: Slurm) -> Partition | None:
    """Return the partition that the script names, or the default one.

    Raises:
        UsageError: There is none of that name, or it starts no jobs.
    """
    wanted = [name for name in (script.resources.partition or "").split(",") if name]
    known = slurm.partitions()
    there = ", ".join(one.name for one in known)
    for name in wanted:
        if name not in [one.name for one in known]:
            raise UsageError(
                f"{script.name}: there is no partition {printable(name)!r}; there are {there}"
            )
    found = [one for one in known if (one.name in wanted if wanted else one.is_default)]
    if found and not any(one.is_up for one in found):
        names = ", ".join(one.name for one in found)
        raise UsageError(
            f"{script.name}: partition {names} starts no jobs now: choose another of {there}, or "
            "wait"
        )
    return next((one for one in found if one.is_up), None)


def _tier(
    script: JobScript, job: JobOptions, slurm: Slurm
) -> tuple[Tier, tuple[Pool, ...], TierRequest | None]:
    """Return the kind of burst buffer, its pools, and what the script asks of it."""
    words = [(f"#{line.kind}", *line.words) for line in script.burst_buffer]
    of_script, request = tier_of_words(words)
    has_own = of_script.name != "none"
    name = job.tier
    known = () if job.tier in ("none", "directory") else _burst_buffers(slurm)
    if name == "auto":
        plugin = next((_OF_PLUGIN[one.plugin] for one in known if one.plugin in _OF_PLUGIN), "")
        name = of_script.name if has_own else plugin or "none"
        if name == "lua" and not job.template and not has_own:
            name = "none"
    tier = find_tier(name)
    if has_own and tier.name != of_script.name:
        raise UsageError(
            f"--tier {job.tier}: {script.name} has directives for {of_script.name}; leave --tier "
            "out, or take these lines out of the script"
        )
    pools = tuple(pool for one in known if one.plugin == tier.name for pool in _pools(one, job))
    if not pools and job.granularity_bytes and job.free_nodes is not None:
        size = job.granularity_bytes * job.free_nodes
        pools = (Pool(job.pool, job.granularity_bytes, size, size),)
    return tier, pools, request if has_own else None


def _check_own(script: JobScript, own: TierRequest) -> None:
    """Refuse directives whose meaning a study cannot keep in each of its runs.

    Raises:
        UsageError: With the line and the remedy.
    """
    kept = [line for line in own.kept if "stage_in" in line or "copy_in" in line]
    if kept:
        raise UsageError(
            f"{script.name}: `{kept[0]}` copies what a study cannot copy anew for each run: let "
            "one directory be staged in (type=directory)"
        )
    if own.persistent:
        raise UsageError(
            f"{script.name} works on the persistent burst buffer {own.persistent}, whose nodes "
            "are chosen already: tune a script that makes its own (#DW jobdw)"
        )


def _burst_buffers(slurm: Slurm) -> tuple[BurstBuffers, ...]:
    try:
        return parse_burst(slurm.show_burst())
    except SlurmAwayError:
        raise
    except SlurmError:  # this one has no burst buffer
        return ()


def _pools(known: BurstBuffers, job: JobOptions) -> tuple[Pool, ...]:
    """Return the pools with what the user overrides."""
    first = sorted(known.pools, key=lambda pool: pool.name != known.default_pool)
    found = []
    for pool in first:
        grain = job.granularity_bytes or pool.granularity_bytes
        free = pool.free_bytes if job.free_nodes is None else job.free_nodes * grain
        total = max(pool.total_bytes, free)
        found.append(replace(pool, granularity_bytes=grain, free_bytes=free, total_bytes=total))
    return tuple(found)


def _checked(
    job: JobOptions,
    ask: TierRequest,
    tier: Tier,
    pools: tuple[Pool, ...],
    own: TierRequest | None,
    origin: Path,
) -> Pool | None:
    """Choose the pool; refuse what no run could have, and what run.tuned.sh could not say.

    Raises:
        UsageError: With the remedy.
        StorageError: Too few nodes are free.
    """
    if tier.sized and not pools:
        raise UsageError(
            f"Slurm tells of no pool of {tier.name} here (scontrol show burst): give "
            "--granularity and --free-nodes, or --tier none"
        )
    _check_place(tier, ask)
    if own is not None or not tier.markers:
        if job.stage_in or job.stage_out:
            why = "stages by itself" if own is not None else f"has nothing for --tier {tier.name}"
            raise UsageError(f"--stage-in, --stage-out: the script {why}: leave them out")
        return tier.check(replace(ask, nodes=1), pools)
    if tier.name == "lua" and not (job.stage_in and "{stage_out}" in " ".join(ask.template)):
        raise UsageError(
            "--tier lua: run.tuned.sh needs --stage-in DIR, and a --template with {stage_in} and "
            "{stage_out}, so that it finds its inputs and keeps its results"
        )
    staged = replace(
        ask,
        nodes=1,
        stage_in=Path(job.stage_in) if job.stage_in else None,
        stage_out=Path(job.stage_out) if job.stage_out else origin.absolute(),
    )
    return tier.check(staged, pools)


def _check_place(tier: Tier, ask: TierRequest) -> None:
    """Refuse a place that the agent of a job cannot find.

    Raises:
        UsageError: With the remedy.
    """
    if tier.name in ("directory", "lua") and not tier.directory_variable(ask):
        raise UsageError(
            f"--tier {tier.name}: name the environment variable that holds the directory in each "
            f"job with --place, such as --place '$TMPDIR' (not {printable(ask.directory)!r})"
        )


def _asked(job: JobOptions, own: TierRequest | None, tier: Tier, origin: Path) -> TierRequest:
    """Return what runs on a burst buffer ask for; the nodes are chosen for each.

    Raises:
        UsageError: The template cannot be read.
    """
    base = own or TierRequest()
    template: tuple[str, ...] = ()
    if job.template:
        try:
            text = (origin / job.template).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            why = (error.strerror if isinstance(error, OSError) else "") or "no text in UTF-8"
            raise UsageError(
                f"--template {printable(job.template)}: {why}; give a file with the site's lines"
            ) from None
        template = tuple(line for line in text.splitlines() if line.strip())
    return replace(
        base,
        pool=job.pool or base.pool,
        access=job.access if own is None else base.access,
        capacity_bytes=job.capacity_bytes or base.capacity_bytes,
        template=template or base.template,
        directory=job.place or base.directory,
        variable=variable_of(job.place) if tier.name == "lua" else base.variable,
    )


def _nodes(script: JobScript, launch: LaunchLine) -> int:
    """Return the compute nodes of a run, as far as the script says."""
    said = script.resources
    if said.nodes:
        return said.nodes
    ranks, per_node = said.ranks or launch.ranks, said.ranks_per_node or launch.ranks_per_node
    return ceil(ranks / per_node) if ranks and per_node else 1


def _wall_seconds(script: JobScript, partition: Partition | None) -> float | None:
    """Return the time limit of a run: the script's, or the partition's for jobs without one."""
    if script.resources.wall_seconds is not None:
        return float(script.resources.wall_seconds)
    return partition.default_seconds if partition is not None else None


def _allocation_seconds(
    options: StudyOptions, jobs: ScriptJobs, partition: Partition | None
) -> float | None:
    """Return the time limit of an allocation, in which at least one run fits.

    Raises:
        UsageError: The partition does not allow it.
    """
    job = options.job
    assert job is not None
    most = partition.most_seconds if partition else None
    wanted = job.allocation_seconds
    if wanted is not None and most is not None and wanted > most:
        raise UsageError(
            f"--allocation-time: partition {partition and partition.name} allows {most / 60:.0f} "
            "minutes"
        )
    if most is not None and most <= MARGIN_SECONDS:
        raise UsageError(
            f"partition {partition and partition.name} allows {most:g} s, too short for a run: "
            f"Slurm may end an allocation {MARGIN_SECONDS:g} s early; choose another partition"
        )
    if wanted is None and jobs.wall_seconds is not None:
        wanted = jobs.wall_seconds * (1 if job.per_run else RUNS_OF_AN_ALLOCATION)
    if wanted is not None:
        wanted = max(wanted, _least_seconds(options, jobs))
    if wanted is None or most is None:
        return wanted
    return min(wanted, most)


def _least_seconds(options: StudyOptions, jobs: ScriptJobs) -> float:
    """Return the least time limit of an allocation, in whole minutes as Slurm has them."""
    return ceil(least_wall_seconds(_run_seconds(options, jobs)) / 60) * 60.0


def _run_seconds(options: StudyOptions, jobs: ScriptJobs) -> float | None:
    """Return the time limit of a run, as far as it is known beforehand."""
    return options.timeout_seconds or jobs.wall_seconds


def _ladder(job: JobOptions, jobs: ScriptJobs, pools: tuple[Pool, ...]) -> tuple[int, ...]:
    """Return the numbers of burst-buffer nodes to try.

    Raises:
        UsageError: More are asked for than the pool has.
        StorageError: More than are free.
    """
    tier, pool = jobs.tier, jobs.pool
    if tier.name == "none":
        if job.bb_nodes:
            raise UsageError(
                "--bb-nodes: this cluster has no burst buffer; give --tier where it has one that "
                "Slurm does not tell"
            )
        return ()
    if not tier.sized or pool is None:
        return (1,)
    if job.bb_nodes:
        for nodes in job.bb_nodes:
            tier.check(replace(jobs.ask, nodes=nodes), pools)
        return job.bb_nodes
    least = tier.nodes_of(jobs.ask.capacity_bytes, pool) if jobs.ask.capacity_bytes else 1
    tier.check(replace(jobs.ask, nodes=max(1, least)), pools)
    found = ladder(max(1, least), pool.free_nodes)
    if jobs.own is not None:
        return tuple(nodes for nodes in found if nodes != least)
    return found


def _warnings(options: StudyOptions, jobs: ScriptJobs) -> tuple[str, ...]:
    script, found = jobs.script, []
    if script.resources.array:
        found.append(f"{script.name} is an array of jobs: the first element is tuned")
    if jobs.wall_seconds is None:
        found.append(f"{script.name} has no time limit: give it one with #SBATCH --time")
    found += _too_short(options, jobs)
    if script.problem:
        found.append(f"{script.name}: {script.problem}")
    if problem := _unstaged(options, jobs):
        found.append(f"no script for the burst buffer can be written in the end: {problem}")
    return tuple(found)


def _too_short(options: StudyOptions, jobs: ScriptJobs) -> list[str]:
    """Say where an allocation is longer than asked for, or cannot be as long as a run needs."""
    asked = options.job.allocation_seconds if options.job else None
    given, run_seconds = jobs.allocation_seconds, _run_seconds(options, jobs)
    if given is None or run_seconds is None:
        return []
    early = f"Slurm may end an allocation {MARGIN_SECONDS:g} s early"
    if (most := given - MARGIN_SECONDS) < run_seconds:
        return [
            f"a run may take {run_seconds:g} s, and the partition allows {given:g} s: {early}, so "
            f"runs are stopped after {most:g} s; choose another partition if they need more"
        ]
    if asked is not None and asked < given:
        return [
            f"--allocation-time: {asked:g} s are too short for a run of {run_seconds:g} s, since "
            f"{early}; {given:g} s are asked for"
        ]
    return []


def _unstaged(options: StudyOptions, jobs: ScriptJobs) -> str:
    """Return why the files beside the script, or results, cannot be staged; "" if they can.

    The study copies them itself and would fail only with the script that it leaves.
    """
    job = options.job
    if job is None or jobs.own is not None or jobs.tier.name == "none":
        return ""
    path = Path(job.script)
    results = Path(job.stage_out) if job.stage_out else results_place(options.origin / path)
    request = replace(jobs.ask, nodes=jobs.ask.nodes or 1, stage_out=results)
    if job.stage_in:
        request = replace(request, stage_in=Path(job.stage_in))
    left_out = {path.name, f"{path.stem}.tuned{path.suffix}", options.study_directory.name}
    try:
        with os.scandir(options.origin) as entries:
            inputs = {one.name: one.is_dir() for one in entries if one.name not in left_out}
        _ = OnTier(jobs.tier, request, jobs.pool, inputs=inputs, source=options.origin).lines
    except UsageError as error:
        return str(error)
    except OSError:
        return ""
    return ""
