# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench surface`: measure a stated subspace exhaustively, and look at one."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, interruptible
from stripewise.cli._help import examples, group, has_options, option
from stripewise.cli._options import (
    Numbers,
    allow_outside_option,
    directory_option,
    emulation_options_of_study,
    file_option,
    input_option,
    json_option,
    no_sync_option,
    program_argument,
    seed_option,
    study_storage,
    timeout_option,
    vary_option,
)
from stripewise.cli._scripts import ProgramCommand, refuse_dry_run, refuse_scripts

if TYPE_CHECKING:
    from stripewise.study.surfaces import RecordingOptions, Surface

_file_option = partial(file_option, type=click.Path(path_type=Path, dir_okay=False))


@group(
    "surface",
    epilog=examples(
        "stripewise bench surface record -o a.jsonl --vary mca.io=romio321 -- ./btio",
        "stripewise bench surface show a.jsonl",
    ),
)
def surface_command() -> None:
    """Measure every configuration of a given space and report the best possible gain.

    A recorded surface keeps every run with its noise.  Search strategies are compared on
    such files without running anything again.
    """


_plan = partial(option, group="What is measured")
_record_options = has_options(
    _file_option("-o", "--output", required=True,
        help="File for the surface, with one line per run."),
    vary_option(metavar="TUNABLE=V1,V2", group="What is measured",
        help="Values of a tunable to measure besides its default (repeatable).  Join the numbers "
        "of a list by `:`, and separate texts that contain a comma by `;`."),
    _file_option("--spec", group="What is measured",
        help="TOML file with a table [vary]: tunable = [values]."),
    _plan("--repeats", type=int, default=5, show_default=True, metavar="N",
        help="Number of runs of each configuration."),
    _plan("--configurations", type=click.IntRange(min=1), metavar="N",
        help="Measure N configurations, spread over the space, instead of all."),
    _plan("--control-every", type=click.IntRange(min=0), default=20, show_default=True,
        metavar="N", rare=True,
        help="Insert a run of the default after every N runs; 0 inserts none."),
    seed_option(group="What is measured", help="Seed of the random order."),
    no_sync_option,
    timeout_option,
    input_option,
    allow_outside_option,
    directory_option("--work-dir", group="How runs are made", rare=True,
        help="Directory for the runs: they write to FILE.stripewise there, which is removed at "
        "the end  [default: the directory of FILE]"),
    option("--resume", is_flag=True, help="Continue an interrupted recording."),
    option("--dry-run", is_flag=True,
        help="Show what would be run, and which of your own files it would change; run "
        "nothing."),
    option("--ranks-per-node", type=Numbers(), default=(), metavar="N", rare=True,
        group="Emulated storage",
        help="With --on: number of ranks on each virtual node  [default: 1]"),
    emulation_options_of_study,
    json_option,
)  # fmt: skip


@surface_command.command(
    "record",
    cls=ProgramCommand,
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise bench surface record -o a.jsonl \\",
        "    --vary mpiio.ind_wr_buffer_size=1MiB,4MiB -- mpiexec -n 2 ./program",
        "stripewise bench surface record -o b.jsonl --vary mpiio.cb_nodes=2 \\",
        "    --vary hdf5.alignment=64KiB:64KiB,1MiB:1MiB -- mpiexec -n 2 ./program",
        "stripewise bench surface record -o a.jsonl --resume",
    ),
)
@_record_options
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
    order, so that drift of the machine affects all of them alike.  Every run is written to FILE
    as soon as it has ended.  Configurations in which one setting disables another are left out
    and counted.

    Every run works in a copy of this directory.  A command that would change other files of
    yours is refused, unless --allow-outside names them.
    """
    from stripewise.settings.tunables import parse_spec, parse_vary
    from stripewise.study.surfaces import RecordingOptions

    refuse_scripts(program, "bench surface record")
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
    words = [word for path in options.allow_outside for word in ("--allow-outside", str(path))]
    own = shlex.join(["-o", str(options.output), "--resume", *words])
    with interruptible(progress, f"stripewise bench surface record {own}"):
        return record_surface(options, progress)


@surface_command.command(
    "show",
    epilog=examples(
        "stripewise bench surface show a.jsonl",
        "stripewise bench surface show a.jsonl --picture a.svg",
        "stripewise bench surface show a.jsonl --json",
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

    found = Surface.load(file)
    if picture is not None:
        from stripewise.study.surfaces import draw_surface

        draw_surface(found, picture, file.stem)
    _show(found, file, as_json)


def _show(surface: Surface, file: Path, as_json: bool) -> None:
    from stripewise.study.surfaces import surface_lines, surface_to_json

    answer(as_json, lambda: surface_to_json(surface), lambda: surface_lines(surface, file.name))
