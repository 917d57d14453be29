# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise settings script`: writes or reverts a job script that uses a burst buffer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path

import click

from stripewise.cli._common import echo, note
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import Size, file_option
from stripewise.core.errors import StorageError, UsageError
from stripewise.present import printable
from stripewise.run.jobs import (
    JobScript,
    OnTier,
    check_parts,
    check_staging,
    copies_note,
    copies_on_tier,
    missing_cpus,
    script_on_tier,
    scripts_in,
    sharing_note,
)
from stripewise.run.shell import Lead, Move, Surroundings, check_inside, moves_to
from stripewise.run.slurm import (
    Slurm,
    SlurmError,
    SlurmMissingError,
    nodes_of_persistent,
)
from stripewise.run.tiers import (
    Pool,
    Tier,
    TierRequest,
    check_absolute,
    check_there,
    find_tier,
    tier_of_words,
    variable_of,
)


@command(
    "script",
    epilog=examples(
        "stripewise settings script run.sh --bb-nodes 4 --print",
        "stripewise settings script run.sh --bb-nodes 8 --stage-in $PWD/input \\",
        "    --stage-out $PWD/results",
        "stripewise settings script run.sh --persistent mydata",
        "stripewise settings script run.sh --tier directory --place '$TMPDIR'",
        "stripewise settings script --revert run.tuned.sh --print",
    ),
)
@click.argument("path", type=click.Path(path_type=Path, readable=False), metavar="SCRIPT")
@option("--bb-nodes", type=click.IntRange(0), metavar="N",
              help="Number of burst-buffer nodes to request; 0: none.")  # fmt: skip
@option("--persistent", default="", metavar="NAME",
              help="Existing persistent burst buffer to work on.")  # fmt: skip
@option("--tier", default="datawarp", show_default=True, metavar="NAME",
              help="Kind of burst buffer: datawarp, lua, rabbit, directory.")  # fmt: skip
@option("--pool", default="", metavar="NAME",
              help="Pool of the burst buffer  [default: the site's]")  # fmt: skip
@option("--granularity", type=Size(), default=0, metavar="SIZE",
              help="Granularity of the pool  [default: what Slurm reports]")  # fmt: skip
@option("--access", type=click.Choice(["striped", "private"]), default="striped",
              show_default=True, help="Access mode of the burst buffer.")  # fmt: skip
@option("--stage-in", default="", metavar="DIR",
              help="Directory whose files the job works with  "
              "[default: where the job begins]")  # fmt: skip
@option("--stage-out", default="", metavar="DIR",
              help="Directory to which the job copies what it changed; --stage-in needs it  "
              "[default: that in which it begins]")  # fmt: skip
@file_option("--template", help="The site's directives, with --tier lua.")
@option("--place", default="", metavar="DIR",
              help="With --tier directory, where it is in the job, such as '$TMPDIR' or "
              "'/flash/$USER'; with --tier lua, the variable that names it.")  # fmt: skip
@option("--revert", "reverts", is_flag=True,
              help="Remove the lines that Stripewise added, byte for byte.")  # fmt: skip
@option("--print", "prints", is_flag=True, help="Print the script; write no file.")
@file_option("-o", "--output", help="File to write  [default: SCRIPT with .bb before its suffix]")
def script_command(
    path: Path,
    bb_nodes: int | None,
    reverts: bool,
    prints: bool,
    output: Path | None,
    tier: str,
    **asked: object,
) -> None:
    """Write a job script for a burst buffer, or revert one.

    Adds directives for N burst-buffer nodes, and a line that starts the script again in a
    directory of its own there.  A second file, beside the new script, copies the inputs there
    when the job begins, and copies back what the job changed when it ends.  Nothing is run or
    submitted.  All added lines stand between marks; --revert removes them.
    """
    is_directory = tier == "directory"
    ways = [reverts, bb_nodes is not None or is_directory, bool(asked["persistent"])]
    if ways.count(True) != 1:
        raise UsageError(
            "say what to do: --bb-nodes N, --persistent NAME, --tier directory, or --revert"
        )
    data, copies = _read(path), b""
    kind = "orig" if reverts else "bb"
    target = output or path.with_name(f"{path.stem}.{kind}{path.suffix}")
    program = target.absolute().with_name(f"{target.name}.copies")
    if reverts:
        data = _reverted(path, data)
    else:
        nodes = int(is_directory) if bb_nodes is None else bb_nodes
        data, copies = converted(path, data, nodes, tier, asked, program)
    if prints:
        if copies:
            note(f"the script needs {_shown(program)}, which is written without --print")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for made in (target, *((program,) if copies else ())):
        if os.path.lexists(made) and (output is None or _is_same(made, path)):
            raise UsageError(f"{_shown(made)} exists; name another file with --output")
    from stripewise.core import write_file

    try:
        if copies:
            write_file(program, copies)
        write_file(target, data)
        os.chmod(target, os.stat(path).st_mode & 0o777)
    except OSError as error:
        raise StorageError(f"cannot write {_shown(target)}: {error.strerror}") from error
    echo(f"wrote {_shown(target)}")


def _shown(path: Path) -> str:
    """Return a name for people."""
    from stripewise.present import printable

    return printable(str(path))


def _is_same(target: Path, script: Path) -> bool:
    return target.exists() and target.samefile(script)


def _read(script: Path) -> bytes:
    try:
        return script.read_bytes()
    except OSError as error:
        raise UsageError(f"{_shown(script)}: {error.strerror}; give a job script") from None


def _reverted(script: Path, data: bytes) -> bytes:
    from stripewise.run.jobs import revert

    try:
        return revert(data)
    except UsageError as error:
        raise UsageError(f"{_shown(script)}: {error}") from None


# ---- the script on a tier, and what copies its files there


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
    parsed.check_no_submission(requeues=True)
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
        _check_own(parsed, own, persistent, asked)
        check_parts(parsed, tier)
    request = _request(tier, own if has_own else None, nodes, asked)
    source, results = (_path(asked[name]) for name in ("stage_in", "stage_out"))
    if not has_own:
        check_staging(parsed, tier, request, source=source, results=results)
    if persistent:
        _check_there(tier.name, persistent)
        pools: tuple[Pool, ...] = ()
    else:
        pools = _pools(tier, nodes, request.pool, int(str(asked["granularity"])))
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
        check_there(source)
    if results and results != source:
        note(f"what a job leaves in {printable(str(results))}, the next one does not find")
    if text := sharing_note(parsed, tier, request):
        note(text)
    moved = _moved(parsed)
    on = OnTier(
        tier,
        request,
        pool,
        source=source or (Path.cwd() if moved else None),
        results=results,
        left_out=(escape(program.stem), f"{escape(program.stem)}.*"),
        unsaved=program.with_suffix(".unsaved"),
    )
    data = script_on_tier(
        parsed, on, moved=moved, within=("sh", str(program)), notes=(copies_note(on),)
    )
    return data, copies_on_tier(on, parsed)


def _moved(script: JobScript) -> dict[Move, Path]:
    """Return the moves that name this directory; note those that leave the burst buffer."""
    here = Path.cwd()
    for lead, verb in ((Lead.ELSEWHERE, "leaves"), (Lead.UNKNOWN, "may leave")):
        for move in moves_to(script.moves, lead, here, os.environ):
            note(
                f"{script.name}, line {move.line}: `{printable(move.text)}` {verb} the burst "
                "buffer, where the job works: go to $SLURM_SUBMIT_DIR there"
            )
    return moves_to(script.moves, Lead.NAMED, here, os.environ)


def _check_own(
    script: JobScript, own: TierRequest, persistent: str, asked: Mapping[str, object]
) -> None:
    """Refuse what the script's own lines say otherwise."""
    if asked["stage_in"] or asked["stage_out"]:
        raise UsageError(
            f"--stage-in, --stage-out: {script.name} has lines for a burst buffer of its own, "
            "which say what is copied: change these lines, or take them out of the script"
        )
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
    tier: Tier, own: TierRequest | None, nodes: int, asked: Mapping[str, object]
) -> TierRequest:
    base = own or TierRequest(access=str(asked["access"]))
    place = str(asked["place"])
    return replace(
        base,
        nodes=nodes,
        persistent=str(asked["persistent"]),
        pool=str(asked["pool"]) or base.pool,
        template=_template(asked["template"]) or base.template,
        directory=place,
        variable=variable_of(place) if tier.name == "lua" else base.variable,
    )


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
        known = Slurm().burst_buffers()
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
