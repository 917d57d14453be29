# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One run of the plan, and steps that want such runs."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from stripewise.model import Measurement, RunRole, Value

T = TypeVar("T")


@dataclass(frozen=True)
class RunSlot:
    """A run that the procedure wants, whatever tries it takes to get it.

    Attributes:
        name: Unique in the study and the same after a restart, e.g. "trial/3/candidate/1";
            behind the name of the case where there are several: "small:trial/3/candidate/1".
        role: Why it is made.
        settings: Tunable name to value; empty for the baseline.
        trial_number / pair_number: Of which trial and pair.
        timeout_seconds: Its time limit.
        sync: Whether files are fsync'ed at close.
        keep_output: Whether its working directory is still needed after it ended.
        case: Name of its case; "" in a study of one command.
    """

    name: str
    role: RunRole
    settings: Mapping[str, Value] = field(default_factory=dict)
    trial_number: int | None = None
    pair_number: int | None = None
    timeout_seconds: float | None = None
    sync: bool = True
    keep_output: bool = False
    case: str = ""


def attempt_name(slot: str, number: int) -> str:
    """Return the name of a further attempt at a run; that of the first, 0, is the slot's own."""
    return f"{slot}/again/{number}" if number else slot


Steps: TypeAlias = Generator[RunSlot, Measurement, T]
"""Yields the runs that it wants, is sent what they gave, returns what it made of them."""
