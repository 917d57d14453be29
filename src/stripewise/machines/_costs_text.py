# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was measured of requests, as TOML: tables of intervals with units, both ways."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from stripewise.machines._costs import Exchange, Interval, StorageCosts
from stripewise.machines._figures import Dimension
from stripewise.machines._units import quantity, quantity_text
from stripewise.model import Mount

_SIZED = ("write", "read", "sync")
_Intervals = dict[str, list[str]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RawExchange(_Strict):
    """Transfers together, as they are written."""

    stack: str
    ranks: Annotated[int, Field(ge=1)]
    collective: bool
    opening: list[str]
    write: _Intervals = Field(default_factory=dict)
    read: _Intervals = Field(default_factory=dict)


class RawCosts(_Strict):
    """The table `[costs]`."""

    host: str = ""
    processors: Annotated[int, Field(ge=0)] = 0
    measured: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    write: _Intervals = Field(default_factory=dict)
    read: _Intervals = Field(default_factory=dict)
    sync: _Intervals = Field(default_factory=dict)
    calls: _Intervals = Field(default_factory=dict)
    exchange: list[RawExchange] = Field(default_factory=list)


class RawMount(_Strict):
    """The table `[mount]`."""

    kind: str = ""
    source: str = ""
    point: str = ""
    device: str = ""
    identity: str = ""
    medium: str = ""

    def mount(self) -> Mount:
        """Return the record."""
        return Mount(**self.model_dump())


def costs_of(raw: RawCosts) -> StorageCosts:
    """Return the costs that are written.

    Raises:
        ValueError: A size or a time is none; the message names the table.
    """
    return StorageCosts(
        host=raw.host,
        processors=raw.processors,
        measured=raw.measured,
        calls={name: _interval(ends, f"costs.calls: {name}") for name, ends in raw.calls.items()},
        exchange=tuple(map(_exchange, raw.exchange)),
        **{name: _table(getattr(raw, name), f"costs.{name}") for name in _SIZED},
    )


def _exchange(raw: RawExchange) -> Exchange:
    where = f"costs.exchange of {raw.stack}"
    opening = _interval(raw.opening, f"{where}: opening")
    tables = (_table(table, where) for table in (raw.write, raw.read))
    return Exchange(raw.stack, raw.ranks, raw.collective, opening, *tables)


def _table(raw: Mapping[str, Sequence[str]], where: str) -> dict[int, Interval]:
    found = {}
    for size, ends in raw.items():
        try:
            number = int(quantity(size, Dimension.SIZE))
        except ValueError as error:
            raise ValueError(f"{where}: {size!r} {error}") from error
        found[number] = _interval(ends, f"{where}: {size}")
    return found


def _interval(ends: Sequence[str], where: str) -> Interval:
    try:
        low, middle, high = (quantity(end, Dimension.TIME) for end in ends)
        if 0 < low <= middle <= high < float("inf"):
            return Interval(low, middle, high)
    except ValueError:
        pass
    raise ValueError(f"{where} = {ends!r}: write three times in order, each with its unit")


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
    for name in _SIZED:
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
