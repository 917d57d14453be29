# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the tables of the experiments with patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(rows: Sequence[Any]) -> str:
    """Return all rows for a terminal, with the sentence of each answer."""
    lines = []
    for row in rows:
        lines.append(
            f"{row.program:12}{row.machine:14}{row.cores:6}{row.default:8.3f}{row.optimum:8.3f}"
        )
        for way, (level, speed, sentence) in row.adopted.items():
            share = speed / row.optimum
            lines.append(f"    {way:22}{level:9}{speed:8.3f}{share:7.1%}  {sentence}")
    return "\n".join(lines)
