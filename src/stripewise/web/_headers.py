# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every answer of the portal says to the browser about safety."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_YEAR_SECONDS = 365 * 86400


def safe_headers(*, is_secure: bool) -> dict[str, str]:
    """Return the headers of an answer that says nothing else about them.

    Args:
        is_secure: Browsers reach the portal by https.
    """
    headers = {**_HEADERS, "cache-control": "no-store"}
    if is_secure:
        headers["strict-transport-security"] = f"max-age={_YEAR_SECONDS}"
    return headers


class SafeHeaders:
    """Adds the headers to every answer; nothing of the database is kept by caches."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self.app = app
        self.headers = safe_headers(is_secure=is_secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_safely if scope["type"] == "http" else send)
