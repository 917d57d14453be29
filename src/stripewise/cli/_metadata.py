# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise metadata`: what names cost on a file system, timed operation by operation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from stripewise.cli._common import echo, examples, json_option, note, print_json
from stripewise.cli._on import emulation_options, storage_to_emulate

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedStorage
    from stripewise.runtime import InPlaceRun, Runtime


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "stripewise metadata -n 4 --directory /scratch/me --files 10000",
        "stripewise metadata -n 4 --sharing own --file-bytes 3901 --fsync",
        "stripewise metadata -n 4 --depth 3 --width 4 --spread leaves --random",
        "stripewise metadata -n 4 --files 1000000 --stonewall 30 --json > metadata.json",
        "stripewise metadata -n 32 --mpi openmpi --on archer2-hdd@1/64 --files 20",
        "stripewise metadata -- --help                 # the program's own options",
        'srun -N 8 --ntasks-per-node 16 "$(stripewise metadata --path)" --files 10000',
    ),
)
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of ranks.",
)
@click.option(
    "--mpi",
    "family",
    metavar="NAME",
    help="Whose program to run: mpich or openmpi, or as `stripewise runtime list` says "
    "(openmpi-5).  [default: the first one that is built]",
)
@click.option(
    "--launcher-option",
    "launcher_options",
    multiple=True,
    metavar="WORD",
    help="Option for mpiexec, placed before the program (repeatable).",
)
@click.option(
    "--path",
    "only_path",
    is_flag=True,
    help="Print the path of the program for the MPI of `mpiexec` (or --mpi), and stop.",
)
@emulation_options()
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--] [OPTION...]")
def command(
    ranks: int,
    family: str | None,
    launcher_options: tuple[str, ...],
    only_path: bool,
    as_json: bool,
    arguments: tuple[str, ...],
    **given: Any,
) -> None:
    """Time operations on files and directories: create, stat, read, remove, rename, list.

    Each operation is timed by itself on every rank: the result has rates, and how long half,
    90 %, 99 % and 99.9 % of the operations took at most.  What this command does not know is
    passed on to the program; `stripewise metadata -- --help` lists its options.  All files lie
    in a new directory, which is removed afterwards.  The exit code is the program's: 1 if an
    operation failed, 2 for an impossible request.

    With --on, the directory behaves as on that storage, and rates are those of its slow motion.
    """
    from stripewise.runtime import (
        built_program,
        find_launcher,
        find_runtime,
        kernel_of_mpiexec,
        mpiexec_words,
    )

    runtime = find_runtime()
    ranks_per_node = given["ranks_per_node"]
    storage, root = storage_to_emulate(given, sync=False)
    if only_path:
        family = family or kernel_of_mpiexec(runtime)
    chosen, program = built_program(runtime, runtime.metadata_programs, "metadata program", family)
    if only_path:
        click.echo(os.fsencode(program))
        return
    words = mpiexec_words(find_launcher(chosen), ranks, launcher_options)
    words += [str(program), *arguments]
    if storage is not None:
        words += () if "--node-ranks" in arguments else ("--node-ranks", str(ranks_per_node or 1))
        _emulated(words, runtime, storage, root, as_json=as_json)
    from stripewise.cli._kernel import call_program, warn_of_sharing

    warn_of_sharing(ranks)
    click.get_current_context().exit(call_program([*words, *(("--json", "-") if as_json else ())]))


def _emulated(
    words: Sequence[str],
    runtime: Runtime,
    storage: EmulatedStorage,
    root: Path | None,
    *,
    as_json: bool,
) -> NoReturn:
    """Run on emulated storage, say what it saw, and exit with the program's code."""
    from stripewise.errors import ProgramError
    from stripewise.model import Configuration
    from stripewise.owned import temporary_directory
    from stripewise.report import emulation_lines, observation
    from stripewise.runtime import run_in_place

    with temporary_directory("metadata") as scratch:
        record = scratch / "metadata.json"
        more = ("--json", str(record), "--quiet") if as_json else ()
        done = run_in_place([*words, *more], runtime, storage=storage, root=root)
        if as_json and record.is_file():
            print_json(with_emulation(record, done))
    seen = observation(done, Configuration(), storage=storage)
    for line in emulation_lines(done.emulated) if done.emulated and not as_json else ():
        echo(line, err=True)
    for text in seen.warnings:
        note(text, kind="warning")
    for text in seen.errors:
        note(text, kind="error")
    failed = ProgramError.exit_code if seen.errors else 0
    click.get_current_context().exit(done.shell_exit_code or failed)


def with_emulation(record: Path, done: InPlaceRun) -> dict[str, Any]:
    """Return the program's document, and that its storage was emulated."""
    from stripewise.inputs import RESULTS, parse_json, read_input

    document: dict[str, Any] = parse_json(read_input(record, RESULTS).decode("utf-8"))
    found = done.emulated
    if found is not None:
        document["emulated"] = {
            "storage": found.storage,
            "machine": found.machine,
            "slowdown": found.slowdown,
            "ranks_per_node": found.ranks_per_node,
            "counted": not found.problem,
            "problem": found.problem,
        }
    return document
