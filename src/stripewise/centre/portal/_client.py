# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Provides a client of the portal's API, version 1."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stripewise.core.errors import StripewiseError, UsageError
from stripewise.core.extras import require

if TYPE_CHECKING:
    import httpx

_API = "/api/v1"
_PART = 500
_TRIES = 4
_TIMEOUT_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 60.0
_MOST_KNOWN, _MOST_KNOWN_BYTES = 100, 1 << 20
"""Maximum number and size of cached answers: whole profiles are not cached."""


class PortalError(StripewiseError):
    """The portal does not answer, or refuses a request.

    Attributes:
        code: HTTP status; 0 if there was no answer.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Portal:
    """A portal, for the owner of a token.

    Use it as a context manager, or call `close`. Every call may raise `PortalError`.
    """

    def __init__(self, url: str = "", token: str = "", *, client: httpx.Client | None = None):
        """Prepare the connection to a portal; nothing is sent yet.

        Args:
            url: Address that browsers use: "https://io.example.org"; "" for that in
                STRIPEWISE_PORTAL.
            token: Token from the account's page; "" for that in STRIPEWISE_TOKEN.
            client: HTTP client to use; None for a new one.

        Raises:
            UsageError: The address or the token is missing or invalid.
            RuntimeMissingError: httpx is not installed.
        """
        require("client", "the client of the portal")
        import httpx

        url = (url or os.environ.get("STRIPEWISE_PORTAL", "")).strip()
        token = (token or os.environ.get("STRIPEWISE_TOKEN", "")).strip()
        if not url.startswith(("https://", "http://")):
            raise UsageError(
                f"{url!r} is not a portal's address: give one, or set STRIPEWISE_PORTAL"
            )
        if not token:
            raise UsageError("no token is given: make one in the portal and set STRIPEWISE_TOKEN")
        if not (token.isascii() and token.isprintable()):
            raise UsageError("the token has characters that no token has: copy it once more")
        self._client = client or httpx.Client(timeout=_TIMEOUT_SECONDS)
        self._base = url.rstrip("/") + _API
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._known: dict[str, tuple[str, bytes]] = {}

    def __enter__(self) -> Portal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def me(self) -> dict[str, Any]:
        """Return login, role and rights of the token."""
        return dict(self._get("/me"))

    def jobs(self, *, sort: str = "-start_at", **conditions: object) -> Iterator[dict[str, Any]]:
        """Yield the jobs that meet all conditions, which are named as in the API's reference.

        Args:
            sort: Column to sort by; a leading minus puts the largest first.
            **conditions: Conditions such as `program="wrf"` or `least_avoidable_seconds=10`.
        """
        yield from self._parts("/jobs", {"sort": sort, **conditions})

    def job(self, key: int) -> dict[str, Any]:
        """Return one job, by its key in the portal, with the data of all its sources."""
        return dict(self._get(f"/jobs/{int(key)}"))

    def files(self, key: int, source: int) -> Iterator[dict[str, Any]]:
        """Yield the files of one source of a job."""
        yield from self._parts(f"/jobs/{int(key)}/sources/{int(source)}/files", {})

    def profile(self, key: int, source: int) -> dict[str, Any]:
        """Return the whole profile of one source, as `stripewise profile --json` prints it."""
        return dict(self._get(f"/jobs/{int(key)}/sources/{int(source)}/profile"))

    def programs(self, **period: object) -> list[dict[str, Any]]:
        """Return the programs of the jobs that you see in a period (`since`, `until`)."""
        return list(self._get("/programs", period)["items"])

    def storage(self) -> list[dict[str, Any]]:
        """Return the present state of each file system."""
        return list(self._get("/storage")["items"])

    def load(self, name: str, **period: object) -> dict[str, Any]:
        """Return the load of a file system (`period="week"`, `until`)."""
        return dict(self._get(f"/storage/{quote(name, safe='')}/load", period))

    def benchmarks(self, name: str) -> list[dict[str, Any]]:
        """Return the benchmark results of a file system."""
        return list(self._get(f"/storage/{quote(name, safe='')}/benchmarks")["items"])

    def events(self, **conditions: object) -> Iterator[dict[str, Any]]:
        """Yield events of the storage, newest first (`file_system`, `kind`, `since`)."""
        yield from self._parts("/events", conditions)

    def _parts(self, path: str, words: dict[str, object]) -> Iterator[dict[str, Any]]:
        after = ""
        while True:
            part = self._get(path, {**words, "after": after, "limit": _PART})
            yield from part["items"]
            after = part["next"] or ""
            if not after:
                return

    def _get(self, path: str, words: dict[str, object] | None = None) -> Any:
        """Return an answer; if it has not changed since the last request, it is not sent again."""
        import httpx

        parameters = {
            name: str(value) for name, value in (words or {}).items() if value not in (None, "")
        }
        try:
            answer = self._sent(path, parameters)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise PortalError(
                f"{self._base} does not answer ({error}): is the address right?"
            ) from error
        key, content = str(answer.request.url), answer.content
        if answer.status_code == 304 and key in self._known:
            content = self._known[key][1]
        elif answer.status_code != 200:
            raise PortalError(_refusal(answer), answer.status_code)
        elif "ETag" in answer.headers and len(content) <= _MOST_KNOWN_BYTES:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = (answer.headers["ETag"], content)
        try:
            return json.loads(content)
        except ValueError as error:
            raise PortalError(
                f"{self._base}{path}: the answer is not JSON: is this the address of a portal?",
                answer.status_code,
            ) from error

    def _sent(self, path: str, parameters: dict[str, str]) -> httpx.Response:
        """Send a request, and repeat it if the portal asks to wait."""
        for attempt in range(_TRIES):
            request = self._client.build_request(
                "GET", self._base + path, params=parameters, headers=self._headers
            )
            if known := self._known.get(str(request.url)):
                request.headers["If-None-Match"] = known[0]
            answer = self._client.send(request)
            if answer.status_code not in (429, 503) or attempt == _TRIES - 1:
                break
            time.sleep(_wait_seconds(answer.headers.get("Retry-After", ""), attempt))
        return answer


def _wait_seconds(retry_after: str, attempt: int) -> float:
    """Return the seconds to wait: as requested by the portal, else longer with each attempt."""
    try:
        seconds = float(retry_after)
    except ValueError:  # empty, or a date
        seconds = -1.0
    return min(seconds, _LONGEST_WAIT_SECONDS) if seconds >= 0 else 2.0**attempt


def _refusal(answer: httpx.Response) -> str:
    try:
        text = str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        text = "no reason is given"
        if answer.has_redirect_location:
            text = f"it leads to {answer.headers['Location']}: give the portal's own address"
    return f"{answer.request.url.path}: {answer.status_code}: {text}"
