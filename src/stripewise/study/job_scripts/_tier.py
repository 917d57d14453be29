# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Selects the burst buffer of a script's study, its pool and its numbers of nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.jobs import JobScript
from stripewise.run.launch import ScriptJobs
from stripewise.run.slurm import (
    BurstBuffers,
    Slurm,
    SlurmAwayError,
    SlurmError,
    nodes_of_persistent,
)
from stripewise.run.tiers import (
    StoragePool,
    Tier,
    TierRequest,
    check_absolute,
    check_directory_exists,
    find_tier,
    read_template,
    tier_of_words,
    variable_of,
)
from stripewise.study.plan import JobOptions

_PLUGINS = ("datawarp", "lua")
"""Names of Slurm's plug-ins, which are also names of tiers."""


def tier_of_job(
    script: JobScript, job: JobOptions, slurm: Slurm
) -> tuple[Tier, tuple[StoragePool, ...], TierRequest | None, TierRequest]:
    """Return the kind of burst buffer, its pools, and the requests of runs.

    Returns:
        Kind; pools; request of the script itself (None if it has none); and request of runs on the
        burst buffer, as given by the script or by the choice of a persistent one.

    Raises:
        UsageError: There is no such burst buffer, or the script requests another one.
    """
    words = [(f"#{line.kind}", *line.words) for line in script.burst_buffer]
    of_script, request = tier_of_words(words, job.tier)
    has_own = of_script.name != "none"
    name = job.tier
    known = () if job.tier in ("none", "directory") else _burst_buffers(slurm)
    if name == "auto":
        plugin = next((one.plugin for one in known if one.plugin in _PLUGINS), "")
        name = of_script.name if has_own else plugin or "none"
        if name == "lua" and not job.template and not has_own:
            name = "none"
    tier = find_tier(name)
    if script.resources.is_heterogeneous and tier.markers and _is_choice_free(job, has_own):
        tier = find_tier("none")
    if has_own and tier.name != of_script.name:
        raise UsageError(
            f"--tier {job.tier}: {script.name} has directives for {of_script.name}; leave --tier "
            "out, or take these lines out of the script"
        )
    pools = tuple(pool for one in known if one.plugin == tier.name for pool in _pools(one, job))
    if not pools and job.granularity_bytes and job.free_nodes is not None:
        size = job.granularity_bytes * job.free_nodes
        pools = (StoragePool(job.pool, job.granularity_bytes, size, size),)
    if job.persistent and has_own:
        raise UsageError(
            f"--persistent {printable(job.persistent)}: {script.name} has lines for a burst "
            "buffer of its own; leave --persistent out, or take these lines out of the script"
        )
    base = replace(request, persistent=job.persistent or request.persistent)
    if base.persistent:
        base = replace(base, nodes=nodes_of_persistent(base.persistent, tier.name, known))
    return tier, pools, base if has_own else None, base


def _is_choice_free(job: JobOptions, has_own: bool) -> bool:
    """Return whether neither the user nor the script requests a burst buffer."""
    return job.tier == "auto" and not (has_own or job.persistent or job.bb_nodes)


def check_own(script: JobScript, tier: Tier, own: TierRequest) -> None:
    """Refuse directives whose meaning cannot be preserved in each run of a study.

    Raises:
        UsageError: There is such a directive; the message has the line and the remedy.
    """
    tier.copied_in(own)
    for line in own.kept:
        if line.split()[1:2] in (["jobdw"], ["persistentdw"]):
            raise UsageError(
                f"{script.name}: `{printable(line)}` requests a second burst buffer, but a study "
                "can use only one: remove one of the two from the script"
            )


def _burst_buffers(slurm: Slurm) -> tuple[BurstBuffers, ...]:
    try:
        return slurm.burst_buffers()
    except SlurmAwayError:
        raise
    except SlurmError:  # this Slurm has no burst buffer
        return ()


def _pools(known: BurstBuffers, job: JobOptions) -> tuple[StoragePool, ...]:
    """Return the pools with the user's overrides."""
    first = sorted(known.pools, key=lambda pool: pool.name != known.default_pool)
    found = []
    for pool in first:
        grain = job.granularity_bytes or pool.granularity_bytes
        free = pool.free_bytes if job.free_nodes is None else job.free_nodes * grain
        total = max(pool.total_bytes, free)
        found.append(replace(pool, granularity_bytes=grain, free_bytes=free, total_bytes=total))
    return tuple(found)


def checked_pool(
    job: JobOptions,
    ask: TierRequest,
    tier: Tier,
    pools: tuple[StoragePool, ...],
    own: TierRequest | None,
) -> StoragePool | None:
    """Select the pool; refuse what no run could get or run.tuned.sh could not express.

    Raises:
        UsageError: The request is refused; the message has the remedy.
        StorageError: Too few nodes are free.
    """
    if tier.sized and not pools and (tier.needs_pool or not ask.persistent):
        raise UsageError(
            f"Slurm reports no pool of {tier.name} here (scontrol show burst): give "
            "--granularity and --free-nodes, or --tier none"
        )
    _check_place(tier, ask)
    if own is not None and own.persistent and job.stage_in and not job.stage_out:
        return tier.check(replace(ask, stage_in=Path(job.stage_in)), pools)
    if own is not None or not (tier.markers or tier.copies_itself):
        if job.stage_in or job.stage_out:
            why = "stages by itself" if own is not None else f"has nothing for --tier {tier.name}"
            raise UsageError(f"--stage-in, --stage-out: the script {why}: leave them out")
        return tier.check(replace(ask, nodes=1), pools)
    for path in (Path(name) for name in (job.stage_in, job.stage_out) if name):
        check_absolute(path)
    if job.stage_in:
        check_directory_exists(Path(job.stage_in))
    return tier.check(replace(ask, nodes=1), pools)


def _check_place(tier: Tier, ask: TierRequest) -> None:
    """Refuse a directory that the agent of a job cannot find.

    Raises:
        UsageError: The directory cannot be found; the message has the remedy.
    """
    given = ask.directory if tier.copies_itself else tier.directory_text(ask)
    if tier.name in ("directory", "lua") and not given:
        raise UsageError(
            f"--tier {tier.name}: say which directory it is in each job with --place, such as "
            f"--place '$TMPDIR' (not {printable(ask.directory)!r})"
        )


def tier_request_of(
    job: JobOptions, base: TierRequest, tier: Tier, origin: Path, *, is_own: bool
) -> TierRequest:
    """Return the burst-buffer request of runs; the number of nodes is chosen for each run.

    Raises:
        UsageError: The template cannot be read.
    """
    template = read_template(job.template, origin) if job.template else ()
    return replace(
        base,
        pool=job.pool or base.pool,
        access=base.access if is_own else job.access,
        capacity_bytes=job.capacity_bytes or base.capacity_bytes,
        template=template or base.template,
        directory=job.place or base.directory,
        variable=variable_of(job.place) if tier.name == "lua" else base.variable,
    )


def node_ladder(
    job: JobOptions, jobs: ScriptJobs, pools: tuple[StoragePool, ...]
) -> tuple[int, ...]:
    """Return the numbers of burst-buffer nodes to try.

    Raises:
        UsageError: More nodes are requested than the pool has.
        StorageError: More nodes are requested than are free.
    """
    tier, pool = jobs.tier, jobs.pool
    if jobs.ask.persistent:
        chosen = (jobs.ask.nodes,) if jobs.own is None else ()
        if job.bb_nodes not in ((), chosen) or job.capacity_bytes:
            raise UsageError(
                f"--bb-nodes, --bb-capacity: the persistent burst buffer {jobs.ask.persistent} "
                "has its nodes already: leave them out"
            )
        return chosen
    if tier.name == "none":
        if job.bb_nodes:
            raise UsageError(
                "--bb-nodes: this cluster has no burst buffer; give --tier if it has one that "
                "Slurm does not report"
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


# Numbers of tier nodes that are worth a trial.


def ladder(least: int, free: int) -> tuple[int, ...]:
    """Return the least number of nodes, twice it, four times it ... up to the free nodes.

    With 4 of 268 nodes: 4, 8, 16, 32, 64, 128, 256.  Empty if fewer than the least are free.

    Raises:
        UsageError: The least is not positive.

    Source: Markomanolis (KAUST), ExPBB, CUG 2017.
    """
    if least < 1:
        raise UsageError(f"{least} nodes of a burst buffer: ask for at least 1")
    numbers = []
    while least <= free:
        numbers.append(least)
        least *= 2
    return tuple(numbers)
