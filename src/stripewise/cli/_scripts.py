# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the options for job scripts, and distinguishes scripts from programs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._help import Command, Option, has_options, option
from stripewise.cli._options import Duration, NodeHours, Numbers, Size
from stripewise.core.errors import UsageError
from stripewise.core.inputs import open_input

if TYPE_CHECKING:
    from stripewise.study.plan import JobOptions


_JOB_SCRIPT = "Job script"
_job = partial(option, group=_JOB_SCRIPT)
_rare = partial(_job, rare=True)
job_options = has_options(
    _job("--budget", "node_hours", type=NodeHours(), metavar="NODE-HOURS",
        help="Maximum node-hours of all jobs, such as 40node-hours."),
    _job("--dry-run", is_flag=True,
        help="Show what would be submitted and what it may cost; submit nothing."),
    _job("--step", type=click.IntRange(1), metavar="N",
        help="Number of the launch line to tune, where the script has several."),
    _job("--tier", default="auto", metavar="NAME", show_default=True,
        help="Kind of burst buffer: datawarp, lua, rabbit, directory or none."),
    _job("--pool", default="", metavar="NAME",
        help="Pool of the burst buffer  [default: the site's]"),
    _job("--persistent", default="", metavar="NAME",
        help="Existing persistent burst buffer to run on."),
    _job("--bb-nodes", type=Numbers(), default=(), metavar="N,N",
        help="Numbers of burst-buffer nodes to try  [default: 1x, 2x, 4x ... what the job "
        "needs, as many as are free]"),
    _job("--bb-capacity", "capacity_bytes", type=Size(), default=0, metavar="SIZE",
        help="Capacity that the job needs on the burst buffer."),
    _rare("--granularity", "granularity_bytes", type=Size(), default=0, metavar="SIZE",
        help="Granularity of the pool, if Slurm does not report it."),
    _rare("--free-nodes", type=click.IntRange(0), metavar="N",
        help="Free nodes of the pool, if Slurm does not report them."),
    _job("--access", type=click.Choice(["striped", "private"]), default="striped",
        show_default=True, help="Access mode of the burst buffer."),
    _job("--stage-in", default="", metavar="DIR",
        help="Directory that run.tuned.sh copies to the burst buffer  [default: the job's]"),
    _job("--stage-out", default="", metavar="DIR",
        help="Directory to which run.tuned.sh copies the results  [default: the job's]"),
    _rare("--template", default="", metavar="FILE",
        help="File with the site's directives, for --tier lua."),
    _rare("--place", default="", metavar="DIR",
        help="With --tier directory, path of the burst buffer in each job, such as '$TMPDIR' "
        "or '/flash/$USER'; with --tier lua, the variable that names it."),
    _rare("--hybrid", type=click.Choice(["auto", "redirect", "links"]), default="auto",
        show_default=True,
        help="How only the large files get onto the burst buffer: redirect: the library "
        "changes their paths; links: symbolic links lead there; auto: what the site prefers."),
    _rare("--job-per-run", "per_run", is_flag=True,
        help="Submit a job for each run, instead of making many runs in one allocation."),
    _rare("--allocation-time", "allocation_seconds", type=Duration(), metavar="TIME",
        help="Time limit of an allocation in which several runs are made."),
    _rare("--resources", is_flag=True,
        help="Try fewer ranks and more threads as well, see --min-nodes."),
    _rare("--min-nodes", type=click.IntRange(0), default=0, metavar="N",
        help="With --resources, minimum number of compute nodes  [default: 1]"),
)  # fmt: skip
_SUFFIXES = (".sh", ".bash", ".csh", ".ksh", ".zsh", ".slurm", ".sbatch", ".job")
"""Suffixes of job scripts."""
_BESIDE = ("node_hours", "dry_run")
_NO_OPTIONS = ("script", "words", "digest")
_OF_ANY_STUDY = ("resume", "as_json")
"""Options that `tune SCRIPT --help` shows besides those for job scripts."""


def is_job_script(word: str) -> bool:
    """Return whether a word on the command line names a script with directives for Slurm.

    Raises:
        UsageError: The script is for another batch system.
    """
    from stripewise.run.jobs import job_script_heading

    heading = job_script_heading(Path(word))
    if heading is None:
        return False
    heading.refuse_foreign(word)
    return heading.is_slurm


def refuse_missing_script(program: Sequence[str]) -> None:
    """Refuse a command that is the name of a missing script.

    Raises:
        UsageError: It is; the study would report this only after it has copied the directory.
    """
    word = program[0] if program else ""
    if Path(word).suffix in _SUFFIXES and not os.path.lexists(word) and not which(word):
        raise UsageError(f"{word}: no such job script or program; check its name")


class TuneCommand(Command):
    """Command that accepts options after a job script: `tune run.sh --budget 40node-hours`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move a job script after the options that follow it, before parsing.

        Raises:
            UsageError: It is after `--`, or its arguments are not; or it is for another batch
                system.
        """
        own = args[: args.index("--")] if "--" in args else list(args)
        rest, after = self._program(ctx, own), args[len(own) + 1 :]
        if rest and not ctx.resilient_parsing and is_job_script(rest[0]):
            head, behind = own[: len(own) - len(rest)], rest[1:]
            ctx.meta["stripewise.script"] = rest[0]
            if left := self._program(ctx, behind):
                raise click.UsageError(
                    f"{left[0]!r} after the job script is not an option; arguments of the script "
                    f"itself go after --: tune {rest[0]} -- {left[0]}"
                )
            args = [*head, *behind, "--", *after]
        return super().parse_args(ctx, args)

    def is_shown(self, ctx: click.Context, param: click.Parameter) -> bool:
        """Show the options for job scripts if there is one, with few other options."""
        is_of_scripts = isinstance(param, Option) and param.group == _JOB_SCRIPT
        if "stripewise.script" in ctx.meta:
            is_asked = is_of_scripts or param.name in _OF_ANY_STUDY or not param.expose_value
        else:
            is_asked = not is_of_scripts
        return is_asked and super().is_shown(ctx, param)

    def _program(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words that are not options."""
        values, _, _ = self.make_parser(ctx).parse_args(list(args))
        words = values.get("program")
        return list(words) if isinstance(words, list | tuple) else []


def take_job(given: dict[str, Any], script: str) -> JobOptions | None:
    """Remove and return the options for job scripts; return None without a script.

    Raises:
        UsageError: One of them was given without a job script.
    """
    from stripewise.study.plan import JobOptions

    names = [one.name for one in fields(JobOptions) if one.name not in _NO_OPTIONS]
    values = {name: given.pop(name) for name in names}
    if script:
        return JobOptions(script=script, **values)
    plain = {one.name: one.default for one in fields(JobOptions)}
    wanting = [name for name, value in values.items() if value != plain[name]]
    wanting += [name for name in _BESIDE if given.get(name)]
    if wanting:
        params = click.get_current_context().command.params
        option = next(one.opts[0] for one in params if one.name == wanting[0])
        raise UsageError(
            f"{option} requires a job script: stripewise tune run.sh; a script has #! in its "
            "first line and #SBATCH directives"
        )
    return None


# Scripts in place of a program, which are refused if a batch system should run them.
#
# For a program that is not a script, only its first bytes are read.

_NAMES = re.compile(
    r"(?:[a-z]*sh[0-9]*|python[0-9.]*|[a-z]*batch|salloc|[a-z_]*sub|llsubmit|condor_submit\w*|flux"
    r"|hq|find|perl|ruby|Rscript|julia|lua|tclsh|node|php|[gmn]?awk|script|g?make|snakemake"
    r"|nextflow|tmux|screen|eval|flock|su|sg|runuser|watch|at|parallel)"
)
"""Names of programs that may run a script or submit a job."""
_BEGINNING_BYTES = 4096
DASHES = "stripewise.dashes"


def refuse_scripts(program: Sequence[str], command: str, *, once: bool = False) -> None:
    """Refuse a command line that runs a job script on this host or submits jobs.

    Args:
        program: Command line of the program.
        command: Stripewise command that would run it: "tune".
        once: Whether it would run once and in place.

    Raises:
        UsageError: It does; the message has the script and the remedy.
    """
    if any(map(_may_be_script, program)):
        from stripewise.run.jobs import check_command

        check_command(program, Path.cwd(), command, once=once)


class ProgramCommand(Command):
    """Command that records whether the program is after `--`, and so owns all further words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and record whether there is a `--`."""
        words = list(args)
        rest = super().parse_args(ctx, args)
        place = len(words) - len(ctx.params.get("program") or ())
        ctx.meta[DASHES] = words[place - 1 : place] == ["--"]
        return rest


def refuse_dry_run(program: Sequence[str], *, never: bool) -> None:
    """Refuse --dry-run after the program, which would receive it as an argument.

    Args:
        program: Command line of the program.
        never: Whether to refuse it even after `--`, where it clearly belongs to the program.

    Raises:
        UsageError: It is there; the message says where to write it.
    """
    own = click.get_current_context().meta.get(DASHES, False)
    if "--dry-run" in program[1:] and (never or not own):
        remedy = "start it from a script" if never else "put -- before the program"
        raise UsageError(
            "--dry-run comes after the program and would be passed to it: put it before the "
            f"program; nothing was run (if it is the program's own: {remedy})"
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
