# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads published tables of rates and CSV of repeats, with their sources and workloads."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import tunable_of
from stripewise.storage.machines import Dimension, quantity
from stripewise.storage.results._base import Measured, Reader, Results, blocks, check_rate
from stripewise.storage.stacks import find_stack


def settings_of(settings: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """Return settings by full name, sizes in bytes."""
    named = {
        tunable_of(name).name: int(quantity(value, Dimension.SIZE))
        if isinstance(value, str) and value[:1].isdigit()
        else value
        for name, value in settings.items()
    }
    return tuple(sorted(named.items()))


# Tables of rates: CSV with a row for each repeat.

_OWN = ("nodes", "ranks_per_node", "access", "files", "block", "transfer", "collective", "stack")
_UNITS = {"GiB/s": float(1 << 30), "MiB/s": float(1 << 20), "GB/s": 1e9, "MB/s": 1e6}
_NO, _YES = ("no", "false", "0", "independent"), ("yes", "true", "1", "collective")
_EXAMPLE = "nodes,ranks_per_node,access,files,block,transfer,GiB/s"


class CsvTable(Reader):
    """CSV: nodes, ranks_per_node, ..., a bandwidth; other columns are settings."""

    name = "csv"

    def recognises(self, text: str, name: str) -> bool:
        """Whether the first line names the columns."""
        first = text.lstrip().partition("\n")[0]
        return "nodes" in first.split(",") and any(unit in first for unit in _UNITS)

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return a measurement for each configuration."""
        grouped: dict[tuple[tuple[str, str], ...], tuple[str, list[float]]] = {}
        rows = csv.DictReader(io.StringIO(text.strip()))
        columns = [one.strip() for one in rows.fieldnames or ()]
        rows.fieldnames = columns
        units = [one for one in columns if one in _UNITS]
        if len(units) != 1:
            raise UsageError(
                f"{name}: {len(units)} columns are called {', '.join(_UNITS)}: leave one bandwidth"
            )
        unit = units[0]
        for number, row in enumerate(rows, 2):
            where = f"{name}, line {number}"
            plain = {key: (value or "").strip() for key, value in row.items() if key}
            rate = _rate(where, plain.pop(unit), unit)
            grouped.setdefault(tuple(plain.items()), (where, []))[1].append(rate)
        if not grouped:
            raise UsageError(f"{name}: no rows below the names of the columns")
        return Results(
            tuple(_measured(where, dict(key), ranks_per_node, rates)
                  for key, (where, rates) in grouped.items())
        )  # fmt: skip


def _measured(
    where: str, row: dict[str, str], ranks_per_node: int, rates: list[float]
) -> Measured:
    block = _size(where, row, "block")
    transfer = _size(where, row, "transfer") if row.get("transfer") else block
    row = {"ranks_per_node": str(ranks_per_node or ""), **{k: v for k, v in row.items() if v}}
    collective = _word(where, row, "collective", _NO + _YES) in _YES
    own = _word(where, row, "files", ("shared", "process")) == "process"
    work = blocks(
        where, _whole(where, row, "nodes"), _whole(where, row, "ranks_per_node"),
        block, transfer, collective=collective,
        writing=_word(where, row, "access", ("write", "read")) != "read",
    )  # fmt: skip
    stack = row.get("stack") or ("posix-process" if own else "" if collective else "posix-shared")
    if stack:
        find_stack(stack)
    settings = {key: int(value) if value.lstrip("-").isdigit() else value
                for key, value in row.items() if key not in _OWN and value}  # fmt: skip
    return Measured(where, work, stack, dict(settings_of(settings)), tuple(rates))


def _rate(where: str, text: str, unit: str) -> float:
    try:
        rate = float(text) * _UNITS[unit]
    except ValueError as error:
        raise UsageError(f"{where}: {unit} = {text!r} is no number: give one") from error
    check_rate(where, rate)
    return rate


def _size(where: str, row: Mapping[str, str], column: str) -> float:
    text = row.get(column, "")
    try:
        return quantity(text, Dimension.SIZE)
    except ValueError as error:
        raise _unusable(where, column, text, str(error)) from error


def _whole(where: str, row: Mapping[str, str], column: str) -> int:
    text = row.get(column, "")
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not int(text):
        raise _unusable(where, column, text, "is not a whole number of 1 or more")
    return int(text)


def _word(where: str, row: Mapping[str, str], column: str, words: tuple[str, ...]) -> str:
    text = row.get(column, "").lower() or words[0]
    if text not in words:
        raise _unusable(where, column, text, f"is none of {', '.join(words)}")
    return text


def _unusable(where: str, column: str, text: str, why: str) -> UsageError:
    return UsageError(f"{where}: {column} = {text!r} {why} (the columns are {_EXAMPLE}, settings)")
