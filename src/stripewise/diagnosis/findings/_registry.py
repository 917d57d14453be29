# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All rules; within a group the more particular ones come first."""

from __future__ import annotations

from stripewise.diagnosis.findings._base import Rule
from stripewise.diagnosis.findings._chunks import ChunkMismatch
from stripewise.diagnosis.findings._collective import Shredded, SmallIndependent
from stripewise.diagnosis.findings._idle import IdleHints
from stripewise.diagnosis.findings._imbalance import Imbalance
from stripewise.diagnosis.findings._metadata import (
    NameCalls,
    OpenPerStep,
    RepeatedStat,
)
from stripewise.diagnosis.findings._same import RedundantReads
from stripewise.diagnosis.findings._small import SmallRequests
from stripewise.diagnosis.findings._sync import SyncPerWrite

RULES: tuple[Rule, ...] = (
    ChunkMismatch(),
    RedundantReads(),
    Shredded(collective=True),
    Shredded(collective=False),
    SmallIndependent(),
    SmallRequests(),
    OpenPerStep(),
    RepeatedStat(),
    NameCalls(),
    SyncPerWrite(),
    Imbalance(),
    IdleHints(),
)
