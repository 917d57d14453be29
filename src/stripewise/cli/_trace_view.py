# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise trace info`, `show`, `export` and `collect`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import (
    answer,
    echo,
    evidence_argument,
    examples,
    json_option,
    note,
    print_json,
)
from stripewise.errors import TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.model import Trace

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
    from stripewise.readers import read_evidence
    from stripewise.report import info_lines, trace_info

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
    from stripewise.readers import expand
    from stripewise.report import row_as_json, select_rows, table_lines

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
    from stripewise.readers import expand
    from stripewise.report import select_rows, write_parquet, write_trace_events

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
    from stripewise.readers import collect_containers
    from stripewise.report import plural

    copies = collect_containers(sources, output)
    if as_json:
        print_json({"copied": [str(copy) for copy in copies]})
        return
    note(f"{plural(len(copies), 'container')} copied to {output}")


def _trace_of(paths: tuple[Path, ...]) -> Trace:
    from stripewise.readers import read_evidence

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
