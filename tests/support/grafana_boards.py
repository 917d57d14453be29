# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The boards as Grafana reads them: their panels, queries and variables; what it makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deploy/monitoring/grafana/dashboards").glob("*.json"))
WINDOWS = {"": "1m", "4m": "255s"}
"""Grafana's $__rate_interval by a panel's least step: readings every 15 seconds, zoomed in."""
_VALUES = re.compile(r"label_values\((.*), (\w+)\)")


class Query(NamedTuple):
    """One query of a panel: where it stands, and the expression with its variables."""

    board: str
    panel: str
    ref: str
    expression: str
    window: str

    def __str__(self) -> str:
        return f"{self.board}: {self.panel}: {self.ref}"


def load(path: Path) -> dict[str, Any]:
    """Return a board."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def panels(board: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the panels of a board, those in folded rows too, rows not."""
    for panel in board["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels") or []
        else:
            yield panel


def queries(path: Path) -> Iterator[Query]:
    """Yield the queries of a board."""
    for panel in panels(load(path)):
        window = WINDOWS[panel.get("interval", "")]
        for one in panel.get("targets", []):
            yield Query(path.stem, panel["title"], one["refId"], one["expr"], window)


def choices(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the variables that ask the data source: their label and selector."""
    for variable in load(path)["templating"]["list"]:
        if variable["type"] == "query":
            found = _VALUES.fullmatch(variable["query"]["query"])
            assert found, variable
            yield found[2], found[1]


def substituted(
    expression: str, chosen: Mapping[str, tuple[str, ...]], window: str = WINDOWS[""]
) -> str:
    """Return what Grafana sends.

    Args:
        expression: With variables.
        chosen: Values by variable; one that is not there is "All".
        window: Of rates.
    """
    for name, value in {"rate_interval": window, "range": "1h", "interval": "15s"}.items():
        expression = expression.replace(f"$__{name}", value)

    def value(match: re.Match[str]) -> str:
        values = chosen.get(match[1], ())
        return f"({'|'.join(values)})" if values else ".*"

    found = re.sub(r"(?<!replacement)\$([a-z]+)\b", value, expression)
    assert "$" not in found.replace('"$1"', ""), f"{expression}: a variable that is not known"
    return found
