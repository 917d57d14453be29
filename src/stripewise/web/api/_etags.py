# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ETags: a caller who has an answer already is told so, and gets nothing more."""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ETags:
    """Gives answers below a path an ETag of their content, and answers 304 to who has it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_asked = scope["type"] == "http" and scope["path"].startswith(self.prefix)
        if not is_asked or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        start: Message = {}
        body = bytearray()

        async def keep(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send(scope, send, start, bytes(body))

        await self.app(scope, receive, keep)


async def _send(scope: Scope, send: Send, start: Message, body: bytes) -> None:
    if start["status"] == 200:
        headers = MutableHeaders(scope=start)
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["etag"] = tag
        headers["cache-control"] = "private, no-cache"
        headers["vary"] = "authorization, cookie"
        asked = Headers(scope=scope).get("if-none-match", "")
        if tag in {one.strip().removeprefix("W/") for one in asked.split(",")}:
            start["status"] = 304
            del headers["content-length"]
            body = b""
    await send(start)
    await send({"type": "http.response.body", "body": body})
