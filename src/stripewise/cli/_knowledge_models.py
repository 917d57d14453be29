# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trains models of performance, and lists, validates and exports them."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, interruptible, note, print_json
from stripewise.cli._help import command, examples, group, has_options, option
from stripewise.cli._options import (
    Duration,
    Numbers,
    Size,
    allow_outside_option,
    complete_machine,
    directory_option,
    file_option,
    json_option,
    launcher_words_option,
    seed_option,
    vary_option,
)
from stripewise.core.errors import StripewiseError, UsageError

if TYPE_CHECKING:
    from stripewise.learning.performance import Loaded, Model, Validated
    from stripewise.study.training import Fits, Trained, TrainingOptions


_what = partial(option, group="What is measured")
_run = partial(option, group="How runs are made", rare=True)
_train_options = has_options(
    option("--on", "machine", metavar="MACHINE[@1/N]", shell_complete=complete_machine,
        help="Emulate this storage under the kernels, or simulate it with --simulate."),
    option("--here", is_flag=True, help="Measure the file system of the directory given with -o."),
    option("--simulate", is_flag=True, help="With --on: compute all times; run nothing."),
    option("--from", "source", type=click.Path(path_type=Path), metavar="DIR",
        help="Make the models from the surfaces and studies in DIR; run nothing."),
    _what("--patterns", multiple=True, metavar="KERNELS",
        help="Kernels separated by commas, or one kernel with its options (repeatable)  "
        "[default: vpic,vorpal,gcrm]"),
    _what("--ranks", type=Numbers(), default=(), metavar="N,N", help="Numbers of ranks."),
    _what("--ranks-per-node", type=click.IntRange(min=1), metavar="N", rare=True,
        help="Ranks on each node of the described storage  [default: 1; with --simulate, as many "
        "as fit]"),
    _what("--size", "sizes", type=Size(), multiple=True, metavar="BYTES", rare=True,
        help="Approximate data of each rank (repeatable: each size is measured)  [default: "
        "4 MiB; with --simulate, the published sizes]"),
    _what("--repeats", type=click.IntRange(min=1), metavar="N", default=3, show_default=True,
        help="Number of runs of each configuration."),
    _what("--configurations", type=click.IntRange(min=1), metavar="N",
        help="Configurations of each kernel at the smallest number of ranks; fewer at larger "
        "ones  [default: 336, then 180, then 96]"),
    _what("--budget", type=Duration(), metavar="TIME",
        help="Maximum time of all runs together; fewer configurations are measured to stay within "
            "it."),
    vary_option(metavar="TUNABLE=V1,V2", group="What is measured", rare=True,
        help="Values of a tunable to measure, instead of the published ladders (repeatable)."),
    seed_option(group="What is measured"),
    _run("--mpi", "family", metavar="NAME",
        help="MPI to use, as `stripewise doctor runtime` names it."),
    _run("--mpiexec", metavar="PROGRAM", default="", help="Launcher of that MPI."),
    launcher_words_option(group="How runs are made", rare=True),
    allow_outside_option,
    option("--stack", metavar="NAME", default="", group="Described storage", rare=True,
        help="With --simulate: software stack, such as cray."),
    option("--transport", metavar="NAME", default="", group="Described storage", rare=True,
        help="With --on: network setup."),
    option("--noise", is_flag=True, group="Described storage", rare=True,
        help="With --on: vary the speed from run to run as that storage does."),
    directory_option("-o", "--output", "directory",
        help="Directory of the training  [default: one named after the storage]"),
    json_option,
)  # fmt: skip


@command(
    "train",
    epilog=examples(
        "stripewise knowledge train --on hopper@1/16 --ranks 8 --budget 20min",
        "stripewise knowledge train --on edison --simulate --ranks 512,1024,2048",
        "stripewise knowledge train --here --patterns vpic,gcrm --ranks 2,4",
        "stripewise knowledge train --from surfaces/",
    ),
)
@_train_options
@click.pass_context
def train_command(
    context: click.Context, /, as_json: bool, source: Path | None, here: bool, **given: Any
) -> None:
    """Measure how settings act on a storage system, and make models of it for later programs.

    Runs benchmark kernels under configurations that are spread over the published ladders of
    stripe count, stripe size and aggregators: many where a run is cheap, fewer at scale.  Every
    run is kept as it ends.  The same command continues after an interruption.
    """
    _check(context, given["machine"], here, source, simulate=given["simulate"])
    if source is not None:
        _from_earlier(source, as_json)
        return
    from stripewise.learning.performance import make_home

    options = _options(**given)
    make_home()  # check before hours of runs that the models can be stored
    trained = _trained(options)
    from stripewise.study.training import (
        fit_models,
        fits_json,
        fits_lines,
        read_evidence,
        training_json,
        training_lines,
    )

    fits = fit_models(*read_evidence(trained.surfaces, trained.plan.options.directory))
    kept = _kept(fits)
    answer(
        as_json,
        lambda: {**training_json(trained), **fits_json(fits, kept)},
        lambda: (*training_lines(trained), *fits_lines(fits, kept)),
    )


def _kept(fits: Fits) -> int:
    """Store the best settings of each pattern; only warn if the store cannot be written."""
    from stripewise.study.training import keep_lessons

    try:
        return keep_lessons(fits.evidence)
    except StripewiseError as error:
        note(f"the best settings of the patterns could not be saved: {error}", kind="warning")
        return 0


_RUNS = ("family", "mpiexec", "launcher_options", "noise", "allow_outside")
_SIMULATIONS = ("stack",)


def _check(
    context: click.Context, machine: str | None, here: bool, source: Path | None, *, simulate: bool
) -> None:
    """Refuse options that contradict each other or would have no effect.

    Raises:
        UsageError: There are such options.
    """
    if (machine is not None) + here + (source is not None) != 1:
        raise UsageError("give --on MACHINE, --here or --from DIR, which says what is measured")
    if simulate and machine is None:
        raise UsageError("--simulate needs a described storage: give --on MACHINE")
    commandline = click.core.ParameterSource.COMMANDLINE
    for one in context.command.params:
        name = one.name or ""
        if context.get_parameter_source(name) is not commandline:
            continue
        if source is not None and name not in ("source", "as_json"):
            raise UsageError(f"--from makes no measurements: leave {one.opts[-1]} out")
        if name in (_RUNS if simulate else _SIMULATIONS):
            how = "without" if simulate else "with"
            raise UsageError(f"{one.opts[-1]} can only be used {how} --simulate")
        if here and name in ("transport", "ranks_per_node", "noise"):
            raise UsageError(f"{one.opts[-1]} requires --on MACHINE; leave it out")


def _from_earlier(source: Path, as_json: bool) -> None:
    from stripewise.study.training import find_evidence, fit_models, fits_json, fits_lines

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
    from stripewise.run.shell import is_remote
    from stripewise.settings.tunables import parse_vary
    from stripewise.study.training import (
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
    from stripewise.cli._progress import TrainingProgress
    from stripewise.study.training import train as train_models

    progress = TrainingProgress(sys.stderr)
    with interruptible(progress, "the same command"):
        return train_models(options, progress)


# `stripewise knowledge model`: the stored models of performance.

_picture = file_option(
    "--picture", help="Draw predicted against measured into FILE (.svg, .png, .pdf)."
)


@group(
    "model",
    epilog=examples(
        "stripewise knowledge model list",
        "stripewise knowledge model show 3fa2 --picture model.svg",
        "stripewise knowledge model validate 3fa2 --from surfaces/",
        "stripewise knowledge model export 3fa2 > model.json",
    ),
)
def model_command() -> None:
    """List, show, validate and export models of performance.

    `stripewise knowledge train` makes them; `stripewise tune` and `stripewise run --auto` use
    those that hold.  Each is one file in $STRIPEWISE_MODELS, or in stripewise/models in
    $XDG_DATA_HOME (~/.local/share); the site's are read as well.
    """


@model_command.command("list", epilog=examples("stripewise knowledge model list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the models, with their errors on patterns that they were not fitted to."""
    from stripewise.learning.performance import models_json, models_lines, own_models

    found = _loaded()
    answer(
        as_json,
        lambda: models_json(found.models, found.paths),
        lambda: models_lines(found.models, found.paths, own_models()),
    )


@model_command.command(
    epilog=examples(
        "stripewise knowledge model show 3fa2", "stripewise knowledge model show 3fa2 --json"
    )
)
@click.argument("model")
@_picture
@json_option
def show(model: str, picture: Path | None, as_json: bool) -> None:
    """Show MODEL: terms, errors, and where it holds; the first digits of its name are enough."""
    from stripewise.learning.performance import model_json, model_lines

    found, path = _find(model)
    answer(as_json, lambda: model_json(found), lambda: model_lines(found, path))
    _draw(found, found.points, picture)


@model_command.command(
    epilog=examples(
        "stripewise knowledge model validate 3fa2",
        "stripewise knowledge model validate 3fa2 --from surfaces/",
    )
)
@click.argument("model")
@option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Surface, or directory of surfaces and studies, to predict (repeatable).  "
    "[default: what was left out in training]",
)
@_picture
@json_option
def validate(model: str, sources: tuple[Path, ...], picture: Path | None, as_json: bool) -> None:
    """Compare what MODEL predicts with what was measured."""
    from stripewise.core import to_json
    from stripewise.learning.performance import Validated, validated_lines

    found, _ = _find(model)
    judged = _against(found, sources) if sources else Validated(found.scores, found.points, ())
    answer(
        as_json,
        lambda: {"scores": to_json(judged.scores), "refused": list(judged.refused)},
        lambda: validated_lines(judged),
    )
    _draw(found, judged.points, picture)


@model_command.command(epilog=examples("stripewise knowledge model export 3fa2 > model.json"))
@click.argument("model")
def export(model: str) -> None:
    """Write MODEL as JSON to standard output; in the directory of models, the file is a model."""
    from stripewise.learning.performance import model_to_json

    print_json(model_to_json(_find(model)[0]), indent=1)


def _loaded() -> Loaded:
    from stripewise.learning.performance import load_models, own_models, site_models
    from stripewise.settings import load_policy

    found = load_models((own_models(), *site_models(load_policy().models)))
    for warning in found.warnings:
        note(warning, kind="warning")
    return found


def _find(digits: str) -> tuple[Model, Path]:
    """Return the only model whose name begins with given digits.

    Raises:
        UsageError: There is none, or there are several.
    """
    from stripewise.learning.performance import model_id

    loaded = _loaded()
    pairs = zip(loaded.models, loaded.paths, strict=True)
    found = [pair for pair in pairs if digits and model_id(pair[0]).startswith(digits)]
    if len({model_id(model) for model, _ in found}) != 1:
        names = ", ".join(model_id(model) for model, _ in found)
        which = f"several models begin with {digits!r}: {names}" if found else (
            f"no model is called {digits!r}"
        )  # fmt: skip
        raise UsageError(f"{which}; `stripewise knowledge model list` shows them")
    return found[0]


def _against(model: Model, sources: tuple[Path, ...]) -> Validated:
    from stripewise.learning.performance import validated
    from stripewise.study.training import find_evidence, read_evidence

    samples = []
    for source in sources:
        is_directory = source.is_dir()
        found, refused = find_evidence(source) if is_directory else read_evidence([source], source)
        for line in refused:
            note(line, kind="warning")
        for one in found:
            if why := model.ground.why_not(one.ground):
                note(f"{one.path} is ignored: the model does not apply to it: {why}")
            else:
                samples += list(one.samples)
    if known := sorted({one.name for one in samples if one.name} & set(model.programs)):
        note(
            f"{', '.join(known)} was used in training as well; `stripewise knowledge model "
            "validate` without --from tests the model on patterns that it was not fitted to"
        )
    return validated(model, samples)


def _draw(model: Model, points: tuple[tuple[str, float, float], ...], path: Path | None) -> None:
    if path is None:
        return
    from stripewise.learning.performance import draw_model

    draw_model(points, path, f"{model.pattern_class}, {model.ground}: I/O time")
    note(f"wrote {path}")
