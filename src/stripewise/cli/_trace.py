# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a program does call by call, and shows and exports traces."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import (
    answer,
    echo,
    evidence_argument,
    examples,
    json_option,
    note,
    print_json,
    sync_option,
)
from stripewise.cli._emulation import emulation_options, storage_to_emulate
from stripewise.cli._scripts import DASHES, refuse_dry_run, refuse_scripts
from stripewise.core.errors import ProgramError, StorageError, TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.evidence.trace import Trace


# `stripewise trace info`, `show`, `export` and `collect`.

_LAYERS = ("adios2", "hdf5", "pnetcdf", "mpiio", "stdio", "posix")


@click.command(
    "info",
    epilog=examples(
        "stripewise trace info program.trace",
        "stripewise trace info --json job.darshan",
    ),
)
@evidence_argument
@click.option("--all", "everything", is_flag=True, help="Show every file.")
@json_option
def info(paths: tuple[Path, ...], everything: bool, as_json: bool) -> None:
    """Say what is in a trace: processes, calls, files, what was lost, its size.

    PATH is a trace's directory, or anything else that Stripewise reads (a Darshan log, a
    Recorder directory, ...).
    """
    from stripewise.evidence.readers import read_evidence
    from stripewise.evidence.report import info_lines, trace_info

    found = trace_info(read_evidence(paths), sum(_size(path) for path in paths))
    answer(as_json, lambda: found, lambda: info_lines(found, everything=everything))


@click.command(
    "show",
    epilog=examples(
        "stripewise trace show program.trace --limit 100",
        "stripewise trace show program.trace --rank 0 --layer hdf5 --file out.h5",
        "stripewise trace show program.trace --calls --json",
    ),
)
@evidence_argument
@click.option("--rank", "ranks", type=int, multiple=True, help="Rank to include (repeatable).")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATTERN",
    help="Only files whose path has this in it, or matches it (repeatable).",
)
@click.option(
    "--layer",
    "layers",
    type=click.Choice(_LAYERS),
    multiple=True,
    help="Only this layer (repeatable).",
)
@click.option("--calls", is_flag=True, help="Expand folded records: one line per call.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N at most  [default: 50; without limit with --json]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document a line.")
def show(
    paths: tuple[Path, ...],
    ranks: tuple[int, ...],
    files: tuple[str, ...],
    layers: tuple[str, ...],
    calls: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show the calls of a trace, in order of time.

    A folded run of equal calls is one line that says how many there were, how far apart, and
    the time that they took together.  With --json there is a JSON document for each, one a line.
    """
    from stripewise.evidence.report import row_as_json, select_rows, table_lines
    from stripewise.evidence.trace import expand

    trace = _trace_of(paths)
    rows = select_rows(trace, ranks=ranks, files=files, layers=layers)
    if calls:
        rows = expand(trace, rows)
        rows = rows[rows["start_ns"].argsort(kind="stable")]
    if as_json:
        for row in rows[:limit]:
            print_json(row_as_json(trace, row), indent=None)
        return
    most = 50 if limit is None else limit
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines(trace, rows[:most], width):
        echo(line)
    if len(rows) > most:
        note(f"{len(rows) - most} more; --limit {len(rows)} shows all", kind="note")


@click.command(
    "export",
    epilog=examples(
        "stripewise trace export program.trace -o program.parquet",
        "stripewise trace export program.trace -o timeline.json   # for ui.perfetto.dev",
        "stripewise trace export program.trace -o calls.parquet --calls --rank 0",
    ),
)
@evidence_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write: NAME.parquet, or NAME.json for a timeline in Perfetto or Chrome.",
)
@click.option("--calls", is_flag=True, help="Expand folded records: one line per call.")
@click.option("--rank", "ranks", type=int, multiple=True, help="Rank to include (repeatable).")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATTERN",
    help="Files to include: part of the path, or a pattern.",
)
def export(
    paths: tuple[Path, ...],
    output: Path,
    calls: bool,
    ranks: tuple[int, ...],
    files: tuple[str, ...],
) -> None:
    """Write a trace as Parquet, or as a timeline in the trace-event format."""
    from stripewise.evidence.report import select_rows, write_parquet, write_trace_events
    from stripewise.evidence.trace import expand

    writers = {".parquet": write_parquet, ".json": write_trace_events}
    write = writers.get(output.suffix.lower())
    if write is None:
        raise UsageError(f"{output}: the name must end in .parquet or .json")
    trace = _trace_of(paths)
    rows = select_rows(trace, ranks=ranks, files=files) if ranks or files else trace.rows
    rows = expand(trace, rows) if calls else rows
    write(trace, rows, output)
    note(f"{len(rows)} {'calls' if calls else 'records'} in {output}")


@click.command(
    "collect",
    epilog=examples(
        "srun --ntasks-per-node=1 stripewise trace collect /local/$SLURM_JOB_ID -o app.trace",
        "stripewise trace collect node1.sw node2.sw -o app.trace",
    ),
)
@click.argument(
    "sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE..."
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory for the copies; several nodes may collect into it at once.",
)
@json_option
def collect(sources: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Copy containers from where the nodes wrote them into one directory.

    Run it on every node as the last step of the job, after the program has ended.  Each copy
    appears whole or not at all, readable by its owner alone; the sources stay.  Containers of
    different runs are refused.
    """
    from stripewise.evidence.readers import collect_containers
    from stripewise.present import plural

    copies = collect_containers(sources, output)
    if as_json:
        print_json({"copied": [str(copy) for copy in copies]})
        return
    note(f"{plural(len(copies), 'container')} copied to {output}")


def _trace_of(paths: tuple[Path, ...]) -> Trace:
    from stripewise.evidence.readers import read_evidence

    evidence = read_evidence(paths)
    if evidence.trace is None:
        raise TraceError(
            f"{paths[0]} has counters but no single calls; `stripewise trace` records them"
        )
    return evidence.trace


def _size(path: Path) -> int:
    """Bytes of a file, or of the files in a directory and below."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


# `stripewise trace`: record what a program does, call by call, and look at it.

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
def trace_command(
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
    from stripewise.core import Configuration
    from stripewise.run.runtime import find_runtime, run_in_place

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
    from stripewise.run import emulation_lines, headline, observation

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
    trace_command.add_command(_subcommand)


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
    from stripewise.run.runtime import program_name

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
