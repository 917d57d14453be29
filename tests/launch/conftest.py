# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.launch import Handle, LocalLauncher, Outcome, RunRequest
from stripewise.launch._processes import process_table, send, strays


class Runs:
    """Makes requests and knows all run ids, to look for what they left."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.launcher = LocalLauncher(None)
        self.run_ids: list[str] = []

    def request(self, *command: str, **options: object) -> RunRequest:
        run_id = str(uuid4())
        self.run_ids.append(run_id)
        work = self.directory / run_id / "work"
        work.mkdir(parents=True)
        record = self.directory / run_id / "record"
        return RunRequest(run_id, command, work, record, **options)  # type: ignore[arg-type]

    def shell(self, script: str, **options: object) -> RunRequest:
        return self.request("/bin/sh", "-c", script, **options)

    def run(self, request: RunRequest, seconds: float = 60) -> tuple[Handle, Outcome]:
        handle = self.launcher.submit(request)
        assert self.launcher.wait(handle, seconds)
        return handle, self.launcher.collect(handle)

    def left(self) -> list[int]:
        return strays(self.run_ids, process_table())


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path)
    yield made
    for pid in made.left():
        send(pid, 9)


@pytest.fixture
def eventually() -> Callable[..., None]:
    def wait(condition: Callable[[], object], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not come true in time"
            time.sleep(0.01)

    return wait
