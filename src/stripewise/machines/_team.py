# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several processes that make requests at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

_WORKER = Path(__file__).with_name("_direct_worker.py")


class Team:
    """Processes of the probe; they end with the block, or with this process."""

    def __init__(self, number: int) -> None:
        self.workers = [
            subprocess.Popen(
                [sys.executable, "-S", "-E", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(number)
        ]

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            if error is not None:
                worker.kill()
            with suppress(OSError, ValueError):
                worker.communicate()

    def run(self, orders: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Let as many processes as there are orders work at the same time.

        Raises:
            OSError: The storage refuses one of them; the others have ended as well.
        """
        workers = self.workers[: len(orders)]
        for worker, order in zip(workers, orders, strict=True):
            _tell(worker, json.dumps(order))
        ready = [_hear(worker) for worker in workers]
        waiting = [w for w, said in zip(workers, ready, strict=True) if said == "ready"]
        for worker in waiting:
            _tell(worker, "go")
        answers = [json.loads(said) for said in ready if said != "ready"]
        answers += [json.loads(_hear(worker)) for worker in waiting]
        for answer in answers:
            if "error" in answer:
                raise OSError(0, answer["error"])
        return answers


def _tell(worker: subprocess.Popen[str], text: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(text + "\n")
    worker.stdin.flush()


def _hear(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    said = worker.stdout.readline().rstrip("\n")
    if not said:
        raise OSError(0, "a process of the probe ended early")
    return said
