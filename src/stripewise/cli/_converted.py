# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What `stripewise convert` writes: a job script on a tier, and what copies its files there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from stripewise.cli._common import note
from stripewise.errors import UsageError
from stripewise.jobs import (
    JobScript,
    Lead,
    Move,
    OnTier,
    copies_on_tier,
    kept_notes,
    missing_cpus,
    moves_to,
    place_of_script,
    results_place,
    script_on_tier,
    scripts_in,
)
from stripewise.slurm import (
    Slurm,
    SlurmError,
    SlurmMissingError,
    nodes_of_persistent,
    parse_burst,
)
from stripewise.text import printable
from stripewise.tiers import Pool, Tier, TierRequest, find_tier, tier_of_words, variable_of
from stripewise.workspace import STUDY_SUFFIX


def converted(
    script: Path,
    data: bytes,
    nodes: int,
    tier_name: str,
    asked: Mapping[str, object],
    program: Path,
) -> tuple[bytes, bytes]:
    """Return the script on a tier, and the program that copies its files; b"" if it needs none.

    Args:
        script: The user's.
        data: What it holds.
        nodes: Of the burst buffer; 0: none.
        tier_name: Kind of the burst buffer.
        asked: The other options.
        program: Where that program will be.

    Raises:
        UsageError: It cannot be had, or cannot be written.
    """
    parsed = JobScript.parse(data, script.name, scripts_in(script.parent))
    parsed.check_no_submission()
    said = (parsed.dos_problem, *parsed.notes, *missing_cpus(parsed, os.environ))
    for text in filter(None, said):
        note(text)
    parsed.check_persistent()
    words = [(f"#{line.kind}", *line.words) for line in parsed.burst_buffer]
    of_script, own = tier_of_words(words, tier_name)
    has_own = of_script.name != "none"
    tier = of_script if has_own else find_tier(tier_name)
    persistent = str(asked["persistent"])
    if not nodes and not persistent:
        return script_on_tier(parsed, OnTier(tier)), b""
    if has_own:
        _check_own(parsed, own, persistent)
    request = _request(script, tier, own if has_own else None, nodes, asked)
    if persistent:
        _check_there(tier.name, persistent)
        pools: tuple[Pool, ...] = ()
    else:
        pools = _pools(tier, nodes, request.pool, int(str(asked["granularity"])))
    on = OnTier(tier, request, tier.check(request, pools), own=has_own)
    if on.copies:
        return _with_copies(parsed, script, on, program)
    if not has_own and not on.variable:
        raise UsageError(
            f"--tier {tier.name}: name the environment variable that holds the directory in the "
            "job with --place, such as --place '$TMPDIR'"
        )
    notes = kept_notes(on)
    for text in notes:
        note(text)
    if not (has_own or persistent) and request.stage_out is None:
        note("what the job leaves on the burst buffer is lost: --stage-out DIR copies it to DIR")
    moved = {} if has_own else _moved(parsed, on.variable)
    return script_on_tier(parsed, on, moved=moved, notes=notes), b""


def _moved(script: JobScript, variable: str) -> dict[Move, Path]:
    """Return the moves that name this directory; note those that leave the burst buffer.

    Args:
        script: The user's.
        variable: Names the directory of the burst buffer; "": the job goes there otherwise.
    """
    here, ours = Path.cwd(), [variable]
    there = f"${variable}" if variable else "$SLURM_SUBMIT_DIR"
    for lead, verb in ((Lead.ELSEWHERE, "leaves"), (Lead.UNKNOWN, "may leave")):
        for move in moves_to(script.moves, lead, here, os.environ, ours):
            note(
                f"{script.name}, line {move.line}: `{printable(move.text)}` {verb} the burst "
                f"buffer, where the job works: go to {there} there"
            )
    return moves_to(script.moves, Lead.NAMED, here, os.environ, ours)


def _check_own(script: JobScript, own: TierRequest, persistent: str) -> None:
    """Refuse a persistent burst buffer beside lines of the script, or for another size."""
    if persistent:
        raise UsageError(
            f"--persistent {printable(persistent)}: {script.name} has lines for a burst buffer of "
            "its own; take these lines out of the script"
        )
    if own.persistent:
        raise UsageError(
            f"{script.name} works on the persistent burst buffer {own.persistent}, whose nodes "
            "are chosen already: write #DW jobdw in its place, then convert that"
        )


def _request(
    script: Path, tier: Tier, own: TierRequest | None, nodes: int, asked: Mapping[str, object]
) -> TierRequest:
    base = own or TierRequest(access=str(asked["access"]))
    place, persistent = str(asked["place"]), str(asked["persistent"])
    return replace(
        base,
        nodes=nodes,
        persistent=persistent,
        place=place_of_script(script) if persistent else base.place,
        pool=str(asked["pool"]) or base.pool,
        stage_in=_path(asked["stage_in"]) or base.stage_in,
        stage_out=_path(asked["stage_out"]) or base.stage_out,
        template=_template(asked["template"]) or base.template,
        directory=place,
        variable=variable_of(place) if tier.name == "lua" else base.variable,
    )


def _with_copies(
    parsed: JobScript, script: Path, on: OnTier, program: Path
) -> tuple[bytes, bytes]:
    """Return a script that copies its files by itself, and the program that does so."""
    assert on.request is not None
    results = on.request.stage_out or results_place(script.absolute())
    inputs = _beside(script, {script.name, program.name, program.stem, results.name})
    request = replace(on.request, stage_out=results)
    on = replace(on, request=request, inputs=inputs, source=script.absolute().parent)
    notes = (f"results are copied to {results} when the job ends",)
    data = script_on_tier(
        parsed, on, moved=_moved(parsed, ""), within=("sh", str(program)), notes=notes
    )
    return data, copies_on_tier(on)


def _beside(script: Path, left_out: set[str]) -> dict[str, bool]:
    """Return what lies beside a script, name to whether it is a directory; no studies."""
    with os.scandir(script.absolute().parent) as entries:
        return {
            one.name: one.is_dir()
            for one in entries
            if one.name not in left_out and not one.name.endswith(STUDY_SUFFIX)
        }


def _template(path: object) -> tuple[str, ...]:
    """Return the lines of the site's template; none without one."""
    if not isinstance(path, Path):
        return ()
    try:
        return tuple(filter(str.strip, path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "no text in UTF-8"
        raise UsageError(
            f"--template {printable(str(path))}: {why}; give a file with the site's lines"
        ) from None


def _path(text: object) -> Path | None:
    return Path(str(text)) if text else None


def _check_there(tier: str, name: str) -> None:
    """Refuse a persistent burst buffer that is not there, if Slurm is here to tell.

    Raises:
        UsageError: With those that there are.
    """
    try:
        known = parse_burst(Slurm().show_burst())
    except (SlurmError, SlurmMissingError):
        return
    nodes_of_persistent(name, tier, known)


def _pools(tier: Tier, nodes: int, name: str, granularity: int) -> tuple[Pool, ...]:
    """Return the pools that Slurm knows, or the one that is described by its granularity."""
    if granularity:
        size = nodes * granularity
        return (Pool(name, granularity, size, size),)
    if tier.copies_itself:
        return ()
    try:
        known = parse_burst(Slurm().show_burst())
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
