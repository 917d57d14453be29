# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slow motion: every time is so many times as long, and all relations stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from stripewise.machines._costs import Interval, StorageCosts
from stripewise.machines._description import Storage
from stripewise.machines._figures import SPEC_OF, Dimension, Figure

_Key = TypeVar("_Key")


def slowed(storage: Storage, slowdown: float) -> Storage:
    """Return a storage with its bandwidths divided and its times multiplied.

    Args:
        storage: Which may be in slow motion already.
        slowdown: How many times as long everything takes, at least 1.
    """
    transports = tuple(
        replace(one, figures=_slowed(one.figures, slowdown)) for one in storage.transports
    )
    return replace(
        storage,
        figures=_slowed(storage.figures, slowdown),
        transports=transports,
        slowdown=storage.slowdown * slowdown,
        costs=_slowed_costs(storage.costs, slowdown),
    )


def _slowed_costs(costs: StorageCosts, slowdown: float) -> StorageCosts:
    exchange = [
        replace(
            one,
            opening=one.opening.scaled(slowdown),
            write=_scaled(one.write, slowdown),
            read=_scaled(one.read, slowdown),
        )
        for one in costs.exchange
    ]
    return replace(
        costs,
        write=_scaled(costs.write, slowdown),
        read=_scaled(costs.read, slowdown),
        sync=_scaled(costs.sync, slowdown),
        calls=_scaled(costs.calls, slowdown),
        exchange=tuple(exchange),
    )


def _scaled(table: Mapping[_Key, Interval], slowdown: float) -> dict[_Key, Interval]:
    return {key: cost.scaled(slowdown) for key, cost in table.items()}


def _slowed(figures: Mapping[str, Figure], slowdown: float) -> dict[str, Figure]:
    return {name: _figure(name, figure, slowdown) for name, figure in figures.items()}


def _figure(name: str, figure: Figure, slowdown: float) -> Figure:
    dimension = SPEC_OF[name].dimension
    if dimension is Dimension.BANDWIDTH:
        factor = 1 / slowdown
    elif dimension is Dimension.TIME:
        factor = slowdown
    else:
        return figure
    low, high = (end if end is None else end * factor for end in (figure.low, figure.high))
    return replace(figure, value=figure.value * factor, low=low, high=high)
