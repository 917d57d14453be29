# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents what a training measured and what it cost, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from stripewise.learning.performance import Way
from stripewise.present import duration_text, finite, plural
from stripewise.present.blocks import Column, Fact, Facts, Table
from stripewise.present.renderers import block_lines
from stripewise.storage.simulation import stack_of
from stripewise.study.training._models import Fits
from stripewise.study.training._plan import TrainingPlan, total_seconds
from stripewise.study.training._surface import Surface
from stripewise.study.training._train import Trained, spent_seconds


def cost_text(plan: TrainingPlan) -> str:
    """Return what a training will cost, before it begins."""
    options, cells = plan.options, plan.cells
    numbers = [cell.configurations for cell in cells]
    runs = sum(numbers) * options.repeats
    seconds = total_seconds(cells, numbers, options.repeats)
    text = (
        f"{plural(len(cells), 'surface')} with {plural(sum(numbers), 'configuration')}, "
        f"each {plural(options.repeats, 'time')}: {plural(runs, 'run')}, about "
        f"{duration_text(seconds)}{' in virtual time' if options.way is Way.SIMULATED else ''}"
    )
    if stacks := sorted({stack_of(cell.facts) for cell in cells if cell.facts}):
        text += f", with {' and '.join(stacks)}"
    budget = options.budget_seconds
    if budget is not None and seconds > budget * 1.01:
        text += (
            f"; that is more than the budget of {duration_text(budget)}, in which fewer runs will "
            "be made than a model needs"
        )
    return text


def training_lines(trained: Trained) -> Iterator[str]:
    """Yield what was measured."""
    found = training_json(trained)
    columns = (
        Column("pattern", "Pattern"),
        Column("ranks", "Ranks", "count"),
        Column("configurations", "Configurations", "count"),
        Column("runs", "Runs", "count"),
        Column("default_seconds", "Default", "seconds"),
        Column("best_seconds", "Best", "seconds"),
        Column("gain", "Gain", "factor"),
    )
    rows = [
        {**one, "gain": one["best_seconds"] and one["default_seconds"] / one["best_seconds"]}
        for one in found["surfaces"]
    ]
    yield from block_lines(Table("surfaces", "", columns, rows))
    virtual = " in virtual time" if trained.plan.options.way is Way.SIMULATED else ""
    cost = f"{plural(found['runs'], 'run')}, {duration_text(found['run_seconds'])}{virtual}"
    facts = {"cost": cost, "surfaces": found["directory"]}
    if trained.unfinished:
        facts["unfinished"] = (
            f"{plural(len(trained.unfinished), 'surface')}: the budget is used up; the same "
            "command with a larger --budget continues"
        )
    yield from block_lines(Facts("training", "", [Fact(key, key, facts[key]) for key in facts]))


def training_json(trained: Trained) -> dict[str, Any]:
    """Return the JSON of what was measured."""
    plan = trained.plan
    # First runs with nothing set are counted among the runs, but are not part of a surface.
    first = len(plan.cells) if plan.options.way is not Way.SIMULATED else 0
    found: dict[str, Any] = finite(
        {
            "way": plan.options.way.value,
            "machine": plan.options.machine,
            "directory": str(plan.options.directory),
            "surfaces": [
                {"file": path.name, **_surface(Surface.load(path))} for path in trained.surfaces
            ],
            "unfinished": [cell.name for cell in trained.unfinished],
            "runs": first + sum(len(Surface.load(path).runs) for path in trained.surfaces),
            "run_seconds": spent_seconds(plan),
        }
    )
    return found


def fits_lines(fits: Fits, tuned_patterns: int = 0) -> Iterator[str]:
    """Yield which models were made, from what data, and how well they predict.

    Args:
        fits: Fitted models.
        tuned_patterns: Number of patterns whose best settings were newly stored.
    """
    columns = (
        Column("ground", "Model of"),
        Column("patterns", "Patterns"),
        Column("kind", "Kind"),
        Column("error", "Error", "share"),
        Column("rho", "Rank correlation", "number"),
        Column("left_out", "Left out"),
    )
    rows = []
    for model, row in zip(fits.models, fits_json(fits)["models"], strict=True):
        left_out = f"each {model.judged[0].left_out} in turn" if model.judged else ""
        ground = str(model.ground)
        rows.append({**row, "ground": ground, "left_out": left_out or "nothing could be"})
    facts = []
    if rows:
        yield from block_lines(Table("models", "", columns, rows))
        facts.append(("models", str(fits.paths[0].parent)))
    if tuned_patterns:
        patterns = plural(tuned_patterns, "tuned pattern")
        text = f"{patterns} more; `stripewise knowledge list` shows them"
        facts.append(("knowledge", text))
    few = "there are too few configurations of one class"
    facts += [("no model", f"of {ground}: {few}") for ground in fits.unfitted]
    facts += [("skipped", text) for text in fits.refused]
    items = [Fact(f"fact{n}", title, text) for n, (title, text) in enumerate(facts)]
    yield from block_lines(Facts("fits", "", items))


def fits_json(fits: Fits, tuned_patterns: int = 0) -> dict[str, Any]:
    """Return the JSON of the models."""
    found: dict[str, Any] = finite(
        {
            "tuned_patterns": tuned_patterns,
            "models": [
                {
                    "file": str(path),
                    "storage": model.ground.storage,
                    "digest": model.ground.digest,
                    "stack": model.ground.stack,
                    "patterns": str(model.pattern_class),
                    "kind": model.kind,
                    "error": model.error,
                    "rho": model.rho,
                    "runs": model.runs,
                    "run_seconds": model.run_seconds,
                    "way": model.way,
                }
                for model, path in zip(fits.models, fits.paths, strict=True)
            ],
            "evidence": [
                {
                    "file": str(one.path),
                    "ground": str(one.ground),
                    "way": one.way.value,
                    "configurations": len(one.samples),
                    "runs": one.runs,
                    "run_seconds": one.run_seconds,
                }
                for one in fits.evidence
            ],
            "no_model": [str(ground) for ground in fits.unfitted],
            "passed_over": list(fits.refused),
        }
    )
    return found


def _surface(surface: Surface) -> dict[str, Any]:
    default, best = surface.default_and_best_seconds()
    return {
        "pattern": surface.facts.pattern or " ".join(surface.command),
        "ranks": surface.facts.n_ranks,
        "configurations": len(surface.by_settings()),
        "runs": len(surface.runs),
        "default_seconds": default,
        "best_seconds": best if isfinite(best) else default,
    }
