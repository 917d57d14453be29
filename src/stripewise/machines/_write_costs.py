# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was measured of requests, and where, written as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from stripewise.machines._costs import SIZED, Interval, StorageCosts
from stripewise.machines._figures import Dimension
from stripewise.machines._units import quantity_text
from stripewise.model import Mount


def mount_lines(mount: Mount) -> Iterator[str]:
    """Yield the table `[mount]`; what is not Unicode in it is shown as ?."""
    if mount != Mount():
        yield from ("", "[mount]")
        for name, text in asdict(mount).items():
            if text:
                shown = text.encode("utf-8", "replace").decode()
                yield f"{name} = {basic_string(shown)}"


def costs_lines(costs: StorageCosts) -> Iterator[str]:
    """Yield the table `[costs]` and those below it."""
    if costs == StorageCosts():
        return
    yield from ("", "[costs]", f"host = {basic_string(costs.host)}")
    yield from (f"processors = {costs.processors}", f"measured = {float(costs.measured)!r}")
    for name in SIZED:
        yield from _table_lines(f"costs.{name}", _sized(getattr(costs, name)))
    yield from _table_lines("costs.calls", costs.calls)
    for one in costs.exchange:
        yield from ("", "[[costs.exchange]]", f"stack = {basic_string(one.stack)}")
        yield from (f"ranks = {one.ranks}", f"collective = {json.dumps(one.collective)}")
        yield f"opening = {_ends(one.opening)}"
        yield from _table_lines("costs.exchange.write", _sized(one.write))
        yield from _table_lines("costs.exchange.read", _sized(one.read))


def _sized(table: Mapping[int, Interval]) -> dict[str, Interval]:
    return {quantity_text(size, Dimension.SIZE): cost for size, cost in table.items()}


def _table_lines(name: str, table: Mapping[str, Interval]) -> Iterator[str]:
    if table:
        yield f"[{name}]"
        yield from (f"{basic_string(key)} = {_ends(cost)}" for key, cost in table.items())


def _ends(cost: Interval) -> str:
    return f"[{', '.join(basic_string(quantity_text(end, Dimension.TIME)) for end in cost)}]"


def basic_string(text: str) -> str:
    """Return a basic string; what JSON escapes TOML escapes alike, and DEL beside it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
