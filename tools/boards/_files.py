# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the generated files, and checks whether the existing ones are up to date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from boards._docs import with_tables
from boards._prometheus import rules_text
from boards._registry import BOARDS

ROOT = Path(__file__).parents[2]
DASHBOARDS = ROOT / "deploy/monitoring/grafana/dashboards"
PAGE = ROOT / "docs/how-to/dashboards.md"
RULES = ROOT / "deploy/monitoring/prometheus/stripewise.rules.yaml"


def texts() -> Mapping[Path, str]:
    """Return the text of each file."""
    found = {
        DASHBOARDS / f"{board.name}.json": JSONEncoder(indent=1, sort_keys=True).encode(
            board.build()
        )
        + "\n"
        for board in BOARDS
    }
    found[RULES] = rules_text()
    found[PAGE] = with_tables(PAGE.read_text("utf-8"))
    return found


def write() -> None:
    """Write the files, and remove boards that are no longer generated."""
    found = texts()
    DASHBOARDS.mkdir(parents=True, exist_ok=True)
    for path in set(DASHBOARDS.glob("*.json")) - set(found):
        path.unlink()
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def outdated() -> list[Path]:
    """Return the files that are out of date, including those that should not exist."""
    found = texts()
    stale = [p for p, text in found.items() if not p.exists() or p.read_text("utf-8") != text]
    return sorted({*stale, *(set(DASHBOARDS.glob("*.json")) - set(found))})
