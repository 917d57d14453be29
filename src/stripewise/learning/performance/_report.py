# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows performance models: their kind, the ground they apply to, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stripewise.core.errors import UsageError
from stripewise.learning.performance._judge import Validated
from stripewise.learning.performance._records import Model, Score
from stripewise.learning.performance._store import model_id, model_to_json
from stripewise.present import against, chart, duration_text, plural
from stripewise.present.blocks import Column, Content, Fact, Facts, Lines, Table, moment
from stripewise.present.renderers import as_lines, block_lines

_UNITS = {"f": "GB", "s": "MiB", "block": "bytes", "piece": "bytes"}
_NAMES = {
    "c": "stripe count c", "s": "stripe size s", "a": "aggregators a", "f": "data moved f",
    "ranks": "ranks", "nodes": "nodes", "block": "bytes of a rank in a dataset",
    "piece": "bytes that lie together",
}  # fmt: skip


def models_lines(found: Sequence[Model], paths: Sequence[Path], own: Path) -> Iterator[str]:
    """Yield a table with a row for each model."""
    columns = (
        Column("id", "Model"),
        Column("storage", "Storage"),
        Column("stack", "Stack"),
        Column("class", "Class"),
        Column("kind", "Kind"),
        Column("error", "Error", "share"),
        Column("rho", "Rho", "number"),
        Column("owner", ""),
    )
    owners = ["" if path.parent == own else "site's" for path in paths]
    models = zip(models_json(found, paths), owners, strict=True)
    rows = [{**one, "owner": owner} for one, owner in models]
    empty = "no model is stored; `stripewise knowledge train` creates models"
    yield from block_lines(Table("models", "", columns, rows, empty=empty))


def model_lines(model: Model, path: Path) -> Iterator[str]:
    """Yield all details of a model."""
    ground = model.ground
    digest = f", description {ground.digest}" if ground.digest else ""
    title = f"model {model_id(model)}: {model.pattern_class}, on {ground.storage}{digest}"
    cost = f"{plural(model.runs, 'run')}, {duration_text(model.run_seconds)} in all"
    day = moment(model.trained_unix_seconds)[:10]
    facts = {
        "stack": ground.stack,
        "trained": f"{day}, {model.way}: {cost}; {', '.join(model.programs)}",
        "file": str(path),
        "settings": ", ".join(model.tunables),
    }
    items = [Fact(name, name, text) for name, text in facts.items()]
    blocks = [Facts("model", "", items), _terms(model), _ranges(model), _scores(model.scores)]
    yield from as_lines(Content(title, blocks=blocks))


def _terms(model: Model) -> Lines:
    if model.terms:
        terms = [f"{term.coefficient:>12.4g}  {term}" for term in model.terms]
        return Lines("terms", "Seconds = the sum of these terms (s in MiB, f in GB)", terms)
    trees = f" + {len(model.trees)} trees of {', '.join(model.features)}" if model.trees else ""
    line = f"seconds = those of the simulation, times exp({model.initial:.3f}{trees})"
    return Lines("terms", "Formula", [line])


def _ranges(model: Model) -> Table:
    rows = []
    for name, one in model.ranges.items():
        unit = f" {_UNITS[name]}" if name in _UNITS else ""
        reach = f", and {one.reach:.2g} times beyond" if one.reach > 1 else ""
        text = f"{one.low:.4g} to {one.high:.4g}{unit}{reach}"
        rows.append({"feature": _NAMES.get(name, name), "range": text})
    columns = (Column("feature", "Feature"), Column("range", "Range"))
    return Table("ranges", "Where it holds", columns, rows)


def _scores(scores: Sequence[Score]) -> Table:
    """Return a table of the errors on left-out samples."""
    columns = (
        Column("left_out", "Left out"),
        Column("name", "Name"),
        Column("n", "Samples", "count"),
        Column("error", "Error", "share"),
        Column("rho", "Rho", "number"),
        Column("top5", "Best within five", "share"),
    )
    rows = [asdict(one) for one in scores]
    note = "error: median of |predicted - measured| / measured; rho: rank correlation of Spearman"
    empty = "no pattern could be left out of the fit: the error of predictions is not known"
    return Table("scores", "", columns, rows, note, empty)


def validated_lines(found: Validated) -> Iterator[str]:
    """Yield a table of the errors on given samples."""
    scores = _scores(found.scores)
    empty = "no sample is of the model's class and within its range"
    yield from block_lines(replace(scores, empty=empty))
    yield from found.refused


def models_json(found: Sequence[Model], paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the JSON of the list of models."""
    return [
        {
            "id": model_id(model), "path": str(path), "kind": model.kind,
            "class": str(model.pattern_class), "storage": model.ground.storage,
            "stack": model.ground.stack, "error": model.error, "rho": model.rho,
            "runs": model.runs, "run_seconds": model.run_seconds, "way": model.way,
        }
        for model, path in zip(found, paths, strict=True)
    ]  # fmt: skip


def model_json(model: Model) -> dict[str, Any]:
    """Return the JSON of all details of a model."""
    return {"id": model_id(model), **model_to_json(model)}


def draw_model(points: Sequence[tuple[str, float, float]], path: Path, title: str) -> None:
    """Draw a dot for each left-out sample.

    Raises:
        UsageError: The suffix is not that of a picture, or there is nothing to draw.
        StorageError: The file cannot be written.
    """
    rows = [
        {"set": name, "measured": measured, "predicted": predicted, "cell": name}
        for name, measured, predicted in points
        if measured > 0 and predicted > 0
    ]
    if not rows:
        raise UsageError("there is no prediction to draw: train with more than one pattern")
    chart.write_picture(chart.column(against(rows, "s", title)), path)
