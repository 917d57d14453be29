# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Forms that change something: read, and known to come from the portal's own pages."""

from __future__ import annotations

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from stripewise.web._settings import ServerSettings

MOST_BYTES = 16_384
_FORM = "application/x-www-form-urlencoded"


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form; the last of several with one name.

    Raises:
        HTTPException: It is none, or too large.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415)
    length = 0
    parts = []
    async for part in request.stream():
        length += len(part)
        if length > MOST_BYTES:
            raise HTTPException(413)
        parts.append(part)
    request._body = b"".join(parts)
    found = await request.form(max_fields=40)
    return {name: value for name, value in found.items() if not isinstance(value, UploadFile)}


def is_own_form(request: Request, server: ServerSettings) -> bool:
    """Whether a browser sends a form from a page of this portal.

    Browsers tell the origin of every form that changes something; what tells none is no browser,
    and has no cookies that somebody else could misuse.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    host = request.headers.get("host", "")
    own = {server.origin} if server.url else {f"http://{host}", f"https://{host}"}
    return origin in own
