# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists all boards in the order of the menu."""

from __future__ import annotations

from boards._board import Board
from boards._capacity import CAPACITY
from boards._client import CLIENTS
from boards._load import LOAD
from boards._metadata import METADATA
from boards._monitoring import MONITORING
from boards._overview import OVERVIEW
from boards._server import SERVERS
from boards._target import TARGETS

BOARDS: tuple[Board, ...] = (
    OVERVIEW, SERVERS, TARGETS, METADATA, LOAD, CLIENTS, CAPACITY, MONITORING,
)  # fmt: skip
