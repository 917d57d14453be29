# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Real databases of time series, of a test's own: Prometheus, VictoriaMetrics, InfluxDB 1.x.

with prometheus(scrape="scrape_configs: [...]") as server:
    server.query("up")
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.ports import free_port

_START_SECONDS = 60
_ASK_SECONDS = 20
PACKAGES = {
    "prometheus": "prometheus", "promtool": "prometheus",
    "victoria-metrics": "victoria-metrics", "influxd": "influxdb",
}  # fmt: skip
"""Debian's package of each program."""
_INFLUX = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{directory}/meta"
[data]
  dir = "{directory}/data"
  wal-dir = "{directory}/wal"
  index-version = "inmem"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  auth-enabled = {auth}
  log-enabled = false
[monitor]
  store-enabled = false
"""


def missing(program: str) -> str:
    """Return why there is no such program here; "": there is."""
    if shutil.which("setpriv") is None:
        return "no setpriv on PATH (Debian: util-linux)"
    if shutil.which(program) is None:
        return f"no {program} on PATH (Debian: {PACKAGES[program]})"
    return ""


def need(program: str) -> None:
    """Skip a test where a program is missing."""
    if why := missing(program):
        pytest.skip(why)


class Database:
    """A server of its own, in a directory of its own.  It also ends when this process is killed.

    Attributes:
        directory: With its data and its log.
        port: Of 127.0.0.1, at which it listens, after each start anew.
    """

    def __init__(
        self, words: Callable[[Path, int], list[str]], ready: str, flush: str = ""
    ) -> None:
        """Prepare it.

        Args:
            words: Gives the command for a directory and a port.
            ready: Path that answers with success when it can be used.
            flush: Path that makes what was written seen by queries; "": there is none.
        """
        self.directory = Path(tempfile.mkdtemp(prefix="swtsdb-"))
        self.port = free_port()
        self._words = words
        self._ready = ready
        self._flush = flush
        self._process: subprocess.Popen[bytes] | None = None
        self._is_known = False

    @property
    def url(self) -> str:
        """Return the URL of the server, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """Return what it wrote to its output."""
        return (self.directory / "log").read_text(errors="replace")

    def start(self) -> None:
        """Start it, and wait until it answers.

        It starts again where somebody has taken its port meanwhile: at another one the first time,
        and later when that one is free.
        """
        end = time.monotonic() + _START_SECONDS
        while not self._answers(end):
            assert time.monotonic() < end, f"it did not start: {self.log}"
            if not self._is_known:
                self.port = free_port()
            time.sleep(0.2)
        self._is_known = True

    def _answers(self, end: float) -> bool:
        """Start it; return whether it answers before it ends."""
        words = ["setpriv", "--pdeathsig", "KILL", *self._words(self.directory, self.port)]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory
            )
        while self._process.poll() is None and time.monotonic() < end:
            try:
                self.ask(self._ready)
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def stop(self, *, kill: bool = False) -> None:
        """Stop it, or kill it; `start` starts it again with its data, at the same port."""
        process, self._process = self._process, None
        if process is None:
            return
        (process.kill if kill else process.terminate)()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)

    def ask(
        self, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None,
        **parameters: str,
    ) -> bytes:  # fmt: skip
        """Ask at a path and return the answer; with data, by POST.

        Raises:
            OSError: It does not answer, or with an error (`urllib.error.HTTPError`).
        """
        url = self.url + path
        if parameters:
            url += "?" + urllib.parse.urlencode(parameters)
        request = urllib.request.Request(url, data, dict(headers or {}))
        with urllib.request.urlopen(request, timeout=_ASK_SECONDS) as answer:
            found: bytes = answer.read()
            return found

    def json(self, path: str, **parameters: str) -> Any:
        """Ask at a path and return the answer, parsed."""
        return json.loads(self.ask(path, **parameters))

    def query(self, expression: str, **parameters: str) -> list[dict[str, Any]]:
        """Return the result of an instant query in PromQL; time=SECONDS says when.

        Each has "metric", the labels, and "value", a time and a text.  An expression that the
        server refuses is an AssertionError with what it says.
        """
        return self._promql("/api/v1/query", query=expression, **parameters)

    def query_range(
        self, expression: str, start: float, end: float, step_seconds: float
    ) -> list[dict[str, Any]]:
        """Return the result of a range query in PromQL; each has "metric" and "values"."""
        return self._promql(
            "/api/v1/query_range", query=expression, start=str(start), end=str(end),
            step=str(step_seconds),
        )  # fmt: skip

    def _promql(self, path: str, **parameters: str) -> list[dict[str, Any]]:
        try:
            answer = self.json(path, **parameters)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            raise AssertionError(f"{parameters['query']}: {said}") from error
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def wait_for(self, expression: str, timeout_seconds: float = 60.0) -> list[dict[str, Any]]:
        """Ask a PromQL query again and again until it has a result, and return that."""
        end = time.monotonic() + timeout_seconds
        while True:
            self.flush()
            if found := self.query(expression):
                return found
            assert time.monotonic() < end, f"nothing for {expression}: {self.log[-2000:]}"
            time.sleep(0.1)

    def flush(self) -> None:
        """Make what was written seen by queries, where the server would take seconds for that."""
        if self._flush:
            self.ask(self._flush)

    def influxql(self, statement: str, **parameters: str) -> Any:
        """Run an InfluxQL statement and return its first result, parsed."""
        data = urllib.parse.urlencode({"q": statement}).encode()
        return json.loads(self.ask("/query", data, **parameters))["results"][0]


@contextmanager
def prometheus(
    scrape: str = "", data: Path | None = None, options: tuple[str, ...] = ()
) -> Iterator[Database]:
    """Start a Prometheus; stop it and remove it at the end.

    Args:
        scrape: Its configuration; file names in it are absolute.
        data: Directory of its blocks, as `promtool tsdb create-blocks-from` makes them; None: a
            new one.
        options: Further words of its command.
    """

    def words(directory: Path, port: int) -> list[str]:
        config = directory / "prometheus.yml"
        config.write_text(scrape or "scrape_configs: []\n")
        return [
            "prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
            f"--storage.tsdb.path={data or directory / 'data'}",
            "--storage.tsdb.retention.time=10y", *options,
        ]  # fmt: skip

    with _running(Database(words, "/-/ready")) as server:
        yield server


@contextmanager
def victoria_metrics(scrape: str = "", options: tuple[str, ...] = ()) -> Iterator[Database]:
    """Start a VictoriaMetrics; stop it and remove it at the end.

    It takes what is written, and scrapes what a configuration as of Prometheus says.
    """

    def words(directory: Path, port: int) -> list[str]:
        found = [
            "victoria-metrics", f"-storageDataPath={directory / 'data'}", "-retentionPeriod=10y",
            f"-httpListenAddr=127.0.0.1:{port}", "-search.latencyOffset=0s",
            "-memory.allowedBytes=128MiB", *options,
        ]  # fmt: skip
        if scrape:
            (directory / "scrape.yml").write_text(scrape)
            found.append(f"-promscrape.config={directory / 'scrape.yml'}")
        return found

    with _running(Database(words, "/health", "/internal/force_flush")) as server:
        yield server


@contextmanager
def influxdb(*, auth: bool = False) -> Iterator[Database]:
    """Start an InfluxDB 1.x; stop it and remove it at the end."""

    def words(directory: Path, port: int) -> list[str]:
        rpc = free_port()
        text = _INFLUX.format(directory=directory, port=port, rpc=rpc, auth=str(auth).lower())
        (directory / "influxdb.conf").write_text(text)
        return ["influxd", "-config", str(directory / "influxdb.conf")]

    with _running(Database(words, "/ping")) as server:
        yield server


@contextmanager
def _running(server: Database) -> Iterator[Database]:
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.directory, ignore_errors=True)
