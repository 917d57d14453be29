# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise train`: measure a designed set of configurations for models of performance."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import (
    EXIT_INTERRUPTED,
    allow_outside_option,
    answer,
    examples,
    file_option,
    json_option,
    note,
)
from stripewise.cli._completion import complete_machine
from stripewise.cli._layout import Size
from stripewise.cli._tune_words import Duration, Numbers
from stripewise.errors import StripewiseError, UsageError

if TYPE_CHECKING:
    from stripewise.training import Fits, Trained, TrainingOptions


@click.command(
    epilog=examples(
        "stripewise train --on hopper@1/16 --ranks 8 --budget 20min",
        "stripewise train --on edison --simulate --ranks 512,1024,2048",
        "stripewise train --here --patterns vpic,gcrm --ranks 2,4 -o /scratch/me/training",
        "stripewise train --on site.toml --simulate --patterns 'vorpal --steps 20' --ranks 256",
        "stripewise train --from surfaces/",
    )
)
@click.option(
    "--on",
    "machine",
    metavar="MACHINE[@1/N]",
    shell_complete=complete_machine,
    help="Emulate this storage under the kernels, or simulate it with --simulate.",
)
@click.option("--here", is_flag=True, help="Measure the storage that -o lies on.")
@click.option("--simulate", is_flag=True, help="With --on: compute all times; run nothing.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Make the models from the surfaces and studies in DIR; run nothing.",
)
@click.option(
    "--patterns",
    multiple=True,
    metavar="KERNELS",
    help="Kernels with commas between them, or one kernel with its options (repeatable).  "
    "[default: vpic,vorpal,gcrm]",
)
@click.option("--ranks", type=Numbers(), default=(), metavar="N,N", help="Numbers of ranks.")
@click.option(
    "--ranks-per-node",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ranks on each node of the described storage.  [default: 1; with --simulate, as many as "
    "fit]",
)
@click.option(
    "--size",
    "sizes",
    type=Size(),
    multiple=True,
    metavar="BYTES",
    help="Data of each rank, about (repeatable: each size is measured).  [default: 4 MiB; with "
    "--simulate, the published sizes]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    metavar="N",
    default=3,
    show_default=True,
    help="Number of runs of each configuration.",
)
@click.option(
    "--configurations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Configurations of each kernel at the smallest number of ranks; fewer at larger ones.  "
    "[default: 336, then 180, then 96]",
)
@click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="Time that all runs together may take; fewer configurations are measured for it.",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="TUNABLE=V1,V2",
    help="Values of a tunable to measure, instead of the published ladders (repeatable).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random choices.")
@click.option(
    "--mpi",
    "family",
    metavar="NAME",
    help="MPI whose kernel runs, as `stripewise runtime list` names it.",
)
@click.option("--mpiexec", metavar="PROGRAM", default="", help="Launcher of that MPI.")
@click.option(
    "--launcher-option",
    "launcher_options",
    multiple=True,
    metavar="WORD",
    help="Option for the launcher, placed before the program (repeatable).",
)
@click.option(
    "--stack", metavar="NAME", default="", help="With --simulate: software stack, such as cray."
)
@click.option("--transport", metavar="NAME", default="", help="With --on: network setup.")
@click.option("--noise", is_flag=True, help="With --on: vary from run to run as it does.")
@file_option(
    "-o",
    "--output",
    "directory",
    help="Directory of the training.  [default: one named after the storage]",
)
@allow_outside_option
@json_option
@click.pass_context
def command(
    context: click.Context, /, as_json: bool, source: Path | None, here: bool, **given: Any
) -> None:
    """Measure how settings act on a storage, and make models of it for all later programs.

    Benchmark kernels are run under configurations that are spread over the published ladders of
    stripe count, stripe size and aggregators: many where a run is cheap, fewer at scale.  Every
    run is kept as it ends.  The same command goes on after an interruption.
    """
    _check(context, given["machine"], here, source, simulate=given["simulate"])
    if source is not None:
        _from_earlier(source, as_json)
        return
    from stripewise.performance import made_home

    options = _options(**given)
    made_home()  # hours of runs are not to end with models that cannot be kept
    trained = _trained(options)
    from stripewise.report import fits_json, fits_lines, training_json, training_lines
    from stripewise.training import fit_models, read_evidence

    fits = fit_models(*read_evidence(trained.surfaces, trained.plan.options.directory))
    kept = _kept(fits)
    answer(
        as_json,
        lambda: {**training_json(trained), **fits_json(fits, kept)},
        lambda: (*training_lines(trained), *fits_lines(fits, kept)),
    )


def _kept(fits: Fits) -> int:
    """Keep the best settings of each pattern; a store that cannot be written is a warning."""
    from stripewise.training import keep_lessons

    try:
        return keep_lessons(fits.evidence)
    except StripewiseError as error:
        note(f"the best settings of the patterns are not kept: {error}", kind="warning")
        return 0


_RUNS = ("family", "mpiexec", "launcher_options", "noise", "allow_outside")
_SIMULATIONS = ("stack",)


def _check(
    context: click.Context, machine: str | None, here: bool, source: Path | None, *, simulate: bool
) -> None:
    """Refuse options that contradict one another, and those that would have no effect.

    Raises:
        UsageError: There are such.
    """
    if (machine is not None) + here + (source is not None) != 1:
        raise UsageError("give one of --on MACHINE, --here and --from DIR: what is measured")
    if simulate and machine is None:
        raise UsageError("--simulate needs a described storage: give --on MACHINE")
    commandline = click.core.ParameterSource.COMMANDLINE
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is not commandline:
            continue
        if source is not None and name not in ("source", "as_json"):
            raise UsageError(f"--from measures nothing: leave {option.opts[-1]} out")
        if name in (_RUNS if simulate else _SIMULATIONS):
            how = "without" if simulate else "with"
            raise UsageError(f"{option.opts[-1]} goes {how} --simulate; leave one of them out")
        if here and name in ("transport", "ranks_per_node", "noise"):
            raise UsageError(f"{option.opts[-1]} goes with --on MACHINE; leave it out")


def _from_earlier(source: Path, as_json: bool) -> None:
    from stripewise.report import fits_json, fits_lines
    from stripewise.training import find_evidence, fit_models

    fits = fit_models(*find_evidence(source))
    kept = _kept(fits)
    answer(as_json, lambda: fits_json(fits, kept), lambda: fits_lines(fits, kept))


def _options(
    machine: str | None,
    patterns: tuple[str, ...],
    ranks: tuple[int, ...],
    ranks_per_node: int | None,
    sizes: tuple[int, ...],
    vary: tuple[str, ...],
    directory: Path | None,
    family: str | None,
    mpiexec: str,
    launcher_options: tuple[str, ...],
    **given: Any,
) -> TrainingOptions:
    from stripewise.cli._vary import parse_vary
    from stripewise.jobs import is_remote
    from stripewise.training import (
        PATTERNS,
        SMALL_BYTES,
        TrainingOptions,
        kernel_program,
        kernel_words,
        sized,
    )

    simulate = given["simulate"]
    if not ranks:
        raise UsageError("give --ranks: at which scales to measure, such as --ranks 4,8")
    sizes = sizes or ((0,) if simulate else (SMALL_BYTES,))
    words = kernel_words(patterns or PATTERNS)
    launcher, kernel = (
        ((), "") if simulate else kernel_program(family, mpiexec, ranks, launcher_options)
    )
    return TrainingOptions(
        directory=(directory or Path(_usual_name(machine, simulate))).absolute(),
        machine=machine or "",
        kernels=tuple(dict.fromkeys(sized(one, size) for one in words for size in sizes)),
        ranks=ranks,
        ranks_per_node=ranks_per_node or 0,
        repeats=given.pop("repeats"),
        configurations=given.pop("configurations") or 0,
        budget_seconds=given.pop("budget"),
        vary=parse_vary(vary),
        launcher=launcher,
        kernel=kernel,
        allow_outside=tuple(
            path if is_remote(str(path)) else path.absolute()
            for path in given.pop("allow_outside")
        ),
        **given,
    )


def _usual_name(machine: str | None, simulate: bool) -> str:
    """Return the directory's usual name: hopper-1_16.training, edison-simulated.training."""
    described, _, slowdown = (machine or "here").partition("@1/")
    slow = f"-1_{slowdown}" if slowdown else ""
    way = "-simulated" if simulate else ""
    return f"{Path(described).name.removesuffix('.toml')}{slow}{way}.training"


def _trained(options: TrainingOptions) -> Trained:
    from stripewise.cli._train_progress import TrainingProgress
    from stripewise.training import train

    progress = TrainingProgress(sys.stderr)
    try:
        return train(options, progress)
    except KeyboardInterrupt:
        progress.close()
        note("interrupted; no finished run is lost; the same command goes on from here")
        click.get_current_context().exit(EXIT_INTERRUPTED)
    finally:
        progress.close()
