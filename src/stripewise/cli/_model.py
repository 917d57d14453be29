# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise model`: the models of performance that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import (
    answer,
    examples,
    file_option,
    json_option,
    note,
    print_json,
)
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from stripewise.performance import Loaded, Model, Validated

_picture = file_option(
    "--picture", help="Draw predicted against measured into FILE (.svg, .png, .pdf)."
)


@click.group(
    epilog=examples(
        "stripewise model list",
        "stripewise model show 3fa2 --picture model.svg",
        "stripewise model validate 3fa2 --from surfaces/",
        "stripewise model export 3fa2 > model.json",
    )
)
def command() -> None:
    """List, show, validate and export models of performance.

    `stripewise train` makes them; `stripewise tune` and `stripewise run --auto` use those that
    hold.  Each is one file in $STRIPEWISE_MODELS, or in stripewise/models in $XDG_DATA_HOME
    (~/.local/share); the site's are read as well.
    """


@command.command("list", epilog=examples("stripewise model list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the models, with their errors on patterns that they were not fitted to."""
    from stripewise.performance import own_models
    from stripewise.report import models_json, models_lines

    found = _loaded()
    answer(
        as_json,
        lambda: models_json(found.models, found.paths),
        lambda: models_lines(found.models, found.paths, own_models()),
    )


@command.command(epilog=examples("stripewise model show 3fa2", "... show 3fa2 --json"))
@click.argument("model")
@_picture
@json_option
def show(model: str, picture: Path | None, as_json: bool) -> None:
    """Show MODEL: terms, errors, and where it holds; its first digits will do."""
    from stripewise.report import model_json, model_lines

    found, path = _find(model)
    answer(as_json, lambda: model_json(found), lambda: model_lines(found, path))
    _draw(found, found.points, picture)


@command.command(
    epilog=examples(
        "stripewise model validate 3fa2",
        "stripewise model validate 3fa2 --from surfaces/ --picture check.svg",
    )
)
@click.argument("model")
@click.option(
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
    from stripewise.model import to_json
    from stripewise.performance import Validated
    from stripewise.report import validated_lines

    found, _ = _find(model)
    judged = _against(found, sources) if sources else Validated(found.scores, found.points, ())
    answer(
        as_json,
        lambda: {"scores": to_json(judged.scores), "refused": list(judged.refused)},
        lambda: validated_lines(judged),
    )
    _draw(found, judged.points, picture)


@command.command(epilog=examples("stripewise model export 3fa2 > model.json"))
@click.argument("model")
def export(model: str) -> None:
    """Write MODEL as JSON to standard output; such a file in the directory of models is one."""
    from stripewise.performance import model_to_json

    print_json(model_to_json(_find(model)[0]), indent=1)


def _loaded() -> Loaded:
    from stripewise.performance import load_models, own_models, site_models
    from stripewise.policy import load_policy

    found = load_models((own_models(), *site_models(load_policy().models)))
    for warning in found.warnings:
        note(warning, kind="warning")
    return found


def _find(digits: str) -> tuple[Model, Path]:
    """Return the one model whose name begins so.

    Raises:
        UsageError: There is none, or there are several.
    """
    from stripewise.performance import model_id

    loaded = _loaded()
    pairs = zip(loaded.models, loaded.paths, strict=True)
    found = [pair for pair in pairs if digits and model_id(pair[0]).startswith(digits)]
    if len({model_id(model) for model, _ in found}) != 1:
        names = ", ".join(model_id(model) for model, _ in found)
        which = f"several models begin with {digits!r}: {names}" if found else (
            f"no model is called {digits!r}"
        )  # fmt: skip
        raise UsageError(f"{which}; `stripewise model list` shows them")
    return found[0]


def _against(model: Model, sources: tuple[Path, ...]) -> Validated:
    from stripewise.performance import validated
    from stripewise.training import find_evidence, read_evidence

    samples = []
    for source in sources:
        is_directory = source.is_dir()
        found, refused = find_evidence(source) if is_directory else read_evidence([source], source)
        for line in refused:
            note(line, kind="warning")
        for one in found:
            if why := model.ground.why_not(one.ground):
                note(f"{one.path} does not count: the model is not of that ground: {why}")
            else:
                samples += list(one.samples)
    if known := sorted({one.name for one in samples if one.name} & set(model.programs)):
        note(
            f"the training had {', '.join(known)} too: what is new to the model is judged by "
            f"`stripewise model validate` without --from"
        )
    return validated(model, samples)


def _draw(model: Model, points: tuple[tuple[str, float, float], ...], path: Path | None) -> None:
    if path is None:
        return
    from stripewise.report import draw_model

    draw_model(points, path, f"{model.pattern_class}, {model.ground}: I/O time")
    note(f"wrote {path}")
