# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The limits behind a campaign's figures, and the laws that hold between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isnan

from stripewise.machines import Storage

ALL_TARGETS = "all targets together are the limit"
"""Why the whole has no limit of its own."""


@dataclass(frozen=True)
class Limit:
    """One limit of a storage.

    Attributes:
        figure: Its name in a machine description: "client.process_write", "servers.target_read",
            "metadata.create".
        value: Bytes a second; of metadata operations a second; of latencies seconds; of shares 0
            to 1.
        low / high: Interval of 95 %.
        evidence: Keys of the cases that tell it.
        sentence: What it is and where it was seen, for people.
    """

    figure: str
    value: float
    low: float
    high: float
    evidence: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Law:
    """A relation between figures that holds here, or does not.

    Attributes:
        name: "stripes", "per-process-saturates", ...
        sentence: In words, with figures: "parallel bandwidth = serial bandwidth x min(stripes,
            nodes)".
        holds: Whether the measured cells follow it.
        error: Median relative distance of the cells that it is about.
        evidence: Their keys.
    """

    name: str
    sentence: str
    holds: bool
    error: float
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Predicted:
    """A cell as the fitted description predicts it.

    Attributes:
        key: Of the case.
        operation: "write" or "read".
        predicted: Bytes a second.
        measured: The median; NaN: it was not run, or was left out of the fit to be predicted.
        left_out: The fit did not see it.
    """

    key: str
    operation: str
    predicted: float
    measured: float
    left_out: bool = False


@dataclass(frozen=True)
class Limits:
    """What campaigns tell of a storage.

    Attributes:
        storage: Its description, with the limits as figures.
        limits: Of process, file, node, target, the whole, the metadata server.
        laws: Those that could be tested.
        untold: Figure -> why the campaigns do not tell it, in words.
        predicted: Cells, measured or not.
        error: Median relative error of the cells that were left out of the fit; NaN: none was.
        notes: What else is to be said, in whole sentences.
    """

    storage: Storage
    limits: tuple[Limit, ...]
    laws: tuple[Law, ...] = ()
    untold: Mapping[str, str] = field(default_factory=dict)
    predicted: tuple[Predicted, ...] = ()
    error: float = float("nan")
    notes: tuple[str, ...] = ()

    def unproven_above(self, way: str) -> float:
        """Return the most that a case reached, where none was limited by the whole; else inf.

        What is predicted above it no case has shown: the whole may be less than its targets.

        Args:
            way: "write" or "read".
        """
        why = self.untold.get(f"servers.whole_{way}", ALL_TARGETS)
        seen = [
            one.measured for one in self.predicted
            if one.operation == way and not isnan(one.measured)
        ]  # fmt: skip
        return inf if why == ALL_TARGETS or not seen else max(seen)
