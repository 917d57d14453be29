# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Updates the tables on the documentation page about boards and alerts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from boards._prometheus import ALERTS
from boards._registry import BOARDS


def with_tables(page: str) -> str:
    """Return the page with its tables up to date.

    Raises:
        ValueError: The page has no place for a table.
    """
    boards = [("Board", "Question")]
    boards += [(one.title, one.question) for one in BOARDS]
    alerts = [("Alert", "Severity", "Holds for", "Fires if")]
    for one in ALERTS:
        held = f"{one.minutes} min" if one.minutes else "at once"
        alerts.append((f"`{one.name}`", one.severity, held, one.condition))
    return _placed(_placed(page, "boards", boards), "alerts", alerts)


def _placed(page: str, name: str, rows: Sequence[tuple[str, ...]]) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    text = "\n".join([begin, *lines, end])
    found, count = re.subn(f"{begin}.*?{end}", lambda _: text, page, flags=re.S)
    if count != 1:
        raise ValueError(f"docs/how-to/dashboards.md: no place for {name}: write {begin} {end}")
    return found
