# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One run of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.model import RunRole, Value


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
