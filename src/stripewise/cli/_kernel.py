# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise kernel`: the benchmark kernels, each built for one MPI."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import click

from stripewise.cli._common import examples, json_option, note
from stripewise.errors import ProgramError, StripewiseError, UsageError

if TYPE_CHECKING:
    from stripewise.runtime import Runtime


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "stripewise kernel -n 4 --pattern array3d --backend mpiio --mode collective --verify",
        "stripewise kernel -n 2 --mpi mpich --pattern btio --backend mpiio --size 64,64,64",
        "stripewise kernel -n 2 --json --pattern flash --backend hdf5 --steps 3 --compute 0.5",
        "stripewise kernel -n 2 --mpi openmpi --backend adios2 --engine BP5 --open-once",
        "stripewise kernel -n 2 --pattern wrf --backend posix --layout per-node",
        "stripewise kernel -n 4 --pattern gcrm --local 1,26,4096 --distribution '*,*,CYCLIC(64)'",
        "stripewise kernel -n 4 --pattern blocks --local 33554432 --transfer 1MiB --backend posix",
        "stripewise kernel -n 4 --pattern blocks --transfer 1MiB --stonewall 30 --op write-read",
        "stripewise kernel -n 2 --backend posix --op write-read --drop-caches --read-shift 1",
        "stripewise kernel -n 2 --pattern blocks --backend posix --direct --transfer 4MiB",
        "stripewise kernel -- --help                   # the kernel's own options",
        'mpiexec -n 4 "$(stripewise kernel --path --mpi openmpi)" --pattern btio',
        "stripewise kernel --from program.trace         # its I/O without the program",
        "stripewise kernel --from program.trace --compute none --file /scratch/replay --json",
    ),
)
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of ranks  [default: 2; with --from, that of the trace]",
)
@click.option(
    "--from",
    "trace",
    type=click.Path(path_type=Path, readable=False),
    metavar="TRACE",
    help="Replay the I/O of a traced program; takes --np N, --compute keep|none|FACTOR of the "
    "time between calls, --file DIR for its files, and --keep.",
)
@click.option(
    "--mpi",
    "family",
    metavar="NAME",
    help="Whose kernel to run: mpich or openmpi, or as `stripewise runtime list` says "
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
    help="Print the path of the kernel program for the MPI of `mpiexec` (or --mpi), and stop.",
)
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--] [KERNEL OPTION...]")
def command(
    ranks: int | None,
    trace: Path | None,
    family: str | None,
    launcher_options: tuple[str, ...],
    only_path: bool,
    as_json: bool,
    arguments: tuple[str, ...],
) -> None:
    """Run an I/O benchmark kernel: patterns of simulation codes, through each I/O library.

    What this command does not know is passed on to the kernel.  The exit code is the
    kernel's: 1 if a call failed or an element is wrong, 2 for an impossible request.

    With --from it makes the calls of a trace instead: the same requests by as many ranks, at the
    same distances in time.  Its files go to a new directory, which is removed afterwards.
    """
    from stripewise.runtime import (
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
            f"{ranks} ranks share {processors} processors: the figures say little",
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
    from stripewise.replay import Replay, check_ranks, read_plan, replay_program
    from stripewise.runtime import find_launcher, mpiexec_words

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


@click.command("--from", add_help_option=False)
@click.option("--compute", default="keep")
@click.option("--file", "directory", type=click.Path(path_type=Path))
@click.option("-np", "--np", "ranks", type=click.IntRange(min=1))
@click.option("--keep", is_flag=True)
def _of_a_replay(**given: object) -> None:
    """Parse; it is never invoked."""


def replay_options(arguments: Sequence[str]) -> dict[str, Any]:
    """Read the words behind `--from` that the command itself does not know.

    Raises:
        UsageError: One of them is no option of a replay.
    """
    from stripewise.replay import check_compute

    try:
        given = _of_a_replay.make_context("kernel --from", list(arguments)).params
    except click.UsageError as error:
        raise UsageError(
            f"{error.format_message()} (with --from: --compute, --file, --np and --keep)"
        ) from error
    check_compute(given["compute"])
    return given


@contextmanager
def replay_directory(named: Path | None, *, keep: bool) -> Iterator[Path]:
    """Give the directory of a replay; one that nobody named is removed afterwards."""
    from stripewise.owned import OwnedDirectory

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
    """Run with our standard streams; an interrupt reaches the launcher too, so wait for it."""
    from stripewise.runtime import launch_environment

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
