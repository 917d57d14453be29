# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise convert`: a job script for a burst buffer, without a study."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from stripewise.cli._common import echo, examples, file_option, note
from stripewise.cli._layout import Size
from stripewise.errors import StorageError, UsageError


@click.command(
    epilog=examples(
        "stripewise convert run.sh --bb-nodes 4 --print",
        "stripewise convert run.sh --bb-nodes 8 --stage-in $PWD/input --stage-out $PWD/results",
        "stripewise convert run.sh --bb-nodes 4 --granularity 368GiB --pool wlm_pool -o bb.sh",
        "stripewise convert run.sh --persistent mydata --stage-in $PWD/in --stage-out $PWD/out",
        "stripewise convert run.sh --tier directory --place '$TMPDIR'",
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
              help="Directory whose files the job works with  "
              "[default: that in which it begins]")  # fmt: skip
@click.option("--stage-out", default="", metavar="DIR",
              help="Directory to which the job copies what it changed; --stage-in needs it  "
              "[default: that in which it begins]")  # fmt: skip
@file_option("--template", help="The site's directives, with --tier lua.")
@click.option("--place", default="", metavar="DIR",
              help="With --tier directory, where it is in the job, such as '$TMPDIR' or "
              "'/flash/$USER'; with --tier lua, the variable that names it.")  # fmt: skip
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

    Adds the directives for so many nodes, and a line that starts the script again in a directory
    of its own there: a file beside the new script copies inputs there when the job begins, and
    what the job changed back when it ends.  Nothing is run or submitted.  All that is added
    stands between marks.
    """
    is_directory = tier == "directory"
    ways = [reverts, bb_nodes is not None or is_directory, bool(asked["persistent"])]
    if ways.count(True) != 1:
        raise UsageError(
            "say what to do: --bb-nodes N, --persistent NAME, --tier directory, or --revert"
        )
    data, copies = _read(script), b""
    kind = "orig" if reverts else "bb"
    target = output or script.with_name(f"{script.stem}.{kind}{script.suffix}")
    program = target.absolute().with_name(f"{target.name}.copies")
    if reverts:
        data = _reverted(script, data)
    else:
        from stripewise.cli._converted import converted

        nodes = int(is_directory) if bb_nodes is None else bb_nodes
        data, copies = converted(script, data, nodes, tier, asked, program)
    if prints:
        if copies:
            note(f"the script needs {_shown(program)}, which is written without --print")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for path in (target, *((program,) if copies else ())):
        if os.path.lexists(path) and (output is None or _is_same(path, script)):
            raise UsageError(f"{_shown(path)} exists; name another file with --output")
    from stripewise.outputs import write_file

    try:
        if copies:
            write_file(program, copies)
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


def _reverted(script: Path, data: bytes) -> bytes:
    from stripewise.jobs import revert

    try:
        return revert(data)
    except UsageError as error:
        raise UsageError(f"{_shown(script)}: {error}") from None
