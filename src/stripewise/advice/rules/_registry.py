# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All rules, in the order in which users read their advice."""

from __future__ import annotations

from stripewise.advice._base import Rule
from stripewise.advice.rules._adios2 import Adios2
from stripewise.advice.rules._aggregators import AggregatorNumber
from stripewise.advice.rules._burst_buffer import BurstBuffer
from stripewise.advice.rules._collective import CollectiveCalls
from stripewise.advice.rules._locks import LockModes
from stripewise.advice.rules._metadata import Metadata
from stripewise.advice.rules._serial import SerialOutput
from stripewise.advice.rules._shared_or_own import SharedOrOwn
from stripewise.advice.rules._striping import Striping
from stripewise.advice.rules._transfer import TransferSize
from stripewise.advice.rules._transport import TransportChoice

RULES: tuple[Rule, ...] = (
    Striping(),
    SharedOrOwn(),
    SerialOutput(),
    CollectiveCalls(),
    AggregatorNumber(),
    LockModes(),
    TransportChoice(),
    Adios2(),
    TransferSize(),
    Metadata(),
    BurstBuffer(),
)


def rule_names() -> tuple[str, ...]:
    """Return the names of all rules."""
    return tuple(one.name for one in RULES)
