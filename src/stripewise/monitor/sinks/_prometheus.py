# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Serves the last values to Prometheus, or whoever scrapes as it does."""

from __future__ import annotations

import hashlib
import hmac
import logging
import ssl
import time
from collections.abc import Sequence
from email.message import Message
from typing import ClassVar

from stripewise.monitor._records import Round
from stripewise.monitor.metrics import Reading, health
from stripewise.monitor.sinks._answers import KeptAnswers
from stripewise.monitor.sinks._base import Sink, SinkError, SinkSettings
from stripewise.monitor.sinks._exposition import Exposition, Form
from stripewise.monitor.sinks._http import Answer, Listener
from stripewise.monitor.sinks._prometheus_settings import PrometheusSettings
from stripewise.monitor.sinks._secrets import read_token
from stripewise.monitor.sinks._tls import server_context

_LEAST_TOKEN = 16
_log = logging.getLogger("stripewise.monitor")
_START_PAGE = (
    b'<!DOCTYPE html>\n<html lang="en"><title>Stripewise monitor</title>'
    b'<p><a href="/metrics">Metrics of this server</a></p></html>\n'
)


class PrometheusSink(Sink):
    """Serves /metrics.

    Attributes:
        port: At which it listens, once it has started.
    """

    name: ClassVar[str] = "prometheus"
    summary: ClassVar[str] = "serves the last values to Prometheus and compatible databases"
    settings_class: ClassVar[type[SinkSettings]] = PrometheusSettings
    settings: PrometheusSettings

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Take settings; the port opens in `start`."""
        super().__init__(settings, server)
        self.port = 0
        self._exposition = Exposition(server)
        self._answers = KeptAnswers(self._exposition)
        self._listener: Listener | None = None
        self._last_scrape: float | None = None

    def missing(self) -> str:
        """Return which file of a key, certificate or token cannot be used."""
        try:
            self._check()
        except SinkError as error:
            return str(error)
        return ""

    def start(self) -> None:
        """Open the port."""
        context = self._check()
        host, port = self.settings.address
        try:
            self._listener = Listener(host, port, self._answer, context)
        except OSError as error:
            raise SinkError(
                f"cannot listen at {self.settings.listen} ({error.strerror}): choose another"
                f" address or port"
            ) from error
        self.port = int(self._listener.server_address[1])
        self._listener.start()
        scheme = "http" if context is None else "https"
        shown = f"[{host}]" if ":" in host else host
        _log.info("sink prometheus answers at %s://%s:%d/metrics", scheme, shown, self.port)

    def take(self, found: Round) -> None:
        """Take a round."""
        self._exposition.take(found)

    def health(self) -> Sequence[Reading]:
        """Return the time of the last scrape, and what was left out."""
        labels = (self.name,)
        found = [Reading(health.SINK_PROBLEMS, labels, self._exposition.problems)]
        if self._last_scrape is not None:
            found.append(Reading(health.SINK_LAST, labels, self._last_scrape))
        return found

    def stop(self) -> None:
        """Close the port."""
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def _check(self) -> ssl.SSLContext | None:
        """Check the files, and return the context of TLS."""
        own = self.settings
        if own.token_file is not None:
            read_token(own.token_file, _LEAST_TOKEN)
        if own.certificate is None or own.key is None:
            return None
        return server_context(own.certificate, own.key, own.client_ca)

    def _answer(self, path: str, headers: Message) -> Answer:
        if path == "/-/healthy":
            return Answer(200, b"healthy\n")
        if path == "/":
            return Answer(200, _START_PAGE, "text/html; charset=utf-8")
        if path != "/metrics":
            return Answer(404, b"no such page: see /metrics\n")
        return self._refusal(headers) or self._metrics(headers)

    def _refusal(self, headers: Message) -> Answer | None:
        """Return the answer to those who may not read; None: they may."""
        if self.settings.token_file is None:
            return None
        try:
            token = read_token(self.settings.token_file, _LEAST_TOKEN)
        except SinkError:
            return Answer(503, b"the token of this server cannot be read\n")
        scheme, _, given = str(headers.get("Authorization", "")).partition(" ")
        is_same = hmac.compare_digest(_digest(given.strip()), _digest(token))
        if scheme.lower() == "bearer" and is_same:
            return None
        how = (("WWW-Authenticate", "Bearer"),)
        return Answer(401, b"give the token of this server\n", headers=how)

    def _metrics(self, headers: Message) -> Answer:
        form = wanted_form(str(headers.get("Accept", "")))
        is_packed = "gzip" in str(headers.get("Accept-Encoding", "")).lower()
        body = self._answers.body(form, is_packed=is_packed)
        self._last_scrape = time.time()
        how = (("Content-Encoding", "gzip"),) if is_packed else ()
        return Answer(200, body, form.value, how)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def wanted_form(accept: str) -> Form:
    """Return the format that an Accept header prefers; Prometheus' own if it does not care."""
    best, form = 0.0, Form.TEXT
    for part in accept.split(","):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        values = dict(word.partition("=")[::2] for word in parameters)
        if kind == "application/openmetrics-text":
            found = Form.OPENMETRICS
            is_known = values.get("version", "1.0.0").strip('"') in ("1.0.0", "0.0.1")
        else:
            found, is_known = Form.TEXT, kind in ("text/plain", "text/*", "*/*")
        if is_known and (weight := _weight(values.get("q", "1"))) > best:
            best, form = weight, found
    return form


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
