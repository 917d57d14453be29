# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""mdtest's output: rates of metadata operations.  Source: IOR 4.1, mdtest.c."""

from __future__ import annotations

import re

from stripewise.calibration.readers._base import Reader, Results
from stripewise.errors import UsageError

_ROW = re.compile(
    r"^\s+File (creation|stat|read|removal)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)", re.MULTILINE
)
_FIGURES = {
    "creation": "metadata.create",
    "stat": "metadata.stat",
    "read": "metadata.open",
    "removal": "metadata.remove",
}


class Mdtest(Reader):
    """What mdtest prints: of each operation the greatest, least and mean rate."""

    name = "mdtest"

    def recognises(self, text: str, name: str) -> bool:
        """Whether mdtest printed it."""
        return "mdtest" in text[:500] and "was launched with" in text[:500]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return operations a second."""
        found = {_FIGURES[word]: (float(low), float(mean), float(high))
                 for word, high, low, mean in _ROW.findall(text)}  # fmt: skip
        useful = {figure: rates for figure, rates in found.items() if min(rates) > 0}
        if not useful:
            raise UsageError(f"{name}: mdtest's output without a rate of files: give all of it")
        return Results(operations=useful)
