# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a training measured and what it cost, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from stripewise.learning.performance import Way
from stripewise.present import (
    aligned,
    duration_text,
    finite,
    known,
    line,
    percent_text,
    plural,
    printable,
    ratio_text,
    seconds_text,
)
from stripewise.storage.simulation import stack_of
from stripewise.study.training._models import Fits
from stripewise.study.training._plan import TrainingPlan, total_seconds
from stripewise.study.training._surface import Surface
from stripewise.study.training._train import Trained, spent_seconds


def cost_text(plan: TrainingPlan) -> str:
    """Say what a training will take, before it begins."""
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
    """Say what was measured."""
    plan = trained.plan
    rows = [("PATTERN", "RANKS", "CONFIGURATIONS", "RUNS", "DEFAULT", "BEST", "GAIN")]
    for path in trained.surfaces:
        one = _surface(Surface.load(path))
        rows.append(
            (
                one["pattern"], str(one["ranks"]), str(one["configurations"]), str(one["runs"]),
                seconds_text(one["default_seconds"]), seconds_text(one["best_seconds"]),
                f"{ratio_text(one['default_seconds'] / one['best_seconds'])}x",
            )
        )  # fmt: skip
    yield from aligned(rows)
    runs, seconds = _cost(trained)
    virtual = " in virtual time" if plan.options.way is Way.SIMULATED else ""
    yield line("cost", f"{plural(runs, 'run')}, {duration_text(seconds)}{virtual}")
    yield line("surfaces", str(plan.options.directory))
    if trained.unfinished:
        yield line(
            "unfinished",
            f"{plural(len(trained.unfinished), 'surface')}: the budget is used up; the same "
            "command with a larger --budget goes on",
        )


def training_json(trained: Trained) -> dict[str, Any]:
    """Return the same as JSON."""
    runs, seconds = _cost(trained)
    found: dict[str, Any] = finite(
        {
            "way": trained.plan.options.way.value,
            "machine": trained.plan.options.machine,
            "directory": str(trained.plan.options.directory),
            "surfaces": [
                {"file": path.name, **_surface(Surface.load(path))} for path in trained.surfaces
            ],
            "unfinished": [cell.name for cell in trained.unfinished],
            "runs": runs,
            "run_seconds": seconds,
        }
    )
    return found


def fits_lines(fits: Fits, tuned_patterns: int = 0) -> Iterator[str]:
    """Say which models were made, what they were made of, and how well they predict.

    Args:
        fits: The models.
        tuned_patterns: How many patterns with their best settings are newly kept.
    """
    rows = [("MODEL OF", "PATTERNS", "KIND", "ERROR", "RANK CORRELATION", "LEFT OUT")]
    for model in fits.models:
        left_out = model.judged[0].left_out if model.judged else ""
        rows.append(
            (
                str(model.ground), str(model.pattern_class), model.kind,
                known(model.error, percent_text), known(model.rho, "{:.2f}".format),
                f"each {left_out} in turn" if left_out else "nothing could be",
            )
        )  # fmt: skip
    if fits.models:
        yield from aligned(rows)
        yield line("models", str(fits.paths[0].parent))
    if tuned_patterns:
        patterns = plural(tuned_patterns, "tuned pattern")
        yield line("knowledge", f"{patterns} more; `stripewise knowledge list` shows them")
    for ground in fits.unfitted:
        yield line("no model", f"of {ground}: there are too few configurations of one class")
    for text in fits.refused:
        yield line("passed over", printable(text))


def fits_json(fits: Fits, tuned_patterns: int = 0) -> dict[str, Any]:
    """Return the same as JSON."""
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


def _cost(trained: Trained) -> tuple[int, float]:
    """Return runs and seconds, first runs with nothing set among them."""
    plan = trained.plan
    runs = sum(len(Surface.load(path).runs) for path in trained.surfaces)
    first = len(plan.cells) if plan.options.way is not Way.SIMULATED else 0
    return runs + first, spent_seconds(plan)
