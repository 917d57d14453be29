# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings for the next run of a job's program: proved ones, else those that findings advise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.fleet.queries._job import JobView
from stripewise.fleet.queries._job_pairs import is_of_pattern
from stripewise.fleet.queries._recipe import Recipe, recipe_of_lines, recipe_of_study

Row = Mapping[str, Any]


@dataclass(frozen=True)
class NextRun:
    """Settings for the next run.

    Attributes:
        recipe: The settings.
        proof: The study that proved them, as `pairs_of` gives it; None: findings advise them.
        findings: Codes of those findings.
    """

    recipe: Recipe
    proof: Row | None
    findings: tuple[str, ...] = ()


def next_run(view: JobView, pairs: Sequence[Row]) -> NextRun | None:
    """Return settings for the next run; None: there are none, or names of files are hidden.

    Args:
        view: The job as its viewer sees it.
        pairs: Of `pairs_of` for the same viewer.
    """
    if not view.shows_names:
        return None
    for pair in pairs:
        if pair["configuration"] is None or not is_of_pattern(pair, view.row):
            continue
        proved = recipe_of_study(pair["configuration"], pair["hints"])
        if proved is not None:
            return NextRun(proved, pair)
    advised = [
        found
        for source in view.counted
        if source.document is not None
        for found in source.document["findings"]
        if found["lines"]
    ]
    recipe = recipe_of_lines(line for found in advised for line in found["lines"])
    if recipe is None:
        return None
    return NextRun(recipe, None, tuple(dict.fromkeys(found["code"] for found in advised)))
