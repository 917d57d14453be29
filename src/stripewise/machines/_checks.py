# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a figure must be, and what figures must be together."""

from __future__ import annotations

from math import isfinite, isnan

from stripewise.machines._description import Storage
from stripewise.machines._figures import Dimension, Evidence, FigureSpec
from stripewise.machines._units import EXAMPLES, quantity

_MOST = {
    Dimension.COUNT: 1e7,
    Dimension.RATIO: 10.0,
    Dimension.SIZE: float(1 << 60),
    Dimension.TIME: 1e9,
    Dimension.BANDWIDTH: 1e18,
}
"""Largest value of each dimension: beyond it a unit is wrong."""
_LEAST = {Dimension.COUNT: 1.0, Dimension.SIZE: 1.0, Dimension.BANDWIDTH: 1e-3}
_PLAIN = (Dimension.COUNT, Dimension.RATIO)


def converted(spec: FigureSpec, value: object, where: str) -> float:
    """Return a value as it is written in base units.

    Raises:
        ValueError: It has no unit or the wrong one, is negative, or is beyond all reason; the
            message begins with `where`.
    """
    shown = f"{where} = {_short(value)}"
    number = _number(spec.dimension, value, shown)
    least = 0.0 if spec.default == 0 else _LEAST.get(spec.dimension, 0.0)
    if isnan(number):
        raise ValueError(f"{shown} is no number: give {EXAMPLES[spec.dimension]} or its like")
    if number < 0:
        raise ValueError(f"{shown} is negative: give {EXAMPLES[spec.dimension]} or its like")
    if not isfinite(number) or number > _MOST[spec.dimension]:
        raise ValueError(f"{shown} is too large: check its unit")
    if number > spec.most:
        raise ValueError(f"{shown} is more than {spec.most:g}: give a number from 0 to it")
    if number < least:
        what = "is 0" if number == 0 else "is too small"
        remedy = "; leave it out if nothing is limited" if spec.default is not None else ""
        raise ValueError(f"{shown} {what}: give {EXAMPLES[spec.dimension]} or its like{remedy}")
    if spec.dimension is Dimension.COUNT and number != int(number):
        raise ValueError(f"{shown} is not a whole number: give one")
    return number


def _number(dimension: Dimension, value: object, shown: str) -> float:
    if dimension in _PLAIN:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{shown} is not a plain number: write {EXAMPLES[dimension]}")
        return float("inf") if abs(value) > 1e300 else float(value)
    if not isinstance(value, str):
        raise ValueError(f"{shown} has no unit: write it as {EXAMPLES[dimension]}")
    try:
        return quantity(value, dimension)
    except ValueError as error:
        raise ValueError(f"{shown} {error}") from error


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a very large number"
    return text if len(text) < 60 else text[:57] + "..."


def check_together(storage: Storage) -> None:
    """Raise ValueError if figures contradict each other."""
    targets = storage.value("servers.targets")
    stripes = storage.value("layout.stripe_count")
    if stripes > targets:
        raise ValueError(
            f"layout.stripe_count = {stripes:.0f} is more than servers.targets = {targets:.0f}: "
            "a file has at most one stripe on each target"
        )
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for transport in storage.transports:
        when = tuple(sorted(transport.when.items()))
        if when in seen:
            raise ValueError(
                f"transport.{transport.name}: the same `when` as transport.{seen[when]}: "
                "give each its own variables"
            )
        seen[when] = transport.name


def description_warnings(storage: Storage) -> list[str]:
    """Return what of a description is allowed, but may be a slip: a line each."""
    found = []
    for way in ("write", "read"):
        process, file, node, target, whole = (
            storage.value(f"{name}_{way}")
            for name in (
                "client.process",
                "client.file",
                "client.node",
                "servers.target",
                "servers.whole",
            )
        )
        targets = storage.value("servers.targets")
        if isfinite(process) and process > node:
            found.append(f"client.process_{way} is more than client.node_{way}, which limits it")
        if isfinite(file) and file > node:
            found.append(f"client.file_{way} is more than client.node_{way}, which limits it")
        if whole < target:
            found.append(f"servers.whole_{way} is less than one target: servers.target_{way}")
        if isfinite(whole) and whole > 1.5 * targets * target:
            found.append(f"servers.whole_{way} is much more than all targets: it limits nothing")
    assumed = sum(figure.kind is Evidence.ASSUMED for figure in storage.figures.values())
    if assumed:
        verb = "is" if assumed == 1 else "are"
        found.append(f"{assumed} of {len(storage.figures)} figures {verb} assumed")
    return found
