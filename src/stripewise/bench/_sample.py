# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What one run of a case gave: a figure for each operation, with what is known beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """One figure of one run.

    Attributes:
        operation: "write", "read"; or of metadata "create", "stat", "read-file", "remove",
            "create-directory", "stat-directory", "remove-directory".
        amount: Bytes, or operations.
        seconds: From the first rank's begin to the last one's end, sync and close included where
            the case says so.
        phases: Name of a phase ("open", "transfer", "sync", "close") -> seconds, the maximum over
            ranks.
        percentiles: Of one operation of metadata: percent ("50", "90", "99", "100") -> seconds.
        worn_out: Whether a stonewall ended it and all ranks did as much as the fastest.
    """

    operation: str
    amount: float
    seconds: float
    phases: Mapping[str, float] = field(default_factory=dict)
    percentiles: Mapping[str, float] = field(default_factory=dict)
    worn_out: bool = False

    @property
    def rate(self) -> float:
        """Bytes, or operations, a second."""
        return self.amount / self.seconds


@dataclass(frozen=True)
class CaseRun:
    """One run of a case.

    Attributes:
        key: Of the case.
        repeat: Number of the run among those of its case, from 1.
        status: "ok", "failed", "timeout", "no-space", "no-nodes", "skipped".
        samples: Its figures; empty where it did not end well.
        message: Why not, in one line.
        started_unix_seconds: When it began.
        elapsed_seconds: Of the whole command.
        node_seconds: Nodes times the time that they were held.
        written_bytes: That it put on the storage.
        hints: That MPI-IO reported of the open file.
        layout: Of the file as found: "stripe_count", "stripe_size_bytes", "targets".
        circumstances: "load" (of this host at the start), "other_jobs" (of the batch system),
            "node_list", ...
    """

    key: str
    repeat: int
    status: str
    samples: tuple[Sample, ...] = ()
    message: str = ""
    started_unix_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    node_seconds: float = 0.0
    written_bytes: int = 0
    hints: Mapping[str, str] = field(default_factory=dict)
    layout: Mapping[str, Any] = field(default_factory=dict)
    circumstances: Mapping[str, Any] = field(default_factory=dict)
