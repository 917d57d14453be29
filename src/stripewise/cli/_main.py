# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the main group, which loads a command's module only when the command is used."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import get_completion_class

from stripewise import __version__
from stripewise.cli._common import exit_code_of
from stripewise.cli._help import Group, examples

GROUPS = {
    "Your program": {
        "tune": "Find settings that make a program's I/O faster.",
        "run": "Run a program under given settings and show what was observed.",
        "profile": "Show what a program did to its files, its cost, and what to do.",
    },
    "A storage": {
        "bench": "Measure what a storage system can do.",
        "simulate": "Predict how long I/O takes on a described storage.",
        "machine": "Describe storage systems: list, show, check, measure, fit.",
    },
    "A centre": {
        "centre": "Keep, show and monitor the I/O of all jobs of a centre.",
    },
    "For all of these": {
        "settings": "Show, check and convert settings; list what can be set.",
        "knowledge": "List, share and train what is known about programs and storage.",
        "doctor": "Check what works on this machine; build what is missing.",
    },
}
"""Commands with their one-line help, by heading, in the order of `stripewise --help`."""
COMMANDS = {name: text for members in GROUPS.values() for name, text in members.items()}
_MOVED = {
    "bench": "advise kernel metadata report",
    "centre": "monitor serve",
    "doctor": "runtime site",
    "knowledge": "model train",
    "machine": "layout",
    "settings": "strategies tunables",
}
"""Group to the former commands that became its members."""
FORMER_COMMANDS = {
    **{name: f"{group} {name}" for group, names in _MOVED.items() for name in names.split()},
    "completion": "--completion",
    "config": "settings",
    "convert": "settings script",
    "db": "centre",
    "monitor check": "doctor monitor",
    "pattern": "profile --as pattern",
    "runtime build": "doctor build",
    "runtime list": "doctor runtime",
    "site check": "doctor site",
    "surface": "tune --strategy exhaustive",
    "trace": "run --trace",
    "trace collect": "profile --collect",
    "trace export": "profile --export",
    "trace info": "profile --as info",
    "trace show": "profile --as calls",
    "web": "centre serve",
}
"""Command of earlier versions to the command that replaces it."""
_MORE_HELP = (
    ("stripewise COMMAND --help", "purpose, main options and examples"),
    ("stripewise COMMAND --help-all", "all options, in groups"),
    ("stripewise --completion bash", "completion in your shell"),
)

# All memory is released at exit anyway; searching it for cycles first would cost 10 ms.
atexit.register(gc.freeze)


class LazyGroup(Group):
    """A group whose commands are the functions `NAME_command` of the modules `_NAME` here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"stripewise.cli._{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command; report the new name of a former one, and close matches of others.

        Raises:
            click.UsageError: There is no such command.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            for former in (" ".join(args[:2]), args[0]):
                if new := FORMER_COMMANDS.get(former):
                    raise click.UsageError(
                        f"`stripewise {former}` is now `stripewise {new}`"
                    ) from None
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands first."""
        self.format_commands(ctx, formatter)
        super(Group, self).format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups without importing them, then how to get more help."""
        for heading, members in GROUPS.items():
            with formatter.section(heading):
                width = max(map(len, COMMANDS))
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in members.items()])
        with formatter.section("More help"):
            formatter.write_dl(_MORE_HELP)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run a command, and exit with its code and at most one line of error."""
        words = list(sys.argv[1:] if args is None else args)
        # This is for numpy in this process, which would start a thread on each processor.
        # `os.environ`, which the user's program inherits, is not changed.
        os.putenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))
        extra["standalone_mode"] = False
        try:
            outcome = super().main(args=words, prog_name=prog_name or "stripewise", **extra)
        except Exception as error:
            sys.exit(exit_code_of(error, words))
        sys.exit(outcome if isinstance(outcome, int) else 0)


def _print_completion(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Print the completion script of a shell, and exit."""
    del param
    if value is None or ctx.resilient_parsing:
        return
    found = get_completion_class(value)
    assert found is not None  # click defines the shells
    complete = found(ctx.command, {}, "stripewise", "_STRIPEWISE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
    ctx.exit()


@click.command(
    "stripewise",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=examples(
        "stripewise doctor",
        "stripewise tune -- mpiexec -n 4 ./program out.h5",
        "stripewise run --config program.stripewise/best.toml -- ./program out.h5",
        'eval "$(stripewise --completion bash)"            # in ~/.bashrc',
    ),
)
@click.version_option(__version__, prog_name="stripewise", message="%(prog)s %(version)s")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    is_eager=True,
    expose_value=False,
    callback=_print_completion,
    help="Print the script that makes a shell complete commands.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of errors.")
def main() -> None:
    """Find settings that make the I/O of parallel programs faster.

    Takes the command line of an unmodified program, finds settings that make its I/O
    measurably faster, and applies them without recompiling.
    """
