# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The figures that a description of storage can hold: names, dimensions, meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from types import MappingProxyType

_NO_VALUE = {
    "client.turns": "writes run side by side",
    "metadata.growth": "targets do not matter",
    "layout.granularity": "files choose their targets",
    "noise.cv": "every run takes the same time",
}


class Dimension(StrEnum):
    """What a figure is measured in; the record holds base units."""

    COUNT = "count"
    """A number without unit, at least 1."""
    RATIO = "ratio"
    """A number without unit, at least 0."""
    SIZE = "bytes"
    TIME = "seconds"
    BANDWIDTH = "bytes per second"


class Evidence(StrEnum):
    """Where a figure comes from."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class FigureSpec:
    """A figure that a description can hold.

    Attributes:
        name: Table and key of the TOML file, "client.process_write".
        dimension: Of its value.
        default: In base units, where a description does not have it; None: it must have it.
        meaning: One line for people.
        most: Its greatest value.
    """

    name: str
    dimension: Dimension
    default: float | None
    meaning: str
    most: float = inf

    @property
    def absence(self) -> str:
        """What it means that a description does not have it, for people."""
        if self.default is None:
            return "must be described"
        if self.default == inf:
            return "limits nothing"
        if self.default == 0:
            return _NO_VALUE.get(self.name, "costs nothing")
        shown = {"layout.stripe_count": "one", "layout.stripe_size": "1 MiB"}
        return f"{shown.get(self.name, '4 KiB')} is taken"


@dataclass(frozen=True)
class Figure:
    """A figure of a description.

    Attributes:
        value: In base units (bytes, seconds, bytes a second, or a plain number).
        kind: Measured, documented or assumed.
        source: Who says so; not empty.
        low / high: Interval of 95 %, if one is known; in base units.
    """

    value: float
    kind: Evidence
    source: str
    low: float | None = None
    high: float | None = None


_COUNT, _RATIO, _SIZE = Dimension.COUNT, Dimension.RATIO, Dimension.SIZE
_TIME, _RATE = Dimension.TIME, Dimension.BANDWIDTH

FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec("machine.nodes", _COUNT, None, "Compute nodes."),
    FigureSpec("machine.ranks_per_node", _COUNT, None, "Cores, and so ranks, of a node."),
    FigureSpec("client.process_write", _RATE, inf, "Writes of one process into one file."),
    FigureSpec("client.process_read", _RATE, inf, "Reads of one process from one file."),
    FigureSpec(
        "client.file_write", _RATE, inf, "Writes of all processes of a node into one file."
    ),
    FigureSpec("client.file_read", _RATE, inf, "Reads of all processes of a node from one file."),
    FigureSpec(
        "client.sharing", _RATIO, 0.0, "More time of that for each further process that writes it."
    ),
    FigureSpec(
        "client.turns", _RATIO, 0.0, "Share of a write for which others of the node and file wait."
    ),
    FigureSpec("client.node_write", _RATE, inf, "Writes of one node."),
    FigureSpec("client.node_read", _RATE, inf, "Reads of one node."),
    FigureSpec(
        "client.memory", _RATE, inf, "Copies between processes of a node before they are written."
    ),
    FigureSpec("client.request", _TIME, 0.0, "Own time of a process for each request."),
    FigureSpec("servers.targets", _COUNT, None, "Targets: OSTs, burst-buffer nodes, disks."),
    FigureSpec("servers.target_write", _RATE, None, "Writes of one target."),
    FigureSpec("servers.target_read", _RATE, None, "Reads of one target."),
    FigureSpec("servers.target_request", _TIME, 0.0, "Time of a target for each request."),
    FigureSpec(
        "servers.jitter", _RATIO, 0.0, "Share of a target's time that is chance, 0 to 1.", 1.0
    ),
    FigureSpec(
        "servers.slow_share", _RATIO, 1.0, "Share of its speed that one slow target has.", 1.0
    ),
    FigureSpec("servers.slow_target", _RATIO, 0.0, "Which target that is, from 0."),
    FigureSpec("servers.whole_write", _RATE, inf, "Writes of the whole storage."),
    FigureSpec("servers.whole_read", _RATE, inf, "Reads of the whole storage."),
    FigureSpec(
        "locks.revoke", _TIME, 0.0, "An object's lock goes to another node: callback, flush."
    ),
    FigureSpec("locks.ahead", _TIME, 0.0, "Lock-ahead: time of the process for a request's lock."),
    FigureSpec("locks.hold", _TIME, 0.0, "Lock-ahead: for which a node's stream of a file waits."),
    FigureSpec(
        "locks.extent", _TIME, 0.0, "Lock-ahead: more of that, for each writer at other nodes."
    ),
    FigureSpec(
        "locks.page", _TIME, 0.0, "A page shared with another node is read and written back."
    ),
    FigureSpec("locks.page_size", _SIZE, 4096.0, "Page of the client's cache."),
    FigureSpec("exchange.round", _TIME, 0.0, "Collective buffering: each round of an aggregator."),
    FigureSpec("exchange.rank", _TIME, 0.0, "Collective buffering: each round, for every rank."),
    FigureSpec(
        "exchange.bandwidth", _RATE, inf, "Collective buffering: data into one aggregator."
    ),
    FigureSpec("metadata.open", _TIME, 0.0, "Metadata server: an open of a file that exists."),
    FigureSpec("metadata.create", _TIME, 0.0, "Metadata server: a new file."),
    FigureSpec("metadata.stat", _TIME, 0.0, "Metadata server: stat, access and their kin."),
    FigureSpec("metadata.remove", _TIME, 0.0, "Metadata server: unlink, rename, rmdir, mkdir."),
    FigureSpec(
        "metadata.object", _TIME, 0.0, "Metadata server: each stripe of a file that is opened."
    ),
    FigureSpec("metadata.latency", _TIME, 0.0, "Way to the metadata server and back."),
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
"""All, in the order in which they are shown."""

SPEC_OF: Mapping[str, FigureSpec] = MappingProxyType({spec.name: spec for spec in FIGURES})
"""Name -> figure."""
