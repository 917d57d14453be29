# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Quantities with units, read and written: "1.1 GiB/s", "0.5 ms", "4 MiB"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import isfinite

from stripewise.machines._figures import Dimension

_SIZES = {
    "TiB": Decimal(1 << 40),
    "GiB": Decimal(1 << 30),
    "MiB": Decimal(1 << 20),
    "KiB": Decimal(1 << 10),
    "B": Decimal(1),
}
_DECIMAL_SIZES = {"TB": 12, "GB": 9, "MB": 6, "KB": 3, "kB": 3}
_READ_SIZES = _SIZES | {unit: Decimal(10) ** power for unit, power in _DECIMAL_SIZES.items()}
_RATES = ("TiB/s", "GiB/s", "MiB/s", "KiB/s", "B/s", "TB/s", "GB/s", "MB/s", "KB/s")
_TIMES = {"s": Decimal(1), "ms": Decimal("1e-3"), "us": Decimal("1e-6"), "ns": Decimal("1e-9")}
_READ_TIMES = _TIMES | {"µs": Decimal("1e-6"), "μs": Decimal("1e-6")}
_READ: Mapping[Dimension, Mapping[str, Decimal]] = {
    Dimension.SIZE: _READ_SIZES,
    Dimension.TIME: _READ_TIMES,
    Dimension.BANDWIDTH: {f"{unit}/s": factor for unit, factor in _READ_SIZES.items()},
}
_WRITTEN: Mapping[Dimension, Mapping[str, Decimal]] = {
    Dimension.SIZE: _SIZES,
    Dimension.TIME: _TIMES,
    Dimension.BANDWIDTH: {unit: _READ[Dimension.BANDWIDTH][unit] for unit in _RATES},
}
EXAMPLES = {
    Dimension.COUNT: "12",
    Dimension.RATIO: "0.5",
    Dimension.SIZE: '"4 MiB"',
    Dimension.TIME: '"0.5 ms"',
    Dimension.BANDWIDTH: '"1.1 GiB/s"',
}
_QUANTITY = re.compile(
    r"\s*([+-]?[0-9]{1,25}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,3})?)\s*(.*?)\s*"
)


def quantity(text: str, dimension: Dimension) -> float:
    """Return a quantity of a size, a time or a bandwidth in base units.

    Raises:
        ValueError: It is none; the message has the remedy.
    """
    match = _QUANTITY.fullmatch(text)
    units = _READ[dimension]
    if match is None or match.group(2) not in units:
        what = "has no unit" if match and not match.group(2) else f"is no {_words(dimension)}"
        known = ", ".join(unit for unit in units if unit.isascii())
        raise ValueError(f"{what}: write it as {EXAMPLES[dimension]} (units: {known})")
    return float(Decimal(match.group(1)) * units[match.group(2)])


def quantity_text(value: float, dimension: Dimension) -> str:
    """Return a value with its unit, handy and short; the same value is read from it again."""
    if dimension in (Dimension.COUNT, Dimension.RATIO):
        return str(int(value)) if value == int(value) else repr(value)
    texts = []
    for unit, factor in _WRITTEN[dimension].items():
        for number in _numbers(value, factor):
            if _is(text := f"{number} {unit}", value, dimension):
                texts.append((not 0.1 <= float(number) < 1100, len(text), text))
    return min(texts)[2] if texts else f"{value!r} {_base(dimension)}"


def rounded(value: float, dimension: Dimension, digits: int = 4) -> float:
    """Return a value with a few digits in the unit in which it is written."""
    if dimension in (Dimension.COUNT, Dimension.RATIO) or value == 0:
        return float(f"{value:.{digits}g}")
    units = list(_WRITTEN[dimension].values())[:5]
    factor = next((one for one in units if value >= float(one)), units[-1])
    return float(Decimal(f"{value / float(factor):.{digits}g}") * factor)


def _numbers(value: float, factor: Decimal) -> Iterator[str]:
    """Yield numbers that are the value in a unit, or nearly so."""
    yield format((Decimal(repr(value)) / factor).normalize(), "f")
    number = value / float(factor)
    yield str(int(number)) if isfinite(number) and number == int(number) else repr(number)


def _is(text: str, value: float, dimension: Dimension) -> bool:
    try:
        return quantity(text, dimension) == value
    except ValueError:
        return False


def _base(dimension: Dimension) -> str:
    return next(unit for unit, factor in _WRITTEN[dimension].items() if factor == 1)


def _words(dimension: Dimension) -> str:
    return {Dimension.SIZE: "size", Dimension.TIME: "time"}.get(dimension, "bandwidth")
