# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A plan as text, which the replay program reads; see docs/reference/replay-plan.md."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stripewise.outputs import whole_file
from stripewise.replay._records import CALL_ROW, COLUMNS, Plan, PlanFile, PlanRank

PLAN_VERSION = 1
_MARKS = "!#$&'()+,-./:;<=>?@[]^_`{|}~"


def plan_text(plan: Plan) -> str:
    """Return a plan as text (ASCII)."""
    return "".join(f"{line}\n" for line in _lines(plan))


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan that only its owner can read: it holds names of files.

    Raises:
        StorageError: It cannot be written.
    """
    with whole_file(path) as place, place.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in _lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    yield f"stripewise-replay {PLAN_VERSION}"
    yield f"ranks {plan.n_ranks}"
    yield f"bytes {plan.read_bytes} {plan.write_bytes}"
    tables: dict[str, Sequence[str]] = {
        "verb": plan.verbs,
        "file": [escaped(file.name) for file in plan.files],
        "object": plan.objects,
        "shape": plan.shapes,
        "view": plan.views,
        "group": [words(len(ranks), number_list(ranks)) for ranks in plan.groups],
    }
    for name, values in tables.items():
        yield f"{name}s {len(values)}"
    yield f"inputs {len(plan.inputs)}"
    for name, values in tables.items():
        for index, value in enumerate(values):
            yield f"{name} {index} {value}"
            if name == "file":
                yield from _of_file(index, plan.files[index])
    for one in plan.inputs:
        yield words("input", one.file, one.kind, one.size_bytes, len(one.objects), *one.objects)
    for index, table in enumerate(plan.sections):
        yield f"section {index} {len(table)}"
        yield from _calls(table)
    yield from map(_rank, plan.ranks)
    yield "end"


def _of_file(index: int, file: PlanFile) -> Iterator[str]:
    for key, value in file.hints.items():
        yield f"hint {index} {escaped(key)} {escaped(value)}"
    if file.variables:
        yield f"variables {index} {len(file.variables)} {words(*file.variables)}"


def escaped(text: str) -> str:
    """Return a name as one word: other bytes than letters, digits and marks as %XX."""
    return quote(os.fsencode(text), safe=_MARKS) or "%"


def number_list(numbers: ArrayLike) -> str:
    """Return numbers as words: A, A*N for N equal ones, A+D*N for N at distance D."""
    values = np.asarray(numbers, np.int64)
    steps, last = np.diff(values), len(values) - 1
    ends = [*(np.flatnonzero(steps[1:] != steps[:-1]) + 1).tolist(), last]  # of equal distances
    found, at = [], 0
    while at <= last:
        end = at if at == last else ends[bisect_right(ends, at)]
        step = int(steps[at]) if end > at else 0
        if step and end == at + 1:  # two numbers are shorter by themselves
            end, step = at, 0
        distance, times = f"+{step}" if step else "", f"*{end - at + 1}" if end > at else ""
        found.append(f"{values[at]}{distance}{times}")
        at = end + 1
    return " ".join(found)


def words(*values: object) -> str:
    """Return values as words of a line."""
    return " ".join(map(str, values))


def _calls(table: NDArray[Any]) -> Iterator[str]:
    """A line for each row: all members of `CALL_ROW` are whole numbers of 64 bits."""
    rows = np.ascontiguousarray(table).view((np.int64, CALL_ROW.itemsize // 8))
    return (words(*row) for row in rows.tolist())


def _rank(one: PlanRank) -> str:
    lists = (number_list(one.columns[name]) for name in COLUMNS)
    return words("rank", one.rank, one.section, *filter(None, lists))
