# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts in the place of a program: refused where a batch system should have run them.

A program that is no script costs a look at its first bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import click

from stripewise.errors import UsageError
from stripewise.inputs import open_input

_NAMES = re.compile(
    r"(?:[a-z]*sh[0-9]*|python[0-9.]*|[a-z]*batch|salloc|[a-z_]*sub|llsubmit|condor_submit\w*|flux"
    r"|hq|find|perl|ruby|Rscript|julia|lua|tclsh|node|php|[gmn]?awk|script|g?make|snakemake"
    r"|nextflow|tmux|screen|eval|flock|su|sg|runuser|watch|at|parallel)"
)
"""Programs that may run a script, or submit a job."""
_BEGINNING_BYTES = 4096
DASHES = "stripewise.dashes"


def refuse_scripts(program: Sequence[str], command: str, *, once: bool = False) -> None:
    """Refuse a command line that runs a job script on this host, or that submits jobs.

    Args:
        program: The command line.
        command: Of Stripewise, that would run it: "tune".
        once: It would be run once, and in place.

    Raises:
        UsageError: With the script and what to do.
    """
    if any(map(_may_be_script, program)):
        from stripewise.jobs import check_command

        check_command(program, Path.cwd(), command, once=once)


class ProgramCommand(click.Command):
    """Notes whether the program stands behind `--`: then all words behind it are its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as others do."""
        words = list(args)
        rest = super().parse_args(ctx, args)
        place = len(words) - len(ctx.params.get("program") or ())
        ctx.meta[DASHES] = words[place - 1 : place] == ["--"]
        return rest


def refuse_dry_run(program: Sequence[str], *, never: bool) -> None:
    """Refuse --dry-run behind the program, which would be run with it.

    Args:
        program: The command line.
        never: Also where it stands behind `--`, so that it is the program's own without doubt.

    Raises:
        UsageError: With where to write it.
    """
    own = click.get_current_context().meta.get(DASHES, False)
    if "--dry-run" in program[1:] and (never or not own):
        remedy = "start it from a script" if never else "write -- in front of the program"
        raise UsageError(
            "--dry-run stands behind the program, which would be run with it: write it in front "
            f"of the program; nothing was run (if it is the program's own: {remedy})"
        )


def _may_be_script(word: str) -> bool:
    if _NAMES.fullmatch(os.path.basename(word)):
        return True
    try:
        with open_input(Path(word)) as stream:
            start = stream.read(_BEGINNING_BYTES)
    except (OSError, ValueError):
        return False
    bare = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return b"\0" not in start and (bare.startswith(b"#") or b"\n#" in start)
