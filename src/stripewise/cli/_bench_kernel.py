# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the I/O kernels, and times operations on files and directories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import click

from stripewise.cli._common import echo, note, note_all, print_json
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import (
    emulation_options,
    json_option,
    launcher_words_option,
    storage_to_emulate,
)
from stripewise.core.errors import ProgramError, StripewiseError, UsageError

if TYPE_CHECKING:
    from stripewise.run.runtime import InPlaceRun, Runtime
    from stripewise.storage.emulation import EmulatedStorage


_mpi = option(
    "--mpi",
    "family",
    metavar="NAME",
    help="MPI to use: mpich, openmpi, or a name of `stripewise doctor runtime` such as "
    "openmpi-5  [default: the first one that is built]",
)
_path = option(
    "--path",
    "only_path",
    is_flag=True,
    help="Print the path of the program for the MPI of `mpiexec` (or --mpi), and stop.",
)


@command(
    "kernel",
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "stripewise bench kernel -n 4 --pattern array3d --backend mpiio --verify",
        "stripewise bench kernel -n 2 --mpi mpich --pattern btio --size 64,64,64",
        "stripewise bench kernel -n 2 --json --pattern flash --backend hdf5 --steps 3",
        "stripewise bench kernel -n 2 --backend adios2 --engine BP5 --open-once",
        "stripewise bench kernel -n 4 --pattern blocks --transfer 1MiB --stonewall 30",
        "stripewise bench kernel -- --help               # the kernel's own options",
        'mpiexec -n 4 "$(stripewise bench kernel --path)" --pattern btio',
        "stripewise bench kernel --from program.trace   # without the program",
        "stripewise bench kernel --from program.trace --compute none --keep",
    ),
)
@option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of ranks  [default: 2; with --from, that of the trace]",
)
@option(
    "--from",
    "trace",
    type=click.Path(path_type=Path, readable=False),
    metavar="TRACE",
    help="Replay the I/O of a traced program.  Takes --np N, --compute keep|none|FACTOR (time "
    "between calls), --file DIR (for its files), and --keep.",
)
@_mpi
@launcher_words_option()
@_path
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--] [KERNEL OPTION...]")
def kernel_command(
    ranks: int | None,
    trace: Path | None,
    family: str | None,
    launcher_options: tuple[str, ...],
    only_path: bool,
    as_json: bool,
    arguments: tuple[str, ...],
) -> None:
    """Run an I/O benchmark kernel: the pattern of a simulation code, through any I/O library.

    Unknown options are passed on to the kernel.  The exit code is the kernel's: 1 if a call
    failed or an element is wrong, 2 if the request is impossible.

    With --from, makes the calls of a trace instead: the same requests by as many ranks, at the
    same distances in time.  Its files go to a new directory, which is removed afterwards.
    """
    from stripewise.run.runtime import (
        built_program,
        find_launcher,
        find_runtime,
        kernel_of_mpiexec,
        mpiexec_words,
    )

    runtime = find_runtime()
    if trace is not None:
        _replay(runtime, trace, family, ranks, launcher_options, arguments, as_json=as_json)
    ranks = ranks or 2
    if only_path:
        family = family or kernel_of_mpiexec(runtime)
    chosen, program = built_program(runtime, runtime.kernels, "kernel", family)
    if only_path:
        click.echo(os.fsencode(program))
        return
    words = mpiexec_words(find_launcher(chosen), ranks, launcher_options)
    words += [str(program), *arguments, *(("--json", "-") if as_json else ())]
    warn_of_sharing(ranks)
    click.get_current_context().exit(call_program(words))


def warn_of_sharing(ranks: int) -> None:
    processors = len(os.sched_getaffinity(0))
    if ranks > processors:
        note(
            f"{ranks} ranks share {processors} processors: the figures are not representative",
            kind="warning",
        )


def _replay(
    runtime: Runtime,
    trace: Path,
    family: str | None,
    ranks: int | None,
    launcher_options: tuple[str, ...],
    arguments: Sequence[str],
    *,
    as_json: bool,
) -> NoReturn:
    """Run the I/O of a trace and exit with the replay program's code."""
    from stripewise.run.runtime import (
        Replay,
        check_ranks,
        find_launcher,
        mpiexec_words,
        read_plan,
        replay_program,
    )

    options = replay_options(arguments)
    plan = read_plan(trace)
    for text in plan.notes:
        note(text, kind="note")
    check_ranks(plan, options["ranks"])
    check_ranks(plan, ranks)
    chosen, program = replay_program(runtime, family or plan.mpi)
    with replay_directory(options["directory"], keep=options["keep"]) as directory:
        launcher = mpiexec_words(find_launcher(chosen), plan.n_ranks, launcher_options)
        replay = Replay(plan, directory, program, launcher, options["compute"])
        replay.prepare()
        warn_of_sharing(plan.n_ranks)
        code = call_program(replay.command(*(("--json", "-") if as_json else ())))
    click.get_current_context().exit(code)


@command("--from", add_help_option=False)
@option("--compute", default="keep")
@option("--file", "directory", type=click.Path(path_type=Path))
@option("-np", "--np", "ranks", type=click.IntRange(min=1))
@option("--keep", is_flag=True)
def _of_a_replay(**given: object) -> None:
    """Parse the options of a replay; this command is never invoked."""


def replay_options(arguments: Sequence[str]) -> dict[str, Any]:
    """Parse the words after `--from` that the command itself does not know.

    Raises:
        UsageError: One of them is not an option of a replay.
    """
    from stripewise.run.runtime import check_compute

    try:
        given = _of_a_replay.make_context("bench kernel --from", list(arguments)).params
    except click.UsageError as error:
        raise UsageError(
            f"{error.format_message()} (with --from: --compute, --file, --np and --keep)"
        ) from error
    check_compute(given["compute"])
    return given


@contextmanager
def replay_directory(named: Path | None, *, keep: bool) -> Iterator[Path]:
    """Yield the directory of a replay, which is removed afterwards unless the user named it."""
    from stripewise.core import OwnedDirectory

    if named is not None:
        yield named.absolute()
        return
    made = OwnedDirectory.take(Path.cwd() / f"stripewise-replay.{uuid4().hex[:8]}", "replay")
    try:
        yield made.path
    finally:
        if keep:
            note(f"the files of the replay are in {made.path}")
        else:
            with suppress(StripewiseError):
                made.discard()


def call_program(words: Sequence[str]) -> int:
    """Run words with this process's standard streams; after an interrupt, wait for their end."""
    from stripewise.run.runtime import launch_environment

    try:
        process = subprocess.Popen(words, env=launch_environment())
    except OSError as error:
        raise ProgramError(f"{words[0]} cannot be started: {error.strerror}") from error
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            continue
        return 128 - code if code < 0 else code


# `stripewise bench metadata`: costs of metadata operations on a file system.


@command(
    "metadata",
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "stripewise bench metadata -n 4 --directory /scratch/me --files 10000",
        "stripewise bench metadata -n 4 --depth 3 --width 4 --spread leaves --random",
        "stripewise bench metadata -n 32 --on archer2-hdd@1/64 --files 20",
        "stripewise bench metadata -- --help             # the program's own options",
        'srun -N 8 "$(stripewise bench metadata --path)" --files 10000',
    ),
)
@option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of ranks.",
)
@_mpi
@launcher_words_option()
@_path
@emulation_options
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--] [OPTION...]")
def metadata_command(
    ranks: int,
    family: str | None,
    launcher_options: tuple[str, ...],
    only_path: bool,
    as_json: bool,
    arguments: tuple[str, ...],
    **given: Any,
) -> None:
    """Time operations on files and directories: create, stat, read, remove, rename, list.

    Each operation is timed by itself on every rank: the result has rates, and the times within
    which half, 90 %, 99 % and 99.9 % of the operations ended.  Unknown options are passed on to
    the program.  All files lie in a new directory, which is removed afterwards.  The exit code is
    the program's: 1 if an operation failed, 2 if the request is impossible.

    With --on, the directory behaves as on that storage; rates include its slowdown.
    """
    from stripewise.run.runtime import (
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
    """Run on emulated storage, report what it recorded, and exit with the program's code."""
    from stripewise.core import Configuration, temporary_directory
    from stripewise.core.errors import ProgramError
    from stripewise.run import emulation_lines, observation
    from stripewise.run.runtime import run_in_place

    with temporary_directory("metadata") as scratch:
        record = scratch / "metadata.json"
        more = ("--json", str(record), "--quiet") if as_json else ()
        done = run_in_place([*words, *more], runtime, storage=storage, root=root)
        if as_json and record.is_file():
            print_json(with_emulation(record, done))
    seen = observation(done, Configuration(), storage=storage)
    for line in emulation_lines(done.emulated) if done.emulated and not as_json else ():
        echo(line, err=True)
    note_all(seen.warnings, seen.errors)
    failed = ProgramError.exit_code if seen.errors else 0
    click.get_current_context().exit(done.shell_exit_code or failed)


def with_emulation(record: Path, done: InPlaceRun) -> dict[str, Any]:
    """Return the program's document with a record of the emulated storage."""
    from stripewise.core.inputs import RESULTS, parse_json, read_input

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
