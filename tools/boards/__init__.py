# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Generates Grafana's boards and Prometheus' rules for monitoring from the table of metrics.

python tools/boards           write deploy/monitoring/{grafana,prometheus} and tables of the docs
python tools/boards --check   exit 1 if they are out of date
"""

from boards._board import Board
from boards._files import outdated, write
from boards._registry import BOARDS

__all__ = ["BOARDS", "Board", "outdated", "write"]
