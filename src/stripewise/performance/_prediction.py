# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What any model says of settings: the record that strategies and adoption take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stripewise.model import Value


@dataclass(frozen=True)
class Prediction:
    """A model of what settings cost on a storage.

    Attributes:
        source: What the model describes, for people: "archer2-hdd".
        tunables: Names of the tunables that it knows the effect of.
        seconds: Settings -> I/O time of the program in seconds; None: it cannot tell.
        error: Median relative error on programs that it was not fitted to; None: not known.
    """

    source: str
    tunables: frozenset[str]
    seconds: Callable[[Mapping[str, Value]], float | None]
    error: float | None = None
