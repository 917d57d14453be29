# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the figures of a storage description with dimensions, and reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import inf, isfinite
from types import MappingProxyType

_NO_VALUE = {
    "client.turns": "writes run side by side",
    "metadata.growth": "targets do not matter",
    "layout.granularity": "files choose their targets",
    "noise.cv": "every run takes the same time",
}


class Dimension(StrEnum):
    """Physical dimension of a figure; the record is in base units."""

    COUNT = "count"
    """A number without unit, at least 1."""
    RATIO = "ratio"
    """A number without unit, at least 0."""
    SIZE = "bytes"
    TIME = "seconds"
    BANDWIDTH = "bytes per second"


class FigureOrigin(StrEnum):
    """Origin of a figure."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class FigureSpec:
    """A figure that a description can contain.

    Attributes:
        name: Table and key in the TOML file, "client.process_write".
        dimension: Dimension of its value.
        default: Value in base units if a description lacks it; None if it is required.
        meaning: One line for people.
        most: Maximum value.
    """

    name: str
    dimension: Dimension
    default: float | None
    meaning: str
    most: float = inf

    @property
    def absence(self) -> str:
        """Meaning of its absence from a description, for people."""
        if self.default is None:
            return "must be described"
        if self.default == inf:
            return "limits nothing"
        if self.default == 0:
            return _NO_VALUE.get(self.name, "costs nothing")
        shown = {
            "layout.stripe_count": "one stripe",
            "layout.stripe_size": "1 MiB",
            "servers.slow_share": "full speed",
        }
        return shown.get(self.name, "4 KiB")


@dataclass(frozen=True)
class Figure:
    """A figure of a description.

    Attributes:
        value: Value in base units (bytes, seconds, bytes per second, or a plain number).
        kind: Measured, documented or assumed.
        source: Source of the value; not empty.
        low / high: Ends of the 95 % interval, if one is known; in base units.
    """

    value: float
    kind: FigureOrigin
    source: str
    low: float | None = None
    high: float | None = None


_COUNT, _RATIO, _SIZE = Dimension.COUNT, Dimension.RATIO, Dimension.SIZE
_TIME, _RATE = Dimension.TIME, Dimension.BANDWIDTH

FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec("machine.nodes", _COUNT, None, "Compute nodes."),
    FigureSpec("machine.ranks_per_node", _COUNT, None, "Cores per node, and so ranks per node."),
    FigureSpec(
        "client.process_write", _RATE, inf, "Write bandwidth of one process into one file."
    ),
    FigureSpec("client.process_read", _RATE, inf, "Read bandwidth of one process from one file."),
    FigureSpec(
        "client.file_write",
        _RATE,
        inf,
        "Write bandwidth of all processes of a node into one file.",
    ),
    FigureSpec(
        "client.file_read", _RATE, inf, "Read bandwidth of all processes of a node from one file."
    ),
    FigureSpec(
        "client.sharing",
        _RATIO,
        0.0,
        "Shared file: share by which each further process lengthens a write.",
    ),
    FigureSpec(
        "client.turns",
        _RATIO,
        0.0,
        "Share of a write during which other writers of the node and file wait.",
    ),
    FigureSpec("client.node_write", _RATE, inf, "Write bandwidth of one node."),
    FigureSpec("client.node_read", _RATE, inf, "Read bandwidth of one node."),
    FigureSpec(
        "client.memory",
        _RATE,
        inf,
        "Bandwidth of copies between processes of a node, before data is written.",
    ),
    FigureSpec(
        "client.request",
        _TIME,
        0.0,
        "Time of a process for each request, in addition to its data.",
    ),
    FigureSpec("servers.targets", _COUNT, None, "Targets: OSTs, burst-buffer nodes, disks."),
    FigureSpec("servers.target_write", _RATE, None, "Write bandwidth of one target."),
    FigureSpec("servers.target_read", _RATE, None, "Read bandwidth of one target."),
    FigureSpec(
        "servers.target_request",
        _TIME,
        0.0,
        "Time of a target for each request, in addition to its data.",
    ),
    FigureSpec("servers.jitter", _RATIO, 0.0, "Random share of a target's time, 0 to 1.", 1.0),
    FigureSpec(
        "servers.slow_share",
        _RATIO,
        1.0,
        "Speed of one slow target, as a share of the normal speed.",
        1.0,
    ),
    FigureSpec("servers.slow_target", _RATIO, 0.0, "Number of the slow target, from 0."),
    FigureSpec("servers.whole_write", _RATE, inf, "Write bandwidth of the whole storage."),
    FigureSpec("servers.whole_read", _RATE, inf, "Read bandwidth of the whole storage."),
    FigureSpec(
        "locks.revoke",
        _TIME,
        0.0,
        "Time to move an object's lock to another node: callback and flush.",
    ),
    FigureSpec(
        "locks.ahead",
        _TIME,
        0.0,
        "Lock-ahead: time that a process needs for the lock of a request.",
    ),
    FigureSpec(
        "locks.hold",
        _TIME,
        0.0,
        "Lock-ahead: how long a node's stream into a file waits for a lock.",
    ),
    FigureSpec(
        "locks.extent", _TIME, 0.0, "Lock-ahead: additional wait for each writer on other nodes."
    ),
    FigureSpec(
        "locks.page", _TIME, 0.0, "Time to read and write back a page shared with another node."
    ),
    FigureSpec("locks.page_size", _SIZE, 4096.0, "Page size of the client's cache."),
    FigureSpec(
        "exchange.round", _TIME, 0.0, "Collective buffering: time of an aggregator in each round."
    ),
    FigureSpec(
        "exchange.rank", _TIME, 0.0, "Collective buffering: time in each round for every rank."
    ),
    FigureSpec(
        "exchange.bandwidth", _RATE, inf, "Collective buffering: bandwidth into one aggregator."
    ),
    FigureSpec("metadata.open", _TIME, 0.0, "Metadata server: time to open an existing file."),
    FigureSpec("metadata.create", _TIME, 0.0, "Metadata server: time to create a file."),
    FigureSpec(
        "metadata.stat", _TIME, 0.0, "Metadata server: time of stat, access and similar calls."
    ),
    FigureSpec(
        "metadata.remove", _TIME, 0.0, "Metadata server: time of unlink, rename, rmdir and mkdir."
    ),
    FigureSpec(
        "metadata.object",
        _TIME,
        0.0,
        "Metadata server: time for each stripe of a file that is opened.",
    ),
    FigureSpec("metadata.latency", _TIME, 0.0, "Round trip to the metadata server."),
    FigureSpec("metadata.growth", _RATIO, 0.0, "Metadata takes targets**growth times as long."),
    FigureSpec("layout.stripe_count", _COUNT, 1.0, "Stripes of a new file by default."),
    FigureSpec(
        "layout.stripe_size", _SIZE, float(1 << 20), "Stripe size of a new file by default."
    ),
    FigureSpec(
        "layout.granularity", _SIZE, 0.0, "Burst buffer: capacity of a node; 0: fixed targets."
    ),
    FigureSpec("noise.cv", _RATIO, 0.0, "Coefficient of variation of a run's bandwidth."),
)
"""All figures, in the order in which they are shown."""

SPEC_OF: Mapping[str, FigureSpec] = MappingProxyType({spec.name: spec for spec in FIGURES})
"""Specification of each figure by name."""


# Quantities with units, read and written: "1.1 GiB/s", "0.5 ms", "4 MiB".

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
        ValueError: The text is not such a quantity; the message has the remedy.
    """
    match = _QUANTITY.fullmatch(text)
    units = _READ[dimension]
    if match is None or match.group(2) not in units:
        what = "has no unit" if match and not match.group(2) else f"is not a {_words(dimension)}"
        known = ", ".join(unit for unit in units if unit.isascii())
        raise ValueError(f"{what}: write it as {EXAMPLES[dimension]} (units: {known})")
    return float(Decimal(match.group(1)) * units[match.group(2)])


def quantity_text(value: float, dimension: Dimension) -> str:
    """Return a value as short text with its unit, from which the same value is read."""
    if dimension in (Dimension.COUNT, Dimension.RATIO):
        return str(int(value)) if value == int(value) else repr(value)
    texts = []
    for unit, factor in _WRITTEN[dimension].items():
        for number in _numbers(value, factor):
            if _reads_as(text := f"{number} {unit}", value, dimension):
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


def _reads_as(text: str, value: float, dimension: Dimension) -> bool:
    try:
        return quantity(text, dimension) == value
    except ValueError:
        return False


def _base(dimension: Dimension) -> str:
    return next(unit for unit, factor in _WRITTEN[dimension].items() if factor == 1)


def _words(dimension: Dimension) -> str:
    return {Dimension.SIZE: "size", Dimension.TIME: "time"}.get(dimension, "bandwidth")
