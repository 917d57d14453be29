# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A plan as text, which the replay program reads; see docs/reference/replay-plan.md."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stripewise.errors import StorageError
from stripewise.replay._records import CALL_ROW, COLUMNS, Plan, PlanFile, PlanRank

PLAN_VERSION = 1
_PLAIN = frozenset(b"!#$&'()+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
                   b"abcdefghijklmnopqrstuvwxyz{|}~")  # fmt: skip


def plan_text(plan: Plan) -> str:
    """Return a plan as text (ASCII)."""
    return "".join(f"{line}\n" for line in _lines(plan))


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan that only its owner can read: it holds names of files.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="ascii") as stream:
            stream.writelines(f"{line}\n" for line in _lines(plan))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


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
    raw = os.fsencode(text)
    word = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    return word or "%"


def number_list(numbers: ArrayLike) -> str:
    """Return numbers as words: A, A*N for N equal ones, A+D*N for N at distance D."""
    values = np.asarray(numbers, np.int64)
    found = []
    at, n = 0, len(values)
    steps = np.diff(values)
    change = np.append(np.flatnonzero(steps[1:] != steps[:-1]) + 1, n - 1) if n > 1 else [0]
    turn = 0
    while at < n:
        while change[turn] <= at and change[turn] < n - 1:
            turn += 1
        length = int(change[turn]) - at + 1 if at < n - 1 else 1
        step = int(steps[at]) if length > 1 else 0
        if length == 2 and step:
            length = 1
        first = int(values[at])
        distance = f"+{step}" if length > 1 and step else ""
        found.append(f"{first}{distance}*{length}" if length > 1 else f"{first}")
        at += length
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
