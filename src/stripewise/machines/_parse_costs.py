# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was measured of requests, and where, read from TOML: intervals with units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from stripewise.machines._costs import SIZED, Exchange, Interval, StorageCosts
from stripewise.machines._figures import Dimension
from stripewise.machines._units import quantity
from stripewise.model import Mount

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
        **{name: _table(getattr(raw, name), f"costs.{name}") for name in SIZED},
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
