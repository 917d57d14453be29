# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Examines a job script and its cluster before anything is submitted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import ceil
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import plural, printable
from stripewise.run.jobs import (
    JobScript,
    check_parts,
    check_staging,
    check_tier_options,
    is_rewritten,
    missing_cpus,
    scripts_in,
    sharing_note,
)
from stripewise.run.launch import ScriptJobs
from stripewise.run.shell import LaunchLine, MoveTarget, check_inside, moves_to
from stripewise.run.slurm import Slurm, options_of_variables
from stripewise.study.job_scripts._checks import (
    allocation_seconds,
    check_input,
    check_place,
    cluster_of,
    find_partition,
    overridden,
    shared_places,
    too_short,
    wall_seconds_of,
    where_unclear,
    works_on_tier,
)
from stripewise.study.job_scripts._tier import (
    check_own,
    checked_pool,
    node_ladder,
    tier_of_job,
    tier_request_of,
)
from stripewise.study.plan import Outside, StudyOptions, check_node_hours, outside_of_script


@dataclass(frozen=True)
class PreparedJob:
    """Properties of a job script and of the cluster that its study needs.

    Attributes:
        jobs: Converts runs to jobs.
        launch: Launch line to tune.
        bb_nodes: Numbers of burst-buffer nodes to try in addition to the script's own.
        warnings: Warnings for the user.
        outside: Effects of the script's shell lines outside of the copies of runs.
        digest: Digest of the script.
    """

    jobs: ScriptJobs
    launch: LaunchLine
    bb_nodes: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    outside: Outside = field(default_factory=Outside)

    @property
    def digest(self) -> str:
        """Digest by which a changed script is recognised."""
        return sha256(self.jobs.script.data).hexdigest()

    @property
    def own_nodes(self) -> int:
        """Number of burst-buffer nodes in the unchanged script."""
        jobs = self.jobs
        if jobs.own is None or jobs.own.nodes or jobs.pool is None:
            return jobs.own.nodes if jobs.own is not None else 0
        return jobs.tier.nodes_of(jobs.own.capacity_bytes, jobs.pool)

    @property
    def hosts(self) -> int:
        """Number of compute nodes of the tuned program; a part of a job is counted in its runs."""
        return 1 if self.jobs.script.resources.is_heterogeneous else self.jobs.nodes

    @property
    def cpus(self) -> int:
        """Number of CPUs of all ranks according to the script; 0 if it does not say."""
        resources = self.jobs.script.resources
        ranks = (
            self.launch.ranks
            or resources.ranks
            or self.jobs.nodes * (self.jobs.ranks_per_node or 0)
        )
        if resources.is_heterogeneous:
            return 0
        return ranks * (self.launch.cpus_per_rank or resources.cpus_per_task or 1)

    @property
    def command(self) -> tuple[str, ...]:
        """Command to tune, as far as it follows from the script without running it."""
        return self.launch.words


def read_job_script(path: Path) -> JobScript:
    """Read a job script.

    Raises:
        UsageError: The file is not a job script, cannot be read, or contains settings of an
            earlier study.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{printable(str(path))}: {error.strerror}; give a job script") from None
    script = JobScript.parse(data, path.name, scripts_in(path.parent))
    if is_rewritten(data):
        raise UsageError(
            f"{script.name} holds settings of an earlier study: tune the script that it was made "
            f"of, or take them out with stripewise settings script --revert {script.name}"
        )
    return script


def prepare_job(options: StudyOptions, slurm: Slurm, *, again: bool = False) -> PreparedJob:
    """Examine the script and the cluster; refuse what cannot run.

    Args:
        options: Options of the study.
        slurm: Slurm of the cluster.
        again: Whether the study was started before; then the free nodes do not matter.

    Raises:
        UsageError: The script has no launch line or several, or submits jobs itself; there is no
            Slurm or no such pool; or more nodes are requested than exist.
        StorageError: Too few burst-buffer nodes are free.
    """
    job = options.job
    assert job is not None
    script = read_job_script(options.origin / job.script)
    if script.dos_problem:
        raise UsageError(script.dos_problem)
    script.check_no_submission()
    launch = script.certain_launch(job.step)
    check_input(script)
    script.check_persistent()
    slurm.check()
    given = options_of_variables(os.environ)
    slurm.cluster = cluster_of(script, given)
    partition = find_partition(script, slurm, given, _first_nodes(script, launch))
    tier, pools, own, base = tier_of_job(script, job, slurm)
    if again:
        pools = tuple(replace(pool, free_bytes=pool.total_bytes) for pool in pools)
    if tier.markers:
        check_tier_options(script)
    if own is not None:
        check_own(script, tier, own)
        check_parts(script, tier)
    ask = tier_request_of(job, base, tier, options.origin, is_own=own is not None)
    pool = checked_pool(job, ask, tier, pools, own)
    if own is None and tier.name != "none":
        source, results = (Path(name) if name else None for name in (job.stage_in, job.stage_out))
        check_staging(script, tier, ask, source=source, results=results)
    here, ours = options.origin.absolute(), [tier.directory_variable(ask)]
    outside, effects = outside_of_script(script, options, ours)
    check_place(script, launch, here, ours, effects, options.allowed_outside)
    check_inside(effects, script.name, here, is_named=tier.name == "none")
    jobs = ScriptJobs(
        script=script,
        step=launch.number,
        tier=tier,
        words=options.command[1:],
        pool=pool,
        own=own,
        ask=ask,
        instead=job.stage_in if own is not None else "",
        nodes=_nodes(script, launch),
        wall_seconds=wall_seconds_of(script, partition, given),
        beside=own is not None and not works_on_tier(script, launch, ours[0]),
        moved=moves_to(script.moves, MoveTarget.NAMED, here, os.environ, ours),
    )
    check_node_hours(options.node_hours, jobs.nodes)
    jobs = replace(jobs, allocation_seconds=allocation_seconds(options, jobs, partition))
    shared = () if job.per_run else shared_places(script, launch, effects)
    warnings = (*_warnings(options, jobs), *shared)
    return PreparedJob(jobs, launch, node_ladder(job, jobs, pools), warnings, outside)


def _nodes(script: JobScript, launch: LaunchLine) -> int:
    """Return the compute nodes of a run, over all parts of its job, if the script says."""
    others = max((option.component for option in script.options), default=0)
    return _first_nodes(script, launch) + sum(
        _nodes_of_part(script, part) for part in range(1, others + 1)
    )


def _first_nodes(script: JobScript, launch: LaunchLine) -> int:
    resources = script.resources
    if resources.nodes:
        return resources.nodes
    ranks, per_node = (
        resources.ranks or launch.ranks,
        resources.ranks_per_node or launch.ranks_per_node,
    )
    return ceil(ranks / per_node) if ranks and per_node else 1


def _nodes_of_part(script: JobScript, part: int) -> int:
    """Return the nodes of a further part of a heterogeneous job."""
    options = {one.name: one.value or "" for one in script.options if one.component == part}
    nodes, ranks, per_node = (
        int(text) if (text := options.get(name, "").partition("-")[0]).isdecimal() else 0
        for name in ("nodes", "ntasks", "ntasks-per-node")
    )
    return nodes or (ceil(ranks / per_node) if ranks and per_node else 1)


def _unknown_nodes(script: JobScript, launch: LaunchLine) -> bool:
    """Return whether only Slurm can tell how many nodes the ranks occupy."""
    resources = script.resources
    ranks, per_node = (
        resources.ranks or launch.ranks,
        resources.ranks_per_node or launch.ranks_per_node,
    )
    return not resources.nodes and not per_node and (ranks or 1) > 1


def _warnings(options: StudyOptions, jobs: ScriptJobs) -> tuple[str, ...]:
    script = jobs.script
    found = [*script.notes, *overridden(script)]
    if script.resources.array:
        found.append(f"{script.name} is an array of jobs: the first element is tuned")
    is_free = options.job is not None and options.job.tier == "auto"
    if script.resources.is_heterogeneous and jobs.tier.name == "none" and is_free:
        found.append(
            f"{script.name} is a heterogeneous job: no burst buffer is tried, as Slurm gives one "
            "to a single part of such a job"
        )
    if jobs.own is None and jobs.tier.name != "none":
        found += filter(None, [sharing_note(script, jobs.tier, jobs.ask)])
    if jobs.wall_seconds is None:
        found.append(f"{script.name} has no time limit: give it one with #SBATCH --time")
    if _unknown_nodes(script, script.launch(jobs.step)):
        found.append(
            f"{script.name} does not say how many nodes it takes, so that node-hours are those of "
            f"{plural(jobs.nodes, 'node')}: give it #SBATCH --nodes"
        )
    found += too_short(options, jobs)
    found += [
        f"{text}; it is measured as it is" for text in missing_cpus(script, os.environ, jobs.step)
    ]
    ours = [jobs.tier.directory_variable(jobs.ask)]
    found += where_unclear(script, options.origin.absolute(), ours, options.allowed_outside)
    if script.problem:
        found.append(f"{script.name}: {script.problem}")
    return tuple(found)
