# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One writer at a time."""

from __future__ import annotations

from sqlalchemy import Connection, text

_LOCK = 7305317


def write_alone(connection: Connection, wait_seconds: float = 0.0) -> None:
    """Let nobody else write until the end of the transaction, on PostgreSQL as on SQLite.

    What is looked up stays true until then.

    Args:
        connection: Within a transaction, which on SQLite has begun as one that writes.
        wait_seconds: How long to wait for others; 0: for ever.
    """
    if connection.dialect.name != "postgresql":
        return
    if wait_seconds:
        connection.execute(text(f"SET LOCAL lock_timeout = {int(wait_seconds * 1000)}"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
