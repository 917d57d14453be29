# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes lines to one database by HTTP, and tells what it made of them."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from urllib.parse import urlencode, urlsplit

from stripewise.monitor.sinks._base import SinkError
from stripewise.monitor.sinks._influx_settings import TargetSettings
from stripewise.monitor.sinks._secrets import check_regular, read_secret, read_token
from stripewise.text import printable

_ANSWER_BYTES = 4096
_SHOWN_CHARACTERS = 200
_REFUSED = (400, 413, 422)


class Refused(Exception):
    """The database does not take these lines, and never will; the text is what it said."""


class InfluxClient:
    """One database."""

    def __init__(self, settings: TargetSettings) -> None:
        """Take where it is."""
        self._settings = settings
        parts = urlsplit(settings.url)
        self._host, self._port = parts.hostname or "", parts.port
        self._is_secure = parts.scheme == "https"
        if settings.version == 1:
            path, words = "/write", {"db": settings.database, "precision": "ns"}
        else:
            path = "/api/v2/write"
            words = {"org": settings.org, "bucket": settings.bucket, "precision": "ns"}
        self._path = f"{parts.path.rstrip('/')}{path}?{urlencode(words)}"

    def check(self) -> None:
        """See that the files of secrets and certificates can be used.

        Raises:
            SinkError: One cannot.
        """
        self._secret()
        self._context()

    def write(self, packed: bytes, timeout_seconds: float) -> None:
        """Write lines.

        Args:
            packed: The lines, by gzip.
            timeout_seconds: How long to wait for an answer.

        Raises:
            SinkError: That failed, and may succeed later.
            Refused: These lines are not taken.
        """
        status, said = self._post(packed, timeout_seconds)
        if status in _REFUSED:
            raise Refused(said or f"HTTP {status}")
        if not 200 <= status < 300:
            raise SinkError(f"{self._settings.url} {_words(status)}{f' ({said})' if said else ''}")

    def _post(self, packed: bytes, timeout_seconds: float) -> tuple[int, str]:
        headers = {
            "Content-Type": "text/plain; charset=utf-8", "Content-Encoding": "gzip",
            "User-Agent": "stripewise", "Connection": "close", **self._secret(),
        }  # fmt: skip
        connection = self._connection(timeout_seconds)
        try:
            connection.request("POST", self._path, packed, headers)
            answer = connection.getresponse()
            return answer.status, _said(answer.read(_ANSWER_BYTES))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SinkError(
                f"{self._settings.url} cannot be reached ({printable(reason)}): check url and"
                f" network"
            ) from error
        finally:
            connection.close()

    def _connection(self, timeout_seconds: float) -> http.client.HTTPConnection:
        """Return a connection; by itself it follows no redirect and uses no proxy."""
        context = self._context()
        if context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_seconds)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_seconds, context=context
        )

    def _context(self) -> ssl.SSLContext | None:
        if not self._is_secure:
            return None
        if self._settings.ca is not None:
            check_regular(self._settings.ca)
        try:
            return ssl.create_default_context(cafile=self._settings.ca)
        except OSError as error:
            reason = getattr(error, "reason", None) or error.strerror or error
            raise SinkError(
                f"ca {self._settings.ca} cannot be used ({reason}): give certificates as PEM"
            ) from error

    def _secret(self) -> dict[str, str]:
        own = self._settings
        if own.token_file is not None:
            return {"Authorization": f"Token {read_token(own.token_file)}"}
        if own.password_file is None:
            return {}
        pair = f"{own.user}:{read_secret(own.password_file)}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _said(body: bytes) -> str:
    """Return the first line of what a database said, safe to show."""
    text = body.decode("utf-8", "replace").strip()
    try:
        data = json.loads(text)
        text = str(data.get("error") or data.get("message") or text)
    except (ValueError, AttributeError):
        pass
    lines = text.splitlines() or [""]
    return printable(lines[0])[:_SHOWN_CHARACTERS]


def _words(status: int) -> str:
    if 300 <= status < 400:
        return f"answers with a redirect (HTTP {status}): give the address that it leads to"
    if status in (401, 403):
        return f"lets nobody in with these credentials (HTTP {status}): check them"
    if status == 404:
        return "has no such database, bucket or path (HTTP 404): make it, or check the name"
    return f"does not take lines now (HTTP {status})"
