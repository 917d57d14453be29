# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The main group: loads a command's module only when that command is used."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from stripewise import __version__
from stripewise.cli._common import examples, exit_code_of

COMMANDS = {
    "tune": "Find settings that make a program's I/O faster.",
    "run": "Run a program under settings and show what was observed.",
    "trace": "Record what a program does to its files, call by call.",
    "profile": "Show what a run did to its files, what it cost, what to do.",
    "pattern": "Show in which pattern the ranks access each dataset.",
    "kernel": "Run the I/O benchmark kernels.",
    "metadata": "Time operations on files and directories, each by itself.",
    "layout": "Show and set how files lie on the targets of emulated storage.",
    "simulate": "Predict what I/O takes on a described storage, and what limits it.",
    "surface": "Measure every configuration of a given space.",
    "bench": "Measure what a storage can do: campaigns, limits, comparisons.",
    "advise": "Tell users of a storage what to do, each with its figure.",
    "db": "Keep the statistics of jobs in a database.",
    "monitor": "Watch what storage counts, for Prometheus and others.",
    "train": "Measure kernels under many settings, for models of performance.",
    "model": "List, show, validate and export models of performance.",
    "convert": "Write a job script for a burst buffer, or revert one.",
    "config": "Show, convert and check configurations.",
    "knowledge": "List and exchange the results of earlier studies.",
    "tunables": "List the tunables: values, defaults, safety.",
    "strategies": "List the search strategies and their options.",
    "machine": "List, show, check and measure descriptions of storage.",
    "serve": "Show the statistics database to everybody: the portal.",
    "runtime": "Build the runtime library and list what is built.",
    "site": "Gather what decides how Stripewise can be used at a site.",
    "doctor": "Check what works on this machine.",
    "completion": "Print a shell's completion script.",
}
"""Command to its one-line help, in the order of `stripewise --help`."""

_MODULES = {
    "advise": "_bench_report",
    "completion": "_common",
    "layout": "_emulation",
    "metadata": "_kernel",
    "model": "_train",
    "pattern": "_profile",
    "runtime": "_doctor",
    "serve": "_portal",
    "site": "_doctor",
    "strategies": "_tune",
    "tunables": "_config",
}
"""Modules of the commands that share one with others; all others have one of their own name."""

# At the end all memory goes back at once; to search it for cycles first would cost 10 ms.
atexit.register(gc.freeze)


class LazyGroup(click.Group):
    """A group whose commands are the functions `<name>_command` of the modules beside this one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        name = _MODULES.get(cmd_name, f"_{cmd_name}")
        module = importlib.import_module(f"stripewise.cli.{name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; a misspelt one gets close matches."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run, and leave with an exit code and at most one line of error."""
        words = list(sys.argv[1:] if args is None else args)
        # For this process's numpy, which would start a thread on each processor.  `os.environ`,
        # which the user's program gets, stays as it was.
        os.putenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))
        extra["standalone_mode"] = False
        try:
            outcome = super().main(args=words, prog_name=prog_name or "stripewise", **extra)
        except Exception as error:
            sys.exit(exit_code_of(error, words))
        sys.exit(outcome if isinstance(outcome, int) else 0)


@click.command(
    "stripewise",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
    epilog=examples(
        "stripewise doctor",
        "stripewise tune -- mpiexec -n 4 ./program output.h5",
        "stripewise run --config program.stripewise/best.toml -- mpiexec -n 4 ./program out.h5",
    ),
)
@click.version_option(__version__, prog_name="stripewise", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of errors.")
def main() -> None:
    """Parallel I/O, measured and tuned.

    Takes the command line of an unmodified program, finds settings that make its I/O
    measurably faster, and applies them without recompiling.
    """
