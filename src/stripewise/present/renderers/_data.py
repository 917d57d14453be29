# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the blocks of a page as one JSON document, or one of its tables as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from stripewise.core.errors import UsageError
from stripewise.present._printable import csv_cell, finite
from stripewise.present.blocks import Block, Content, Table


def as_json(content: Content) -> str:
    """Return the data of a page as one JSON document."""
    data = {
        "title": content.title,
        "lead": content.lead,
        **{block.name: block.data() for block in content.blocks},
    }
    return json.dumps(finite(data), ensure_ascii=True, allow_nan=False)


def as_csv(content: Content, name: str = "") -> str:
    """Return one table of a page as CSV.

    Args:
        content: Content of the page.
        name: Name of the block; empty for the first that is a table.

    Raises:
        UsageError: There is no such table.
    """
    grids = {block.name: grid for block in content.blocks if (grid := block.grid()) is not None}
    if not grids or name not in ("", *grids):
        there = ", ".join(grids) or "none"
        raise UsageError(f"table={name[:40]!r}: this page has no such table (it has {there})")
    head, rows = grids[name or _first_table(content.blocks) or next(iter(grids))]
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([csv_cell(one) for one in head])
    lines.writerows([csv_cell(one) for one in row] for row in rows)
    return out.getvalue()


def _first_table(blocks: Sequence[Block]) -> str:
    """Return the name of the first block that is a table; empty if there is none."""
    return next((one.name for one in blocks if isinstance(one, Table)), "")
