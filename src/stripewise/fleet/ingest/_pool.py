# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Worker processes, one task each at a time: one that dies or hangs is replaced."""

from __future__ import annotations

import atexit
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from stripewise.fleet.ingest._work import Answer, Refused, Task, work

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["stripewise.fleet.ingest._work"])
_END_SECONDS = 5.0
AGAIN = "touch it to have it read again"
_TRIES = 2
"""A worker that is gone may have been ended from outside: its task is tried once more."""


class Done(NamedTuple):
    """A task and what came of it."""

    task: Task
    answer: Answer


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: Task | None = None
    tries: int = 0
    until: float = 0.0


class Pool:
    """As many workers as there may be at a time; they start when there is work."""

    def __init__(self, jobs: int, timeout_seconds: float) -> None:
        self._jobs = jobs
        self._timeout_seconds = timeout_seconds
        self._workers: list[_Worker] = []

    @property
    def busy(self) -> int:
        """How many tasks are under way."""
        return sum(one.task is not None for one in self._workers)

    @property
    def is_full(self) -> bool:
        """Whether every worker has a task."""
        return self.busy >= self._jobs

    def give(self, task: Task) -> None:
        """Begin a task; there must be a worker without one."""
        worker = next((one for one in self._workers if one.task is None), None)
        if worker is None:
            worker = _start()
            self._workers.append(worker)
        self._send(worker, task, 1)

    def wait(self, seconds: float) -> list[Done]:
        """Return the tasks that have ended, after at most so many seconds."""
        busy = [one for one in self._workers if one.task is not None]
        if not busy:
            return []
        ready = wait([one.pipe for one in busy], max(0.0, seconds))
        done = [self._take(one) for one in busy if one.pipe in ready]
        now = time.monotonic()
        done += [self._stop(one) for one in busy if one.pipe not in ready and now > one.until]
        return [one for one in done if one is not None]

    def close(self) -> None:
        """End all workers; one that is still at work is not waited for."""
        for one in self._workers:
            if one.task is not None:
                one.process.kill()
            one.pipe.close()
        for one in self._workers:
            one.process.join(_END_SECONDS)
            one.process.kill()
            one.process.join()
        self._workers.clear()

    def _send(self, worker: _Worker, task: Task, tries: int) -> None:
        worker.task, worker.tries = task, tries
        worker.until = time.monotonic() + self._timeout_seconds
        with suppress(BrokenPipeError, ConnectionResetError):  # seen at the next wait
            worker.pipe.send(task)

    def _take(self, worker: _Worker) -> Done | None:
        task, worker_task = worker.task, worker.tries
        assert task is not None
        try:
            answer: Answer = worker.pipe.recv()
        except (EOFError, OSError):  # it may have ended within its answer
            self._drop(worker)
            if worker_task < _TRIES:
                fresh = _start()
                self._workers.append(fresh)
                self._send(fresh, task, worker_task + 1)
                return None
            return Done(task, Refused("", f"{_how_it_ended(worker.process)}; {AGAIN}"))
        worker.task = None
        return Done(task, answer)

    def _stop(self, worker: _Worker) -> Done:
        task = worker.task
        assert task is not None
        self._drop(worker)
        seconds = f"{self._timeout_seconds:g}"
        return Done(task, Refused("", f"it was not read within {seconds} s; {AGAIN}"))

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _how_it_ended(process: BaseProcess) -> str:
    code = process.exitcode or 0
    if code < 0:
        return f"the process that read it was ended by {signal.Signals(-code).name}"
    return f"the process that read it ended with exit code {code}"


def _start() -> _Worker:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _serve(pipe: Connection) -> None:
    """Answer tasks until the other end is gone; signals of a terminal are for the other end."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            pipe.send(work(pipe.recv()))
    atexit._run_exitfuncs()  # multiprocessing does not: readers have processes of their own
