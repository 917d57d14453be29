# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the logs of what runs for long: the agent and the portal.

It stands by itself, since commands that write no log start sooner without `logging`.
"""

from __future__ import annotations

import logging
from typing import Any

from stripewise.present._printable import printable


class OneLine(logging.Formatter):
    """Formats each record of a log as one line; those of a traceback stand behind a bar below it.

    Texts of others are in many messages: none of them begins a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """Return the lines of a traceback."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  | {printable(line)}" for line in lines)
