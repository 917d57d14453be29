# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models of performance: what they are, where they hold, how far off they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stripewise.core.errors import UsageError
from stripewise.learning.performance._judge import Validated
from stripewise.learning.performance._records import Model, Score
from stripewise.learning.performance._store import model_id, model_to_json
from stripewise.present import against, chart, duration_text, plural

_UNITS = {"f": "GB", "s": "MiB", "block": "bytes", "piece": "bytes"}
_NAMES = {
    "c": "stripe count c", "s": "stripe size s", "a": "aggregators a", "f": "data moved f",
    "ranks": "ranks", "nodes": "nodes", "block": "bytes of a rank in a dataset",
    "piece": "bytes that lie together",
}  # fmt: skip


def models_lines(found: Sequence[Model], paths: Sequence[Path], own: Path) -> Iterator[str]:
    """Yield a line for each model."""
    if not found:
        yield "no model is kept; `stripewise knowledge train` makes them"
        return
    yield f"{'model':<13} {'storage':<20} {'stack':<13} {'class':<30} {'kind':<11} error   rho"
    for model, path in zip(found, paths, strict=True):
        site = "" if path.parent == own else "  site's"
        error = "-" if model.error is None else f"{model.error:.0%}"
        rho = "-" if model.rho is None else f"{model.rho:.2f}"
        yield (
            f"{model_id(model):<13} {model.ground.storage:<20} {model.ground.stack:<13} "
            f"{model.pattern_class!s:<30} {model.kind:<11} {error:>5}  {rho:>4}{site}"
        )


def model_lines(model: Model, path: Path) -> Iterator[str]:
    """Yield all that there is to know of a model."""
    ground = model.ground
    digest = f", description {ground.digest}" if ground.digest else ""
    yield f"model {model_id(model)}: {model.pattern_class}, on {ground.storage}{digest}"
    yield f"  stack     {ground.stack}"
    day = time.strftime("%Y-%m-%d", time.localtime(model.trained_unix_seconds))
    cost = f"{plural(model.runs, 'run')}, {duration_text(model.run_seconds)} in all"
    yield f"  trained   {day}, {model.way}: {cost}; {', '.join(model.programs)}"
    yield f"  file      {path}"
    yield f"  settings  {', '.join(model.tunables)}"
    yield ""
    yield from _terms(model)
    yield ""
    yield "where it holds:"
    for name, one in model.ranges.items():
        unit = f" {_UNITS[name]}" if name in _UNITS else ""
        reach = f", and {one.reach:.2g} times beyond" if one.reach > 1 else ""
        yield f"  {_NAMES.get(name, name):<30} {one.low:.4g} to {one.high:.4g}{unit}{reach}"
    yield ""
    yield from score_lines(model.scores)


def _terms(model: Model) -> Iterator[str]:
    if model.terms:
        yield "seconds = the sum of these terms (s in MiB, f in GB):"
        for term in model.terms:
            yield f"  {term.coefficient:>12.4g}  {term}"
        return
    trees = f" + {len(model.trees)} trees of {', '.join(model.features)}" if model.trees else ""
    yield f"seconds = those of the simulation, times exp({model.initial:.3f}{trees})"


def score_lines(scores: Sequence[Score]) -> Iterator[str]:
    """Yield a table of scores."""
    if not scores:
        yield "nothing could be left out: how far predictions are off is not known"
        return
    yield f"{'left out':<14} {'':<30} {'samples':>8} {'error':>7} {'rho':>6}  best within five"
    for one in scores:
        kind = "" if one.left_out == "samples" else one.left_out
        yield (
            f"{kind:<14} {one.name[:30]:<30} {one.n:>8} {one.error:>7.1%} {one.rho:>6.3f}  "
            f"{one.top5:.0%}"
        )
    yield "error: median of |predicted - measured| / measured; rho: rank correlation of Spearman"


def validated_lines(found: Validated) -> Iterator[str]:
    """Yield how well samples were predicted."""
    if found.scores:
        yield from score_lines(found.scores)
    else:
        yield "no sample is of the model's class and within what it knows"
    yield from found.refused


def models_json(found: Sequence[Model], paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what a list shows."""
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
    """Return all of a model."""
    return {"id": model_id(model), **model_to_json(model)}


def draw_model(points: Sequence[tuple[str, float, float]], path: Path, title: str) -> None:
    """Draw a dot for each left-out sample.

    Raises:
        UsageError: The suffix is of no picture, or there is nothing to draw.
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
