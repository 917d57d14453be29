# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of rates: CSV with a row for each repeat, and TOML as the published tables have it."""

from __future__ import annotations

import csv
import io

from stripewise.calibration._cases import case_of, settings_of
from stripewise.calibration._tables import parse_table
from stripewise.calibration.readers._base import Measured, Reader, Results, blocks
from stripewise.errors import UsageError
from stripewise.machines import Dimension, quantity

_OWN = ("nodes", "ranks_per_node", "access", "files", "block", "transfer", "collective", "stack")
_UNITS = {"GiB/s": float(1 << 30), "MiB/s": float(1 << 20), "GB/s": 1e9, "MB/s": 1e6}
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
        grouped: dict[tuple[tuple[str, str], ...], list[float]] = {}
        rows = csv.DictReader(io.StringIO(text.strip()))
        columns = [one.strip() for one in rows.fieldnames or ()]
        rows.fieldnames = columns
        unit = next(one for one in columns if one in _UNITS)
        for number, row in enumerate(rows, 2):
            plain = {key: (value or "").strip() for key, value in row.items() if key}
            try:
                rate = float(plain.pop(unit)) * _UNITS[unit]
            except ValueError as error:
                raise UsageError(f"{name}, line {number}: {error}: {unit} is a number") from error
            grouped.setdefault(tuple(plain.items()), []).append(rate)
        if not grouped:
            raise UsageError(f"{name}: no rows below the names of the columns")
        return Results(
            tuple(_measured(name, dict(key), ranks_per_node, rates)
                  for key, rates in grouped.items())
        )  # fmt: skip


def _measured(name: str, row: dict[str, str], ranks_per_node: int, rates: list[float]) -> Measured:
    try:
        block = quantity(row["block"], Dimension.SIZE)
        transfer = quantity(row["transfer"], Dimension.SIZE) if row.get("transfer") else block
        nodes, each = int(row["nodes"]), int(row.get("ranks_per_node") or ranks_per_node)
    except (KeyError, ValueError) as error:
        raise UsageError(f"{name}: {error}: the columns are {_EXAMPLE} and settings") from error
    collective = row.get("collective", "").lower() in ("1", "yes", "true", "collective")
    work = blocks(name, nodes, each, block, transfer, collective=collective,
                  writing=row.get("access", "write") != "read")  # fmt: skip
    own = row.get("files", "shared") == "process"
    stack = row.get("stack") or ("posix-process" if own else "" if collective else "posix-shared")
    settings = {key: int(value) if value.lstrip("-").isdigit() else value
                for key, value in row.items() if key not in _OWN and value}  # fmt: skip
    return Measured(f"{name}: {nodes} nodes", work, stack, dict(settings_of(settings)),
                    tuple(rates))  # fmt: skip


class TomlTable(Reader):
    """TOML as the published tables have it: a workload and cells."""

    name = "table"

    def recognises(self, text: str, name: str) -> bool:
        """Whether it has cells."""
        return "[[cells]]" in text and "[workload]" in text

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the cells that are bandwidths of one configuration."""
        table = parse_table(text, name)
        plain = [one for one in table.cells if not one.bound and "mode" not in one.workload]
        if table.is_time or table.unit == "ratio" or not plain:
            raise UsageError(f"{name}: no bandwidths of known configurations to fit to")
        measured = []
        for cell in plain:
            case = case_of(table, cell)
            rates = (cell.low, cell.value, cell.high) if cell.repeats > 2 else (cell.value,)
            measured.append(Measured(name, case.workload, case.stack, dict(case.settings), rates))
        return Results(tuple(measured))
