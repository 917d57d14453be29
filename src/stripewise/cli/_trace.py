# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise trace`: record what a program does, call by call, and look at it."""

from __future__ import annotations

import difflib
import os
import shutil
from pathlib import Path
from typing import Any

import click

from stripewise.cli._common import echo, examples, json_option, note, print_json, sync_option
from stripewise.cli._on import emulation_options, storage_to_emulate
from stripewise.cli._scripts import DASHES, refuse_dry_run, refuse_scripts
from stripewise.cli._trace_view import collect, export, info, show
from stripewise.errors import ProgramError, StorageError, UsageError

_PROGRAM = "stripewise.trace.program"


class TraceGroup(click.Group):
    """A group with a program behind `--`, which it runs itself, or else a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the program off, behind `--` or not; a subcommand's name is no program."""
        rest = self._behind_options(ctx, args)
        own = args[: len(args) - len(rest)]
        if own[-1:] == ["--"] or (rest and self._is_program(rest[0])):
            ctx.meta[DASHES] = "--" in (*own[-1:], *rest[:1])
            ctx.meta[_PROGRAM] = tuple(rest[1:] if rest[:1] == ["--"] else rest)
            return super().parse_args(ctx, own)
        return super().parse_args(ctx, args)

    def _behind_options(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return what follows the group's own options."""
        probe = click.Context(self, ctx.parent, ctx.info_name, resilient_parsing=True)
        probe.allow_interspersed_args = False
        _, rest, _ = self.make_parser(probe).parse_args(list(args))
        return rest

    def _is_program(self, word: str) -> bool:
        return word not in self.commands and (shutil.which(word) is not None or "/" in word)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand; what is none was meant to be one, or to be a program."""
        if args[0] not in self.commands:
            refuse_scripts(args, "trace", once=True)
            close = difflib.get_close_matches(args[0], self.commands, n=1)
            if close:
                raise UsageError(f"no such subcommand: {args[0]}; did you mean {close[0]}?")
            raise UsageError(
                f"{args[0]!r} is no subcommand ({', '.join(self.commands)}); a program to be "
                f"traced stands behind --: stripewise trace -- {' '.join(args[:3])} ..."
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=TraceGroup,
    invoke_without_command=True,
    subcommand_metavar="-- COMMAND... | SUBCOMMAND [ARGS]...",
    epilog=examples(
        "stripewise trace -- mpiexec -n 4 ./program output.h5",
        "stripewise trace -o run1.trace --all -- srun ./program",
        "stripewise trace info program.trace",
        "stripewise trace show program.trace --rank 0 --layer mpiio",
        "stripewise trace export program.trace -o timeline.json",
    ),
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory for the trace  [default: PROGRAM.trace, or PROGRAM-2.trace, ...]",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Record every call by itself instead of folding equal calls.",
)
@click.option(
    "--local",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory into which each node writes and which exists on all of them; `trace collect` "
    "then brings the files together.",
)
@sync_option
@emulation_options()
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: Path | None,
    every: bool,
    local: Path | None,
    sync: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run COMMAND unmodified, in place, and record what it does to its files, call by call.

    The trace is a directory with one file per node, which only its owner can read; a file takes at
    most 1 GiB (STRIPEWISE_RUN_BYTES), and processes beyond that are only counted.  Equal calls
    at a regular stride become one record.  `stripewise profile` and `stripewise pattern` read
    it.  COMMAND keeps its standard streams, and its exit code becomes the exit code (128 + the
    signal if a signal ended it).

    Options of Stripewise stand before COMMAND; whatever follows COMMAND belongs to it.  The
    `--` before COMMAND may be left out, unless COMMAND is called like a subcommand.
    """
    if ctx.invoked_subcommand is not None:
        return
    program: tuple[str, ...] = ctx.meta.get(_PROGRAM, ())
    if not program:
        raise UsageError(
            "nothing to trace; give a command: stripewise trace -- mpiexec -n 4 ./app"
        )
    refuse_scripts(program, "trace", once=True)
    refuse_dry_run(program, never=False)
    if output is not None and local is not None:
        raise UsageError("-o and --local exclude each other: `trace collect -o DIR` comes later")
    from stripewise.model import Configuration
    from stripewise.runtime import find_runtime, run_in_place

    storage, root = storage_to_emulate(given, sync=sync)
    runtime = find_runtime()
    directory = _local_directory(local) if local else new_directory(output, program)
    try:
        done = run_in_place(
            program,
            runtime,
            sync=sync,
            capture="all" if every else "fold",
            containers=directory,
            storage=storage,
            root=root,
        )
    finally:
        if local is None and not any(directory.iterdir()):
            directory.rmdir()
    from stripewise.report import emulation_lines, headline, observation

    seen = observation(done, Configuration(), captured=True, storage=storage)
    for text in seen.warnings:
        note(text, kind="warning")
    for text in seen.errors:
        note(text, kind="error")
    kept = directory if directory.is_dir() else None
    if as_json:
        print_json({**seen.as_json(), "trace": str(kept) if kept else None}, indent=None)
    elif kept and len(done.profile.counters):
        for line in (headline(seen), *(emulation_lines(done.emulated) if done.emulated else ())):
            echo(line, err=True)
        note(what_next(kept, local))
    ctx.exit(done.shell_exit_code or (ProgramError.exit_code if seen.errors else 0))


for _subcommand in (info, show, export, collect):
    command.add_command(_subcommand)


def what_next(directory: Path, local: Path | None = None) -> str:
    """Say where a trace is and how to look at it."""
    shown = os.path.relpath(directory)
    if local is not None:
        return (
            f"the trace is in {local} of each node; collect it there: stripewise trace collect "
            f"{local} -o NAME.trace"
        )
    return f"trace in {shown}; look at it: stripewise profile {shown}"


def new_directory(output: Path | None, program: tuple[str, ...]) -> Path:
    """Make a trace's directory, for its owner alone: the named one, or PROGRAM.trace.

    Raises:
        UsageError: It holds something already.
        StorageError: It cannot be made.
    """
    from stripewise.runtime import program_name

    try:
        if output is not None:
            output.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(output.iterdir()):
                raise UsageError(f"{output} is not empty: name another directory with -o")
            return output
        name = program_name(program)
        for number in range(1, 10_000):
            directory = Path(f"{name}.trace" if number == 1 else f"{name}-{number}.trace")
            try:
                directory.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise StorageError(
            f"no directory for the trace: {error.strerror}: {error.filename}; -o names another"
        ) from error
    raise UsageError(f"{name}.trace and thousands of others exist: name one with -o")


def _local_directory(local: Path) -> Path:
    """Check a directory that every node has."""
    if not local.is_dir():
        raise UsageError(f"{local} is no directory on this node: make it on every node first")
    if any(local.glob("*.sw")):
        raise UsageError(f"{local} holds containers of another run: collect or remove them")
    return local
