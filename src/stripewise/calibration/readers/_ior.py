# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's output: text and JSON.  Source: IOR 4.1, ior-output.c."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stripewise.calibration.readers._base import Measured, Reader, Results, blocks
from stripewise.errors import UsageError
from stripewise.inputs import parse_json
from stripewise.machines import Dimension, quantity

_OPTION = re.compile(r"^([a-z][A-Za-z ]*?)\s*:\s+(.*)$", re.MULTILINE)
_ROW = re.compile(r"^(write|read)\s+([0-9.]+)\s+\S+\s+\S+\s+([0-9.]+)\s+([0-9.]+)\s", re.MULTILINE)
_MIB = 1 << 20


class IorText(Reader):
    """What IOR prints."""

    name = "ior"

    def recognises(self, text: str, name: str) -> bool:
        """Whether IOR printed it."""
        return "MPI Coordinated Test of Parallel I/O" in text[:500]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the tests, each with its repeats."""
        found: list[Measured] = []
        for part in text.split("\nOptions:")[1:]:
            options = {key.strip(): value.strip() for key, value in _OPTION.findall(part)}
            rates: dict[str, list[float]] = {}
            for access, rate, _, _ in _ROW.findall(part.partition("\nSummary of")[0]):
                rates.setdefault(access, []).append(float(rate) * _MIB)
            found += [_measured(name, options, access, each) for access, each in rates.items()]
        if not found:
            raise UsageError(f"{name}: IOR's output without a result: check that the run ended")
        return Results(tuple(found))


class IorJson(Reader):
    """IOR's summaryFormat=JSON."""

    name = "ior-json"

    def recognises(self, text: str, name: str) -> bool:
        """Whether IOR wrote it."""
        return text.lstrip().startswith("{") and '"tests"' in text and '"Command line"' in text

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the tests, each with its repeats."""
        found: list[Measured] = []
        for test in _list(parse_json(text).get("tests"), name):
            options = {str(key): str(value) for key, value in test.get("Options", {}).items()}
            rates: dict[str, list[float]] = {}
            for row in _list(test.get("Results"), name):
                if row.get("access") in ("write", "read"):
                    rates.setdefault(row["access"], []).append(float(row["bwMiB"]) * _MIB)
            found += [_measured(name, options, access, each) for access, each in rates.items()]
        if not found:
            raise UsageError(f"{name}: IOR's output without a result: check that the run ended")
        return Results(tuple(found))


def _list(value: Any, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UsageError(f"{name}: no JSON of IOR: check that the file is whole")
    return value


def _measured(name: str, options: Mapping[str, str], access: str, rates: list[float]) -> Measured:
    try:
        nodes, each = int(options["nodes"]), int(options["clients per node"])
        block, transfer = (_size(options[key]) for key in ("blocksize", "xfersize"))
        segments, api = int(options["segments"]), options["api"].upper()
        own = options["access"].replace("-", " ") == "file per process"
        collective = options["type"] == "collective"
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"{name}: IOR's options cannot be read ({error}): give the whole output"
        ) from error
    work = blocks(
        name, nodes, each, block, transfer,
        steps=segments, collective=collective, writing=access == "write",
    )  # fmt: skip
    stack = "posix-process" if own else "posix-shared" if api == "POSIX" else ""
    return Measured(f"{name}: IOR {access}", work, stack, {}, tuple(rates))


def _size(text: str) -> float:
    return quantity(text.replace("bytes", "B"), Dimension.SIZE)
