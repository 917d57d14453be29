# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs of what runs for long: the agent and the portal."""

from __future__ import annotations

import logging
import textwrap
from typing import Any

from stripewise.text import printable

FORMAT = "%(asctime)s stripewise: %(levelname)s: %(message)s"


class OneLine(logging.Formatter):
    """Formats each record of a log as one line; those of a traceback below it are indented.

    Texts of others are in many messages: none of them begins a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """Return the lines of a traceback."""
        return textwrap.indent(
            "\n".join(map(printable, super().formatException(ei).split("\n"))), "  "
        )


def log_to_standard_error(level: str, form: str) -> None:
    """Have all logs written to standard error, a line each."""
    logging.raiseExceptions = False  # a closed standard error must not become more errors
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine(form))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
