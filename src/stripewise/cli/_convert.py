# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise convert`: a job script for a burst buffer, without a study."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import echo, examples, file_option, note
from stripewise.cli._layout import Size
from stripewise.errors import StorageError, UsageError

if TYPE_CHECKING:
    from stripewise.jobs import JobScript, Move
    from stripewise.tiers import Pool


@click.command(
    epilog=examples(
        "stripewise convert run.sh --bb-nodes 4 --print",
        "stripewise convert run.sh --bb-nodes 8 --stage-in $PWD/input --stage-out $PWD/results",
        "stripewise convert run.sh --bb-nodes 4 --granularity 368GiB --pool wlm_pool -o bb.sh",
        "stripewise convert run.sh --persistent mydata --stage-in $PWD/in --stage-out $PWD/out",
        "stripewise convert --revert run.tuned.sh --print",
    )
)
@click.argument("script", type=click.Path(path_type=Path, readable=False), metavar="SCRIPT")
@click.option("--bb-nodes", type=click.IntRange(0), metavar="N",
              help="Burst-buffer nodes that the job asks for; 0: none.")  # fmt: skip
@click.option("--persistent", default="", metavar="NAME",
              help="Existing persistent burst buffer that the job works on.")  # fmt: skip
@click.option("--tier", default="datawarp", show_default=True, metavar="NAME",
              help="Kind of burst buffer: datawarp, lua, rabbit, directory.")  # fmt: skip
@click.option("--pool", default="", metavar="NAME",
              help="Pool of the burst buffer  [default: the site's]")  # fmt: skip
@click.option("--granularity", type=Size(), default=0, metavar="SIZE",
              help="Granularity of the pool  [default: what Slurm says]")  # fmt: skip
@click.option("--access", type=click.Choice(["striped", "private"]), default="striped",
              show_default=True, help="Access mode of the burst buffer.")  # fmt: skip
@click.option("--stage-in", default="", metavar="DIR",
              help="Directory that is copied to the burst buffer before the job.")  # fmt: skip
@click.option("--stage-out", default="", metavar="DIR",
              help="Directory to which the burst buffer is copied after the job.")  # fmt: skip
@file_option("--template", help="The site's directives, with --tier lua.")
@click.option("--place", default="", metavar="VARIABLE",
              help="Variable with the directory in the job, such as '$TMPDIR', with --tier "
              "directory or lua.")  # fmt: skip
@click.option("--revert", "reverts", is_flag=True,
              help="Take out what Stripewise has put in, byte for byte.")  # fmt: skip
@click.option("--print", "prints", is_flag=True, help="Print the script; write no file.")
@file_option("-o", "--output", help="File to write  [default: SCRIPT with .bb before its suffix]")
def command(
    script: Path,
    bb_nodes: int | None,
    reverts: bool,
    prints: bool,
    output: Path | None,
    tier: str,
    **asked: object,
) -> None:
    """Write SCRIPT as a job that works on a burst buffer, or take changes out again.

    Adds the directives for so many nodes, copies in and out, and a line that goes to the burst
    buffer.  Nothing is run or submitted.  All that is added stands between marks.
    """
    if [reverts, bb_nodes is not None, bool(asked["persistent"])].count(True) != 1:
        raise UsageError("say what to do: --bb-nodes N, --persistent NAME, or --revert")
    data = _reverted(script) if reverts else _converted(script, bb_nodes or 0, tier, asked)
    if prints:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    kind = "orig" if reverts else "bb"
    target = output or script.with_name(f"{script.stem}.{kind}{script.suffix}")
    if os.path.lexists(target) and (output is None or _is_same(target, script)):
        raise UsageError(f"{_shown(target)} exists; name another file with --output")
    from stripewise.outputs import write_file

    try:
        write_file(target, data)
        os.chmod(target, os.stat(script).st_mode & 0o777)
    except OSError as error:
        raise StorageError(f"cannot write {_shown(target)}: {error.strerror}") from error
    echo(f"wrote {_shown(target)}")


def _shown(path: Path) -> str:
    """Return a name for people."""
    from stripewise.text import printable

    return printable(str(path))


def _is_same(target: Path, script: Path) -> bool:
    return target.exists() and target.samefile(script)


def _read(script: Path) -> bytes:
    try:
        return script.read_bytes()
    except OSError as error:
        raise UsageError(f"{_shown(script)}: {error.strerror}; give a job script") from None


def _reverted(script: Path) -> bytes:
    from stripewise.jobs import revert

    data = _read(script)
    try:
        return revert(data)
    except UsageError as error:
        raise UsageError(f"{_shown(script)}: {error}") from None


def _converted(script: Path, nodes: int, tier_name: str, asked: dict[str, object]) -> bytes:
    from stripewise.jobs import (
        JobScript,
        OnTier,
        kept_notes,
        missing_cpus,
        place_of_script,
        script_on_tier,
    )
    from stripewise.text import printable
    from stripewise.tiers import TierRequest, find_tier, tier_of_words, variable_of

    parsed = JobScript.parse(_read(script), script.name)
    for text in filter(None, (parsed.dos_problem, *missing_cpus(parsed, os.environ))):
        note(text)
    parsed.check_persistent()
    words = [(f"#{line.kind}", *line.words) for line in parsed.burst_buffer]
    of_script, own = tier_of_words(words, tier_name)
    has_own = of_script.name != "none"
    tier = of_script if has_own else find_tier(tier_name)
    persistent = str(asked["persistent"])
    if not nodes and not persistent:
        return script_on_tier(parsed, OnTier(tier))
    if persistent and has_own:
        raise UsageError(
            f"--persistent {printable(persistent)}: {parsed.name} has lines for a burst buffer "
            "of its own; take these lines out of the script"
        )
    if own.persistent:
        raise UsageError(
            f"{parsed.name} works on the persistent burst buffer {own.persistent}, whose nodes "
            "are chosen already: write #DW jobdw in its place, then convert that"
        )
    place = str(asked["place"])
    request = replace(
        own if has_own else TierRequest(access=str(asked["access"])),
        nodes=nodes,
        persistent=persistent,
        place=place_of_script(script) if persistent else own.place,
        pool=str(asked["pool"]) or own.pool,
        stage_in=_path(asked["stage_in"]) or own.stage_in,
        stage_out=_path(asked["stage_out"]) or own.stage_out,
        template=_template(asked["template"]) or own.template,
        directory=place,
        variable=variable_of(place) if tier.name == "lua" else own.variable,
    )
    if persistent:
        _check_persistent(tier.name, persistent)
        pools: tuple[Pool, ...] = ()
    else:
        pools = _pools(tier.name, nodes, request.pool, int(str(asked["granularity"])))
    pool = tier.check(request, pools)
    on = OnTier(tier, request, pool, own=has_own)
    if not has_own and not on.variable:
        raise UsageError(
            f"--tier {tier.name}: name the environment variable that holds the directory in the "
            "job with --place, such as --place '$TMPDIR'"
        )
    notes = kept_notes(on)
    data = script_on_tier(parsed, on, moved=_moved(parsed, on.variable), notes=notes)
    for text in notes:
        note(text)
    if not (has_own or persistent) and request.stage_out is None:
        note("what the job leaves on the burst buffer is lost: --stage-out DIR copies it to DIR")
    return data


def _moved(script: JobScript, variable: str) -> dict[Move, Path]:
    """Return the moves that name this directory; note those that leave the burst buffer."""
    from stripewise.jobs import Lead, moves_to
    from stripewise.text import printable

    here, ours = Path.cwd(), [variable]
    if not variable:
        return {}
    for lead, verb in ((Lead.ELSEWHERE, "leaves"), (Lead.UNKNOWN, "may leave")):
        for move in moves_to(script.moves, lead, here, os.environ, ours):
            note(
                f"{script.name}, line {move.line}: `{printable(move.text)}` {verb} the burst "
                f"buffer, where the job works: go to ${variable} there"
            )
    return moves_to(script.moves, Lead.NAMED, here, os.environ, ours)


def _template(path: object) -> tuple[str, ...]:
    """Return the lines of the site's template; none without one."""
    if not isinstance(path, Path):
        return ()
    try:
        return tuple(filter(str.strip, path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "no text in UTF-8"
        raise UsageError(
            f"--template {_shown(path)}: {why}; give a file with the site's lines"
        ) from None


def _path(text: object) -> Path | None:
    return Path(str(text)) if text else None


def _check_persistent(tier: str, name: str) -> None:
    """Refuse a persistent burst buffer that is not there, if Slurm is here to tell.

    Raises:
        UsageError: With those that there are.
    """
    from stripewise.slurm import (
        Slurm,
        SlurmError,
        SlurmMissingError,
        nodes_of_persistent,
        parse_burst,
    )

    try:
        known = parse_burst(Slurm().show_burst())
    except (SlurmError, SlurmMissingError):
        return
    nodes_of_persistent(name, tier, known)


def _pools(tier: str, nodes: int, name: str, granularity: int) -> tuple[Pool, ...]:
    """Return the pools that Slurm knows, or the one that is described by its granularity."""
    from stripewise.slurm import Slurm, SlurmError, SlurmMissingError, parse_burst
    from stripewise.tiers import Pool

    if granularity:
        size = nodes * granularity
        return (Pool(name, granularity, size, size),)
    if tier == "directory":
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
    found = [pool for one in known if one.plugin == tier for pool in one.pools]
    return tuple(replace(pool, free_bytes=pool.total_bytes) for pool in found)
