# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise surface`: measure a stated subspace exhaustively, and look at one."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._arguments import Duration, Numbers
from stripewise.cli._common import (
    EXIT_INTERRUPTED,
    allow_outside_option,
    answer,
    directory_option,
    examples,
    file_option,
    input_option,
    json_option,
    no_sync_option,
    note,
    program_argument,
)
from stripewise.cli._emulation import emulation_options, study_storage
from stripewise.cli._scripts import ProgramCommand, refuse_dry_run, refuse_scripts

if TYPE_CHECKING:
    from stripewise.study.surfaces import RecordingOptions, Surface

_file_option = partial(file_option, type=click.Path(path_type=Path, dir_okay=False))


@click.group(
    epilog=examples(
        "stripewise surface record -o btio.jsonl --vary mca.io=romio321 -- mpiexec -n 2 ./btio",
        "stripewise surface show btio.jsonl",
    ),
)
def surface_command() -> None:
    """Measure every configuration of a given space and report the best possible gain.

    A recorded surface keeps every run with its noise.  Search strategies are compared on
    such files without running anything again.
    """


@surface_command.command(
    "record",
    cls=ProgramCommand,
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise surface record -o a.jsonl --vary mpiio.romio_ds_write=disable \\",
        "    --vary mpiio.ind_wr_buffer_size=1MiB,4MiB -- mpiexec -n 2 ./program",
        "stripewise surface record -o b.jsonl --vary hdf5.alignment=64KiB:64KiB,1MiB:1MiB \\",
        "    --vary mpiio.cb_nodes=2 -- mpiexec -n 2 ./program out.h5",
        "stripewise surface record -o a.jsonl --resume",
    ),
)
@_file_option("-o", "--output", required=True, help="File for the surface, with one line per run.")
@click.option(
    "--vary",
    multiple=True,
    metavar="TUNABLE=V1,V2",
    help="Values of a tunable to measure besides its default (repeatable).  Join the numbers of a "
    "list by `:`, and separate texts that contain a comma by `;`.",
)
@_file_option("--spec", help="TOML file with a table [vary]: tunable = [values].")
@click.option(
    "--repeats",
    type=int,
    default=5,
    show_default=True,
    help="Number of runs of each configuration.",
)
@click.option(
    "--configurations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Measure so many configurations, spread over the space, instead of all.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random order.")
@click.option(
    "--control-every",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Insert a run of the default after every N runs; 0 inserts none.",
)
@no_sync_option
@click.option(
    "--timeout", type=Duration(), metavar="TIME", help="Time limit of one run, such as 90s."
)
@input_option
@allow_outside_option
@directory_option(
    "--work-dir",
    help="Directory for the runs: they write in FILE.stripewise there, which is removed at the "
    "end  [default: the directory of FILE]",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted recording.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be run, and which of your own files it would change; run nothing.",
)
@click.option(
    "--ranks-per-node",
    type=Numbers(),
    default=(),
    metavar="N",
    help="With --on: number of ranks on each virtual node  [default: 1]",
)
@emulation_options(in_study=True)
@json_option
@program_argument
def record(
    as_json: bool,
    program: tuple[str, ...],
    vary: tuple[str, ...],
    spec: Path | None,
    dry_run: bool,
    **given: Any,
) -> None:
    """Run COMMAND under every configuration of the given values, several times each.

    The runs are made in rounds.  Each round runs every configuration once, in a new random
    order, so that drift of the machine affects all of them alike.  Every run is in FILE as soon
    as it has ended.  Configurations in which a setting cannot act beside another are left out
    and counted.

    Every run works in a copy of this directory.  A command that would change other files of
    yours is refused, unless --allow-outside names them.
    """
    from stripewise.cli._vary import parse_spec, parse_vary
    from stripewise.study.surfaces import RecordingOptions

    refuse_scripts(program, "surface record")
    refuse_dry_run(program, never=True)
    storage = study_storage(given)
    given.pop("ranks_per_node")
    options = RecordingOptions(
        command=program,
        storage=storage,
        vary={**(parse_spec(spec) if spec else {}), **parse_vary(vary)},
        sync=not given.pop("no_sync"),
        timeout_seconds=given.pop("timeout"),
        configurations=given.pop("configurations") or 0,
        work_directory=given.pop("work_dir"),
        **given,
    )
    if dry_run:
        _show_plan(options, as_json)
    else:
        _show(_record(options), options.output, as_json)


def _show_plan(options: RecordingOptions, as_json: bool) -> None:
    from stripewise.cli._progress import SurfaceProgress
    from stripewise.study.surfaces import (
        plan_recording,
        recording_ahead_json,
        recording_ahead_lines,
    )

    plan = plan_recording(options, SurfaceProgress(sys.stderr))
    answer(as_json, lambda: recording_ahead_json(plan), lambda: recording_ahead_lines(plan))


def _record(options: RecordingOptions) -> Surface:
    from stripewise.cli._progress import SurfaceProgress
    from stripewise.study.surfaces import record_surface

    progress = SurfaceProgress(sys.stderr)
    try:
        return record_surface(options, progress)
    except KeyboardInterrupt:
        progress.close()
        words = [word for path in options.allow_outside for word in ("--allow-outside", str(path))]
        note(
            "interrupted; no finished run is lost; go on with: stripewise surface record "
            + shlex.join(["-o", str(options.output), "--resume", *words])
        )
        click.get_current_context().exit(EXIT_INTERRUPTED)
    finally:
        progress.close()


@surface_command.command(
    "show",
    epilog=examples(
        "stripewise surface show btio.jsonl",
        "stripewise surface show btio.jsonl --picture btio.svg",
        "stripewise surface show btio.jsonl --json",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@_file_option(
    "--picture", help="Draw the sorted medians with their spread into FILE (.svg, .png or .pdf)."
)
@json_option
def show(file: Path, picture: Path | None, as_json: bool) -> None:
    """Show the optimum, the default, the noise, and the effect of each tunable."""
    from stripewise.study.surfaces import Surface

    surface = Surface.load(file)
    if picture is not None:
        from stripewise.study.surfaces import draw_surface

        draw_surface(surface, picture, file.stem)
    _show(surface, file, as_json)


def _show(surface: Surface, file: Path, as_json: bool) -> None:
    from stripewise.study.surfaces import surface_lines, surface_to_json

    answer(as_json, lambda: surface_to_json(surface), lambda: surface_lines(surface, file.name))
