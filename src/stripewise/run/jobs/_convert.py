# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts a user's job script to work on a burst buffer of this Slurm installation."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.jobs._on_tier import (
    OnTier,
    check_parts,
    check_staging,
    copies_note,
    copies_on_tier,
    script_on_tier,
    sharing_note,
)
from stripewise.run.jobs._script import JobScript, missing_cpus
from stripewise.run.jobs._systems import scripts_in
from stripewise.run.shell import Move, MoveTarget, Surroundings, check_inside, moves_to
from stripewise.run.slurm import Slurm, SlurmError, SlurmMissingError, nodes_of_persistent
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

Say = Callable[[str], None]
"""Function that receives remarks on a script for the user."""


@dataclass(frozen=True)
class Wanted:
    """Burst buffer and directories that a converted script should use.

    Attributes:
        tier: Kind of burst buffer.
        nodes: Number of burst-buffer nodes; 0 for none.
        persistent: Name of an existing persistent burst buffer to work on; empty for none.
        pool: Pool of its nodes; empty for the site's default.
        granularity_bytes: Granularity of that pool; 0 for the one that Slurm reports.
        access: Access mode: "striped" or "private".
        stage_in / stage_out: Directories of the job's inputs and results; None for the job's own
            directory.
        template: File with the site's directives, for the tier "lua".
        place: Directory on the tier, or the variable that names it.
    """

    tier: str = "datawarp"
    nodes: int = 0
    persistent: str = ""
    pool: str = ""
    granularity_bytes: int = 0
    access: str = "striped"
    stage_in: Path | None = None
    stage_out: Path | None = None
    template: Path | None = None
    place: str = ""


def convert_script(
    script: Path, data: bytes, wanted: Wanted, program: Path, say: Say
) -> tuple[bytes, bytes]:
    """Return the script converted to a tier, and the program that copies its files (or b"").

    Args:
        script: The user's script.
        data: Content of the script.
        wanted: Burst buffer and directories to use.
        program: Path at which the program will be.
        say: Function that receives remarks for the user.

    Raises:
        UsageError: The burst buffer is not available, or the script cannot be converted.
        StorageError: Too few nodes of the burst buffer are free.
    """
    parsed = JobScript.parse(data, script.name, scripts_in(script.parent))
    parsed.check_no_submission(requeues=True)
    remarks = (parsed.dos_problem, *parsed.notes, *missing_cpus(parsed, os.environ))
    for text in filter(None, remarks):
        say(text)
    parsed.check_persistent()
    words = [(f"#{line.kind}", *line.words) for line in parsed.burst_buffer]
    of_script, own = tier_of_words(words, wanted.tier)
    has_own = of_script.name != "none"
    tier = of_script if has_own else find_tier(wanted.tier)
    if not wanted.nodes and not wanted.persistent:
        return script_on_tier(parsed, OnTier(tier)), b""
    if has_own:
        _check_own(parsed, own, wanted)
        check_parts(parsed, tier)
    request = _request(tier, own if has_own else None, wanted)
    source, results = wanted.stage_in, wanted.stage_out
    if not has_own:
        check_staging(parsed, tier, request, source=source, results=results)
    pools: tuple[StoragePool, ...] = ()
    if wanted.persistent:
        _check_there(tier.name, wanted.persistent)
    else:
        pools = _pools(tier, request, wanted.granularity_bytes)
    pool = tier.check(request, pools)
    if has_own:
        return script_on_tier(parsed, OnTier(tier, request, pool, own=True)), b""
    if not tier.directory_text(request):
        raise UsageError(
            f"--tier {tier.name}: name the environment variable that holds the directory in the "
            "job with --place, such as --place '$TMPDIR'"
        )
    here = Path.cwd()
    around = Surroundings(here, os.environ, [tier.directory_variable(request)])
    check_inside(parsed.effects(around), parsed.name, here)
    for path in filter(None, (source, results)):
        check_absolute(path)
    if source:
        check_directory_exists(source)
    if results and results != source:
        say(f"the next job does not find what a job leaves in {printable(str(results))}")
    if text := sharing_note(parsed, tier, request):
        say(text)
    moved = _moved(parsed, here, say)
    on = OnTier(
        tier,
        request,
        pool,
        source=source or (here if moved else None),
        results=results,
        left_out=(escape(program.stem), f"{escape(program.stem)}.*"),
        unsaved=program.with_suffix(".unsaved"),
    )
    data = script_on_tier(
        parsed, on, moved=moved, within=("sh", str(program)), notes=(copies_note(on),)
    )
    return data, copies_on_tier(on, parsed)


def _moved(script: JobScript, here: Path, say: Say) -> dict[Move, Path]:
    """Return the moves that name this directory, and report those that leave the burst buffer."""
    for lead, verb in ((MoveTarget.ELSEWHERE, "leaves"), (MoveTarget.UNKNOWN, "may leave")):
        for move in moves_to(script.moves, lead, here, os.environ):
            say(
                f"{script.name}, line {move.line}: `{printable(move.text)}` {verb} the burst "
                "buffer, where the job works: use $SLURM_SUBMIT_DIR there"
            )
    return moves_to(script.moves, MoveTarget.NAMED, here, os.environ)


def _check_own(script: JobScript, own: TierRequest, wanted: Wanted) -> None:
    """Refuse requests that contradict the script's own burst-buffer lines."""
    if wanted.stage_in or wanted.stage_out:
        raise UsageError(
            f"--stage-in, --stage-out: {script.name} has lines for a burst buffer of its own, "
            "which say what is copied: change these lines, or take them out of the script"
        )
    if wanted.persistent:
        raise UsageError(
            f"--persistent {printable(wanted.persistent)}: {script.name} has lines for a burst "
            "buffer of its own; take these lines out of the script"
        )
    if own.persistent:
        raise UsageError(
            f"{script.name} works on the persistent burst buffer {own.persistent}, whose nodes "
            "are chosen already: write #DW jobdw in its place, then convert that"
        )


def _request(tier: Tier, own: TierRequest | None, wanted: Wanted) -> TierRequest:
    """Return the job's request to the tier; `own` is the request in the script's own lines."""
    base = own or TierRequest(access=wanted.access)
    template = read_template(str(wanted.template)) if wanted.template else ()
    return replace(
        base,
        nodes=wanted.nodes,
        persistent=wanted.persistent,
        pool=wanted.pool or base.pool,
        template=template or base.template,
        directory=wanted.place,
        variable=variable_of(wanted.place) if tier.name == "lua" else base.variable,
    )


def _check_there(tier: str, name: str) -> None:
    """Refuse a persistent burst buffer that does not exist, if Slurm is available to check.

    Raises:
        UsageError: It does not exist; the message lists the existing ones.
    """
    try:
        known = Slurm().burst_buffers()
    except (SlurmError, SlurmMissingError):
        return
    nodes_of_persistent(name, tier, known)


def _pools(tier: Tier, request: TierRequest, granularity_bytes: int) -> tuple[StoragePool, ...]:
    """Return the pools that Slurm reports, or the one described by the given granularity."""
    if granularity_bytes:
        size_bytes = request.nodes * granularity_bytes
        return (StoragePool(request.pool, granularity_bytes, size_bytes, size_bytes),)
    if tier.copies_itself:
        return ()
    try:
        known = Slurm().burst_buffers()
    except SlurmMissingError:
        raise UsageError(
            "the granularity of the pool is not known, as there is no Slurm on this host: give "
            "--granularity, such as 368GiB"
        ) from None
    except SlurmError as error:
        raise UsageError(
            f"the granularity of the pool is not known ({error}): give --granularity, such as "
            "368GiB"
        ) from None
    found = [pool for one in known if one.plugin == tier.name for pool in one.pools]
    return tuple(replace(pool, free_bytes=pool.total_bytes) for pool in found)
