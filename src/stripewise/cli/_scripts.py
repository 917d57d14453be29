# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells job scripts and shell scripts from programs, and has the options for job scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stripewise.cli._arguments import Duration, Numbers
from stripewise.cli._emulation import Size
from stripewise.core.errors import UsageError
from stripewise.core.inputs import open_input

if TYPE_CHECKING:
    from stripewise.study.plan import JobOptions


F = TypeVar("F", bound=Callable[..., Any])

_NODE_HOURS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(?:nh|node-?hours?)?", re.IGNORECASE)


class NodeHours(click.ParamType[float]):
    """Node-hours such as 40, 40node-hours or 2.5nh."""

    name = "node-hours"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return node-hours."""
        if isinstance(value, float):
            return value
        match = _NODE_HOURS.fullmatch(str(value).strip())
        if match is None or not 0 < float(match[1]) < inf:
            self.fail(f"{value!r} is no number of node-hours; write 40node-hours", param, ctx)
        return float(match[1])


_OPTIONS = (
    click.option("--budget", "node_hours", type=NodeHours(), metavar="NODE-HOURS",
                 help="Job script: maximum node-hours of all jobs, such as 40node-hours."),
    click.option("--dry-run", is_flag=True,
                 help="Job script: show what would be submitted and what it may cost; submit "
                 "nothing."),
    click.option("--step", type=click.IntRange(1), metavar="N",
                 help="Job script: number of the launch line to tune, where it has several."),
    click.option("--tier", default="auto", metavar="NAME", show_default=True,
                 help="Job script: kind of burst buffer: datawarp, lua, rabbit, directory, none."),
    click.option("--pool", default="", metavar="NAME",
                 help="Job script: pool of the burst buffer  [default: the site's]"),
    click.option("--persistent", default="", metavar="NAME",
                 help="Job script: existing persistent burst buffer to run on."),
    click.option("--bb-nodes", type=Numbers(), default=(), metavar="N,N",
                 help="Job script: numbers of burst-buffer nodes to try  "
                 "[default: 1x, 2x, 4x ... of what the job needs, as many as are free]"),
    click.option("--bb-capacity", "capacity_bytes", type=Size(), default=0, metavar="SIZE",
                 help="Job script: capacity that the job needs on the burst buffer."),
    click.option("--granularity", "granularity_bytes", type=Size(), default=0, metavar="SIZE",
                 help="Job script: granularity of the pool, where Slurm does not say it."),
    click.option("--free-nodes", type=click.IntRange(0), metavar="N",
                 help="Job script: free nodes of the pool, where Slurm does not say it."),
    click.option("--access", type=click.Choice(["striped", "private"]), default="striped",
                 show_default=True, help="Job script: access mode of the burst buffer."),
    click.option("--stage-in", default="", metavar="DIR",
                 help="Job script: directory that run.tuned.sh copies to the burst buffer  "
                 "[default: that of the job]"),
    click.option("--stage-out", default="", metavar="DIR",
                 help="Job script: directory to which run.tuned.sh copies the results  "
                 "[default: that of the job]"),
    click.option("--template", default="", metavar="FILE",
                 help="Job script: the site's directives, with --tier lua."),
    click.option("--place", default="", metavar="DIR",
                 help="Job script: with --tier directory, where it is in each job, such as "
                 "'$TMPDIR' or '/flash/$USER'; with --tier lua, the variable that names it."),
    click.option("--hybrid", type=click.Choice(["auto", "redirect", "links"]), default="auto",
                 show_default=True,
                 help="Job script: how large files alone get onto the burst buffer: the library "
                 "redirects their paths, or links lead there; auto: what the site prefers."),
    click.option("--job-per-run", "per_run", is_flag=True,
                 help="Job script: submit a job for each run, not many runs in one allocation."),
    click.option("--allocation-time", "allocation_seconds", type=Duration(), metavar="TIME",
                 help="Job script: time limit of an allocation in which several runs are made."),
    click.option("--resources", is_flag=True,
                 help="Job script: try fewer ranks and more threads as well, see --min-nodes."),
    click.option("--min-nodes", type=click.IntRange(0), default=0, metavar="N",
                 help="Job script: with --resources, the least number of compute nodes  "
                 "[default: 1]"),
)  # fmt: skip
_BESIDE = ("node_hours", "dry_run")
_NO_OPTIONS = ("script", "words", "digest")


def job_options(function: F) -> F:
    """Add the options for job scripts to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def is_job_script(word: str) -> bool:
    """Whether a word on the command line names a script with directives for Slurm.

    Raises:
        UsageError: It names one for another batch system.
    """
    from stripewise.run.jobs import job_script_heading

    heading = job_script_heading(Path(word))
    if heading is None:
        return False
    heading.refuse_foreign(word)
    return heading.is_slurm


class TuneCommand(click.Command):
    """Takes its options behind a job script too: `tune run.sh --budget 40node-hours`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move a job script behind the options that follow it.

        Raises:
            UsageError: It stands behind `--`, or words for it do not; or it is for another batch
                system.
        """
        own = args[: args.index("--")] if "--" in args else list(args)
        rest, after = self._program(ctx, own), args[len(own) + 1 :]
        if rest and not ctx.resilient_parsing and is_job_script(rest[0]):
            head, behind = own[: len(own) - len(rest)], rest[1:]
            ctx.meta["stripewise.script"] = rest[0]
            if left := self._program(ctx, behind):
                raise click.UsageError(
                    f"{left[0]!r} behind the job script is no option; words for the script "
                    f"itself stand behind --: tune {rest[0]} -- {left[0]}"
                )
            args = [*head, *behind, "--", *after]
        return super().parse_args(ctx, args)

    def _program(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words that are no options."""
        values, _, _ = self.make_parser(ctx).parse_args(list(args))
        words = values.get("program")
        return list(words) if isinstance(words, list | tuple) else []


def take_job(given: dict[str, Any], script: str) -> JobOptions | None:
    """Take the options for job scripts out of a command's arguments; None without a script.

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
        raise UsageError(
            f"{_spelt(wanting[0])} goes with a job script: stripewise tune run.sh; a script "
            "has #! in its first line and #SBATCH directives"
        )
    return None


def _spelt(name: str) -> str:
    spelt = {"per_run": "--job-per-run", "node_hours": "--budget",
             "capacity_bytes": "--bb-capacity", "granularity_bytes": "--granularity",
             "allocation_seconds": "--allocation-time"}  # fmt: skip
    return spelt.get(name, "--" + name.replace("_", "-"))


# Scripts in the place of a program: refused where a batch system should have run them.
#
# A program that is no script costs a look at its first bytes.

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
        from stripewise.run.jobs import check_command

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
