# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sends every round to InfluxDB, VictoriaMetrics or a compatible database, and reports errors."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.sinks._base import (
    Sink,
    SinkError,
    SinkSettings,
    check_regular,
    is_loopback,
    read_secret,
    read_token,
)
from stripewise.centre.monitor.sinks._lines import LineWriter, Packed, RoundQueue, pack
from stripewise.present import plural, printable

# Settings in [sinks.influx].

_MIB = 1 << 20
_PORTS = {"http": 80, "https": 443}


class TargetSettings(BaseModel):
    """Settings of one database.

    Attributes:
        url: URL of the server, including the path before /write if there is one.
        version: Version of its interface: 1 (also VictoriaMetrics) or 2.
        database: Name of the database, for version 1.
        org / bucket: Organisation and bucket, for version 2.
        user: User for version 1, with `password_file`.
        password_file: File with the password.
        token_file: File with a token.
        ca: File of certificates to check the server's against; None for those of the system.
        open: Whether to send a password or token without encryption.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    url: str
    version: Literal[1, 2] = 1
    database: str = ""
    org: str = ""
    bucket: str = ""
    user: str = ""
    password_file: Path | None = None
    token_file: Path | None = None
    ca: Path | None = None
    open: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        self._check_url()
        if self.version == 1 and not self.database:
            raise ValueError('database is missing: name it, as database = "storage"')
        if self.version == 2 and not (self.org and self.bucket):
            raise ValueError("version = 2 needs org and bucket: name them")
        if bool(self.user) != (self.password_file is not None):
            raise ValueError("give user and password_file together")
        if self.user and (self.token_file is not None or self.version == 2):
            raise ValueError("give token_file (version 2), or user and password_file (version 1)")
        self._check_secret()
        return self

    @property
    def place(self) -> tuple[object, ...]:
        """Identity of the database, however its address is written."""
        parts = urlsplit(self.url)
        port = parts.port or _PORTS[parts.scheme]
        server = parts.scheme, parts.hostname, port, parts.path.rstrip("/")
        name = (self.database,) if self.version == 1 else (self.org, self.bucket)
        return *server, self.version, *name

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_sound = False
        if not is_sound or not self.url.isprintable() or " " in self.url:
            raise ValueError(f"url = {self.url!r} is not an address such as https://influx:8086")
        if parts.username is not None:
            raise ValueError("url has a user in it: give user and password_file instead")
        if parts.query or parts.fragment:
            raise ValueError(f"url = {self.url!r}: leave out what follows the path")

    def _check_secret(self) -> None:
        parts = urlsplit(self.url)
        has_secret = self.user or self.token_file is not None
        if (
            has_secret
            and parts.scheme == "http"
            and not (self.open or is_loopback(parts.hostname))
        ):
            raise ValueError(
                f"url = {self.url!r} would send the password or token unencrypted: use https, or"
                f" open = true to allow it"
            )


class InfluxSettings(SinkSettings):
    """Settings in [sinks.influx]: keys of one database, or several as [[sinks.influx.targets]].

    Attributes:
        targets: The databases, each of which gets everything.
        queue_rounds: Maximum number of rounds that wait for a database.
        queue_bytes: Maximum memory that they take, compressed, for each database.
        batch_bytes: Maximum size of one request, uncompressed.
        timeout_seconds: Maximum time for the answer of a database.
    """

    targets: tuple[TargetSettings, ...] = Field(min_length=1, max_length=8)
    queue_rounds: int = Field(default=240, ge=1, le=1_000_000)
    queue_bytes: int = Field(default=8 * _MIB, ge=_MIB)
    batch_bytes: int = Field(default=4 * _MIB, ge=64 << 10, le=64 * _MIB)
    timeout_seconds: float = Field(default=10.0, gt=0.0, le=300.0)

    @model_validator(mode="after")
    def _are_apart(self) -> Self:
        places = [one.place for one in self.targets]
        for number, place in enumerate(places):
            if (first := places.index(place)) < number:
                raise ValueError(
                    f"targets[{number + 1}] is the database of targets[{first + 1}]: take one out"
                )
        return self

    @model_validator(mode="before")
    @classmethod
    def _of_one(cls, data: Any) -> Any:
        """Treat the keys of a single database as a list of one."""
        if not isinstance(data, dict):
            return data
        own = {key: value for key, value in data.items() if key in TargetSettings.model_fields}
        if "targets" in data:
            if own:
                raise ValueError(f"move {', '.join(own)} into [[sinks.influx.targets]]")
            return data
        rest = {key: value for key, value in data.items() if key not in own}
        return {**rest, "targets": (own,)}


# Sink for InfluxDB 1.x or 2.x, VictoriaMetrics, and databases with the same interface.

_LAST_SECONDS = 3.0
"""Maximum time for the last delivery."""


class _Target:
    """One database, and the rounds that wait for it."""

    def __init__(self, settings: TargetSettings, whole: InfluxSettings) -> None:
        self.url = settings.url
        self.client = InfluxClient(settings)
        self.queue = RoundQueue(whole.queue_rounds, whole.queue_bytes)
        self._batch_bytes = whole.batch_bytes

    def deliver(self, timeout_seconds: float, until: float) -> str:
        """Deliver waiting rounds, until a time of the monotonic clock.

        Returns:
            What the database refused, in one line; "" if nothing.

        Raises:
            SinkError: It failed; what was not accepted is kept.
        """
        refused, first = 0, ""
        while time.monotonic() < until and (batch := self.queue.take(self._batch_bytes)):
            try:
                said = self._send(batch, timeout_seconds)
            except BaseException:
                self.queue.give_back(batch)
                raise
            self.queue.settle(len(said))
            refused += len(said)
            first = first or next(iter(said), "")
        if not refused:
            return ""
        return f"{self.url} refused {plural(refused, 'round')}, which are dropped: {first}"

    def _send(self, batch: Sequence[Packed], timeout_seconds: float) -> list[str]:
        """Send rounds together; if the database refuses, send each one separately.

        Returns:
            For each round that was refused, the reason.
        """
        pieces = [piece for found in batch for piece in found.pieces]
        if len(batch) > 1 and pieces:
            try:
                self.client.write(b"".join(pieces), timeout_seconds)
                return []
            except Refused:
                pass  # find out which of them is bad
        said = [self._send_one(found, timeout_seconds) for found in batch]
        return [one for one in said if one]

    def _send_one(self, found: Packed, timeout_seconds: float) -> str:
        said = ""
        for piece in found.pieces:
            try:
                self.client.write(piece, timeout_seconds)
            except Refused as error:
                said = said or str(error)
        return said


class InfluxSink(Sink):
    """Sends rounds as lines."""

    name: ClassVar[str] = "influx"
    summary: ClassVar[str] = "sends all values to InfluxDB 1.x or 2.x, or VictoriaMetrics"
    settings_class: ClassVar[type[SinkSettings]] = InfluxSettings
    settings: InfluxSettings

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Store the settings; nothing is sent before `deliver`."""
        super().__init__(settings, server)
        self._writer = LineWriter(server)
        self._targets = [_Target(one, self.settings) for one in self.settings.targets]

    def missing(self) -> str:
        """Return which file with a secret or certificates cannot be used, or ""."""
        for target in self._targets:
            try:
                target.client.check()
            except SinkError as error:
                return str(error)
        return ""

    def take(self, found: Round) -> None:
        """Queue a round, compressed at once, since lines are many times as large."""
        packed = pack(self._writer.lines(found), self.settings.batch_bytes)
        if packed.pieces:
            for target in self._targets:
                target.queue.put(packed)

    def deliver(self) -> None:
        """Deliver waiting rounds to every database; one that fails does not stop the others."""
        self._deliver(self.settings.timeout_seconds, float("inf"))

    def stop(self) -> None:
        """Try once more to deliver, for a short time."""
        timeout_seconds = min(_LAST_SECONDS, self.settings.timeout_seconds)
        try:
            self._deliver(timeout_seconds, time.monotonic() + _LAST_SECONDS)
        except SinkError as error:
            left = sum(len(target.queue) for target in self._targets)
            if not left:
                raise  # its message states what was refused
            raise SinkError(f"{plural(left, 'round')} could not be delivered: {error}") from error

    def _deliver(self, timeout_seconds: float, until: float) -> None:
        failures = []
        for target in self._targets:
            try:
                failures.append(target.deliver(timeout_seconds, until))
            except SinkError as error:
                failures.append(str(error))
        if said := [failure for failure in failures if failure]:
            raise SinkError("; ".join(said))

    def health(self) -> Sequence[Reading]:
        """Return the waiting, lost and left-out amounts, summed over all databases."""
        labels = (self.name,)
        return (
            Reading(metrics.SINK_QUEUED, labels, sum(len(one.queue) for one in self._targets)),
            Reading(metrics.SINK_LOST, labels, sum(one.queue.lost for one in self._targets)),
            Reading(metrics.SINK_PROBLEMS, labels, self._writer.problems),
        )


# Writes lines to one database by HTTP, and interprets its answers.

_ANSWER_BYTES = 4096
_SHOWN_CHARACTERS = 200
_REFUSED = (400, 413, 422)


class Refused(Exception):
    """The database refuses these lines permanently; the message is its answer."""


class InfluxClient:
    """HTTP client of one database."""

    def __init__(self, settings: TargetSettings) -> None:
        """Store the address."""
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
        """Check that the files with secrets and certificates can be used.

        Raises:
            SinkError: One of them cannot.
        """
        self._secret()
        self._context()

    def write(self, packed: bytes, timeout_seconds: float) -> None:
        """Write lines.

        Args:
            packed: The lines, compressed by gzip.
            timeout_seconds: Maximum time for the answer.

        Raises:
            SinkError: Writing failed, but may succeed later.
            Refused: The database refuses these lines.
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
            return answer.status, _error_text(answer.read(_ANSWER_BYTES))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SinkError(
                f"{self._settings.url} cannot be reached ({printable(reason)}): check url and"
                f" network"
            ) from error
        finally:
            connection.close()

    def _connection(self, timeout_seconds: float) -> http.client.HTTPConnection:
        """Return a connection; it follows no redirects and uses no proxy."""
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


def _error_text(body: bytes) -> str:
    """Return the first line of a database's answer, safe to print."""
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
        return f"does not accept these credentials (HTTP {status}): check them"
    if status == 404:
        return "has no such database, bucket or path (HTTP 404): make it, or check the name"
    return f"does not take lines now (HTTP {status})"
