# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures as the versions of mdtest print them.

Source: `summarize_results` of mdtest 1.7, 1.8, 1.9.1, 1.9.3 and of hpc/ior 3.0 to 4.1.  Up to 3.4
the figures of a row are taken over all tasks of all iterations; from 4.0 over iterations, of which
each is the slowest task's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev, stdev
from typing import Any

_LABELS = {
    "create-directory": "Directory creation", "stat-directory": "Directory stat",
    "rename-directory": "Directory rename", "remove-directory": "Directory removal",
    "create": "File creation", "stat": "File stat", "read-file": "File read",
    "remove": "File removal", "create-tree": "Tree creation", "remove-tree": "Tree removal",
}  # fmt: skip
_SUMMARIES = {
    "3": "SUMMARY rate: (of {} iterations)",
    "4": "SUMMARY rate (in ops/sec): (of {} iterations)",
}


def mdtest_text(given: Mapping[str, Any]) -> str:
    """Return an output.

    Args:
        given: "version", "tasks", "nodes", "items" of each task; "rates" by operation, of each
            iteration; "layout": "1.7", "1.9", "3", "4"; "jitter", the relative difference of the
            fastest and the slowest task from their mean; "barriers" if the figures are those of
            iterations in spite of the layout; "options", "kinds", "per_rank"; "groups": "tasks"
            and "rates" of each table, as with -f, -l and -s.
    """
    layout = given["layout"]
    on = "nodes" if layout == "1.7" else "node(s)"
    lines = [
        "-- started at 11/05/2019 10:00:00 --", "",
        f"mdtest-{given['version']} was launched with {given['tasks']} total task(s) on "
        f"{given['nodes']} {on}",
        *_command(given, layout), "",
    ]  # fmt: skip
    for group in given.get("groups", ({},)):
        lines += _table({**given, **group})
    return "\n".join([*lines, "-- finished at 11/05/2019 10:05:00 --", ""])


def _table(given: Mapping[str, Any]) -> list[str]:
    tasks, iterations = given["tasks"], len(next(iter(given["rates"].values())))
    kinds = given.get("kinds", "files/directories")
    summary = _SUMMARIES.get(given.get("summary", given["layout"]), "SUMMARY: (of {} iterations)")
    return [
        f"{tasks} tasks, {tasks * given['items']} {kinds}", "",
        summary.format(iterations), *_head(given), *_rows(given), "",
    ]  # fmt: skip


def _command(given: Mapping[str, Any], layout: str) -> list[str]:
    words = ["mdtest", *given.get("options", "").split(), "-n", str(given["items"])]
    if layout == "1.7":
        return []
    if layout in ("3", "4"):
        words[1:] = [f"'{word}'" for word in words[1:]]
    colon = "                :" if layout == "4" else ":"
    return [
        f"Command line used: {' '.join(words)}",
        f"Path{colon} /scratch/md",
        "FS: 36.5 TiB   Used FS: 18.8%   Inodes: 2.3 Mi   Used Inodes: 5.9%",
    ]


def _head(given: Mapping[str, Any]) -> list[str]:
    gap = " " * (18 if given["layout"] in ("1.7", "1.8") else 22)
    if given.get("per_rank"):
        return [
            "   Operation     per Rank: Max            Min           Mean      per Iteration: Max"
            "            Min           Mean        Std Dev"
        ]
    return [
        f"   Operation{gap}Max            Min           Mean        Std Dev",
        f"   ---------{gap}---            ---           ----        -------",
    ]


def _rows(given: Mapping[str, Any]) -> Iterator[str]:
    width = 10 if given["layout"] in ("1.7", "1.8") else 14
    for operation, rates in given["rates"].items():
        label = _LABELS[operation]
        if given["layout"] == "4":
            text = f"   {label:<22} "
        elif given["layout"] == "3":
            text = f"   {label:<26}: "
        else:
            text = f"   {label:<18}: "
        values = _figures(given, operation, rates)
        yield text + " ".join(f"{one:{width}.3f}" for one in values)
    if walled := given.get("stonewall"):
        yield f"   File create (stonewall)   : {'NA':>14} {'NA':>14} {walled:14.3f} {'NA':>14}"


def _figures(given: Mapping[str, Any], operation: str, rates: Sequence[float]) -> list[float]:
    """Return greatest, least, mean and deviation, as this version computes them."""
    if given["layout"] == "4":
        spread = stdev(rates) if len(rates) > 1 else 0.0
        values = [max(rates), min(rates), fmean(rates), spread]
        if given.get("per_rank"):
            parts = [one / given["tasks"] for one in values[:3]]
            return [*parts, *values]
        return values
    whole = list(rates)
    if not given.get("barriers") and not operation.endswith("-tree"):
        whole = [one for rate in rates for one in of_tasks(rate, given["tasks"], given["jitter"])]
    return [max(whole), min(whole), fmean(whole), pstdev(whole)]


def of_tasks(rate: float, tasks: int, jitter: float) -> list[float]:
    """Return rates of tasks whose mean is `rate`."""
    if tasks == 1:
        return [rate]
    return [rate * (1 + jitter * (2 * task / (tasks - 1) - 1)) for task in range(tasks)]
