# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pipe in the place of a secret or certificate is refused: to open it would take for ever."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from stripewise.centre.database.store import open_store
from stripewise.centre.monitor import Reading
from stripewise.centre.monitor.sinks._base import SinkError, create_sink, read_secret
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from stripewise.core.errors import UsageError
from support.certificates import make_certificate
from support.fake_influx import fake_influx
from support.monitor_rounds import READ, made_round

WORDS = "pipe (cannot be read|is not a file)"


@pytest.fixture(autouse=True)
def _no_test_waits() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError("a pipe is waited for")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path, 0o600)
    return path


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, Path]:
    make_certificate(tmp_path)
    (tmp_path / "key.pem").chmod(0o600)
    return {"certificate": tmp_path / "cert.pem", "key": tmp_path / "key.pem"}


def test_a_secret(pipe: Path) -> None:
    with pytest.raises(SinkError, match=WORDS):
        read_secret(pipe)


@pytest.mark.parametrize("name", ["certificate", "key", "client_ca", "token_file"])
def test_files_of_prometheus(pipe: Path, certificate: dict[str, Path], name: str) -> None:
    settings = {"listen": "127.0.0.1:0", **certificate, name: pipe}
    with pytest.raises(SinkError, match=WORDS):
        create_sink(
            "prometheus", {key: str(value) for key, value in settings.items()}, "a"
        ).start()


@pytest.mark.parametrize("more", [
    {"token_file": "", "version": 2, "org": "a", "bucket": "b"},
    {"password_file": "", "user": "a"},
])  # fmt: skip
def test_secrets_of_influx(pipe: Path, more: dict[str, Any]) -> None:
    given = {key: value if value else str(pipe) for key, value in more.items()}
    with fake_influx() as fake:
        refused({"url": fake.url, "database": "io", **given})
        assert fake.taken == []


def test_the_authority_of_influx(pipe: Path) -> None:
    refused({"url": "https://127.0.0.1:1", "database": "io", "ca": str(pipe)})


def refused(settings: dict[str, Any]) -> None:
    sink = create_sink("influx", settings, "a")
    sink.take(made_round([Reading(READ, ("f", "t"), 1)], 1))
    with pytest.raises(SinkError, match=WORDS):
        sink.deliver()


def test_the_password_of_the_statistics_database(pipe: Path) -> None:
    url = "postgresql://me@127.0.0.1:1/none"
    with pytest.raises(SinkError, match=WORDS):
        StoreSink(StoreSettings(database=url, password_file=str(pipe)), "a").start()
    with pytest.raises(UsageError, match=WORDS):
        open_store(url, str(pipe))
