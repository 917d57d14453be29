# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What an ingest is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

SETTLE_SECONDS = 60.0
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class IngestOptions:
    """How inputs are taken in.

    Attributes:
        roots: Files and directories.
        cluster: On which they were made; "": not told.
        jobs: Worker processes.
        settle_seconds: A file that changed more recently is left for the next time.
        rate: Most inputs that are read in a second; 0: as many as go.
        part: (number, of how many): inputs are shared out by their paths.
        dry_run: Only tell what would be read.
        timeout_seconds: For which one input may be read.
    """

    roots: tuple[Path, ...]
    cluster: str = ""
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    settle_seconds: float = SETTLE_SECONDS
    rate: float = 0.0
    part: tuple[int, int] = (1, 1)
    dry_run: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS
