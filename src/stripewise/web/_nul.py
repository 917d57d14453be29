# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""NUL, which is in no name and which PostgreSQL refuses, in addresses."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class WithoutNul:
    """Puts the character for unknown ones in place of NUL, as for bytes that are no UTF-8."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            query: bytes = scope["query_string"]
            for nul in (b"%00", b"\0"):
                query = query.replace(nul, b"%EF%BF%BD")
            scope = {
                **scope,
                "path": scope["path"].replace("\0", _UNKNOWN),
                "query_string": query,
            }
        await self.app(scope, receive, send)
