# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the logs of long-running services: the agent and the portal.

It is a separate module, since commands that write no log start faster without `logging`.
"""

from __future__ import annotations

import logging
from typing import Any

from stripewise.present._printable import printable


class OneLine(logging.Formatter):
    """Formats each log record as one line, with the lines of a traceback after a bar below it.

    Messages often contain foreign text, which therefore never begins a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """Return the lines of a traceback, each after a bar."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  | {printable(line)}" for line in lines)
