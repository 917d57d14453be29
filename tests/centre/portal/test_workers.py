# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages that other processes make: the same as here, and made here where those have died."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.accounts import Accounts, Sessions
from stripewise.centre.portal import PortalSettings, create_app
from stripewise.centre.portal._workers import Workers

SETTINGS = PortalSettings.model_validate(
    {"server": {"url": "http://testserver", "requests_per_minute": 1000, "logins_per_minute": 2}}
)


_MOMENT = re.compile(r"since=\d+")


class Portal:
    """A portal whose pages are made by two processes."""

    def __init__(self, engine: Engine) -> None:
        account = Accounts(engine).make("ada", by="test", role="admin")
        made = Sessions(engine).start(account, backend="test")
        self.headers = {"cookie": f"stripewise={made.secret}"}
        self.csrf = made.csrf
        self.workers = Workers()
        self.app = create_app(engine, settings=SETTINGS, workers=self.workers)
        self.here = TestClient(create_app(engine, settings=SETTINGS), follow_redirects=False)
        self.workers.begin(self.app, engine, 2)
        self.client = TestClient(self.app, follow_redirects=False)

    @property
    def processes(self) -> list[int]:
        pool = self.workers._pool
        return [] if pool is None else sorted(pool._processes)

    def get(self, path: str, **more: str) -> Any:
        return self.client.get(path, headers={**self.headers, **more})


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    engine = create_engine(str(tmp_path / "fleet.sqlite"), 3)
    initialise(engine)
    made = Portal(engine)
    yield made
    made.workers.end()
    engine.dispose()


PATHS = (
    *("/", "/login", "/jobs", "/jobs?as=csv", "/jobs?as=no", "/jobs/7", "/account", "/none"),
    *("/api/v1/me", "/api/v1/jobs/7", "/staff/quality", "/static/portal.css", "/login/oidc"),
)


def test_pages_are_the_same_as_if_they_were_made_here(portal: Portal) -> None:
    for path in PATHS:
        there, here = portal.get(path), portal.here.get(path, headers=portal.headers)
        assert there.status_code == here.status_code, path
        assert _MOMENT.sub("", there.text) == _MOMENT.sub("", here.text), path
        assert dict(there.headers) == dict(here.headers), path
    assert len(portal.processes) == 2


def test_an_answer_that_the_caller_has_is_not_sent_again(portal: Portal) -> None:
    tag = portal.get("/api/v1/me").headers["etag"]
    assert portal.get("/api/v1/me", **{"if-none-match": tag}).status_code == 304


def test_what_changes_something_is_done_here_and_seen_there(portal: Portal) -> None:
    form = {"csrf": portal.csrf, "name": "a-token", "days": "3"}
    made = portal.client.post("/account/tokens", data=form, headers=portal.headers)
    assert made.status_code == 200
    assert "a-token" in portal.get("/account").text
    for _ in range(SETTINGS.server.logins_per_minute):
        portal.client.post("/login", data={"user": "ada", "secret": "x"})
    assert portal.client.post("/login", data={"user": "ada", "secret": "x"}).status_code == 429


def test_processes_that_die_are_done_without(
    portal: Portal, caplog: pytest.LogCaptureFixture
) -> None:
    assert portal.get("/jobs").status_code == 200
    for one in portal.processes:
        os.kill(one, signal.SIGKILL)
    for _ in range(3):
        assert portal.get("/jobs").status_code == 200
    assert [record.message[:35] for record in caplog.records] == [
        "a process that makes pages has died"
    ]


_PARENT = """
import os, sys
from stripewise.centre.database import create_engine
from stripewise.centre.portal import Workers

async def application(scope, receive, send): ...

workers = Workers()
workers.begin(application, create_engine(sys.argv[1]), 2)
print(*workers._pool._processes, flush=True)
os.kill(os.getpid(), 9)
"""


def test_they_end_with_the_process_that_clients_talk_to(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PARENT, tmp_path / "fleet.sqlite"],
        stdout=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    processes, end = done.stdout.split(), time.monotonic() + 60
    assert len(processes) == 2
    while any(map(_runs, processes)):
        assert time.monotonic() < end
        time.sleep(0.01)


def _runs(process: str) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
