# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Manages the tuner's side of a spool: an allocation, from its submission to its end."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from stripewise.core.errors import StorageError, UsageError
from stripewise.run.launch import _records
from stripewise.run.launch._job_plan import SIGNAL_SECONDS, Allocation
from stripewise.run.launch.agent import _agent_files as files

NAME_PREFIX = "stripewise-"
_AGENT_FILES = (
    "_agent.py", "_agent_files.py", "_agent_run.py", "_processes.py",
    "_staging.py", "_supervise.py",
)  # fmt: skip
_OUTPUT = "job.out"
LEAST_PYTHON = (3, 9)
"""Minimum Python version for the agent (os.waitstatus_to_exitcode, os.pidfd_open)."""
_PYTHONS = ("python3", *(f"python3.{minor}" for minor in range(14, 8, -1)))
"""Names of Python on a node; the default of older systems is too old (3.6), with newer ones beside
it."""
STALE_SECONDS = 15.0
"""Time without a heartbeat after which Slurm is queried about an agent."""


class Spool:
    """An allocation, represented by its files.

    Attributes:
        path: Directory of the spool.
        job_id: Id of the job; 0 while unknown.
        closed: Whether the allocation receives no more orders.
        orders: Number of the newest order.
        lock: Lock of the files that the tuner writes, since a thread writes the heartbeat.
    """

    def __init__(self, path: Path, state: dict[str, Any]) -> None:
        self.path, self._state = path, state
        self.lock = threading.Lock()
        control = files.read(str(path / files.TUNER)) or {}
        self.orders = len(list(path.glob("order-*.json")))
        self._stop = bool(control.get("stop", False))
        self._cancelled: set[int] = set(control.get("cancel", ()))
        self._beats = int(control.get("beat", 0))
        self._agent: dict[str, Any] | None = None
        self._changed_at = time.monotonic()
        self.dead_since: float | None = None
        self.find_after = -1
        self.refused_at: float | None = None
        self.submitted_at = time.monotonic()

    @classmethod
    def make(cls, folder: Path, allocation: Allocation, options: dict[str, Any]) -> Spool:
        """Create the directory of a new allocation, which is not yet submitted.

        Raises:
            UsageError: Its path cannot be written in a script.
            StorageError: The disk refuses to write.
        """
        name = NAME_PREFIX + uuid4().hex[:12]
        path = folder / name
        if "\n" in str(path):
            raise UsageError(f"{str(path)!r} holds a line end; give another --study-dir")
        state = {"name": name, "job_id": 0, "closed": False, "allocation": asdict(allocation)}
        state |= {"wall_seconds": allocation.wall_seconds, **options}
        state["margin_seconds"] = allocation.margin_seconds
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700)
            agent = _copy_agent(folder)
            script = os.open(path / "batch.sh", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
            with open(script, "wb") as stream:
                stream.write(os.fsencode(batch_script(allocation, agent, path)))
            spool = cls(path, state)
            spool.save()
            spool.tell()
        except OSError as error:
            raise _records.storage_error(error, path) from error
        return spool

    @classmethod
    def find(cls, path: Path) -> Spool | None:
        """Return the allocation of a directory; None if there is none."""
        state = files.read(str(path / files.STATE))
        return None if state is None else cls(path, state)

    # -- the submission ----------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the job, which is unique."""
        return str(self._state["name"])

    @property
    def job_id(self) -> int:
        """Id of the job; 0 while unknown."""
        return int(self._state["job_id"])

    @job_id.setter
    def job_id(self, number: int) -> None:
        self._state["job_id"] = number
        self.save()

    @property
    def cluster(self) -> str:
        """Name of the cluster that has the job; empty if it is the local one or unknown."""
        return str(self._state.get("cluster", ""))

    def submitted(self, number: int, cluster: str) -> None:
        """Record the id of the job, and the cluster that accepted it."""
        self._state["cluster"] = cluster
        self.submitted_at = time.monotonic()
        self.job_id = number

    @property
    def closed(self) -> bool:
        """Whether the job has ended or will never start."""
        return bool(self._state["closed"])

    def close(self) -> None:
        """Record that the job has ended or will never start."""
        if not self.closed:
            self._state["closed"] = True
            with suppress(StorageError):
                self.save()

    @property
    def allocation(self) -> Allocation:
        """Allocation for which the spool was created."""
        made = self._state["allocation"]
        words = {name: tuple(made[name]) for name in ("arguments", "directives")}
        return Allocation(**{**made, **words})

    @property
    def arguments(self) -> list[str]:
        """Options of sbatch, with ours last in the first component, where they take effect."""
        given = list(self._state["allocation"]["arguments"])
        end = given.index(":") if ":" in given else len(given)
        ours = [
            f"--job-name={self.name}",
            f"--output={_no_pattern(self.path / _OUTPUT)}",
            f"--error={_no_pattern(self.path / _OUTPUT)}",
            "--open-mode=append",
            f"--signal=B:TERM@{SIGNAL_SECONDS}",
        ]
        return ["--no-requeue", *given[:end], *ours, *given[end:]]

    @property
    def script(self) -> Path:
        """Text of the batch script."""
        return self.path / "batch.sh"

    def save(self) -> None:
        """Write the state of the submission.

        Raises:
            StorageError: The disk is full, or refuses.
        """
        _records.replace_json(self.path / files.STATE, self._state)

    # -- requests of the tuner ------------------------------------------------------------------

    def tell(self) -> None:
        """Write the heartbeat and the requests to the agent."""
        with self.lock:
            self._beats += 1
            requests = {
                "beat": self._beats,
                "orders": self.orders,
                "cancel": sorted(self._cancelled)[-200:],
                "stop": self._stop,
            }
            files.overwrite(str(self.path / files.TUNER), requests)

    def put(self, order: dict[str, Any]) -> int:
        """Write an order without announcing it yet, and return its number.

        Raises:
            StorageError: The disk is full, or refuses.
        """
        number = self.orders + 1
        _records.replace_json(self.path / files.order_name(number), order)
        self.orders = number
        return number

    def cancel(self, number: int) -> None:
        """Announce that an order is cancelled."""
        self._cancelled.add(number)
        self.tell()

    def stop(self) -> None:
        """Announce that the agent should end."""
        self._stop = True
        self.tell()

    def is_cancelled(self, number: int) -> bool:
        """Return whether an order was cancelled."""
        return number in self._cancelled

    # -- reports of the agent -------------------------------------------------------------------

    def agent(self) -> dict[str, Any] | None:
        """Return the last report of the agent; None if it has not begun."""
        report = files.read(str(self.path / files.AGENT))
        if report is not None and report != self._agent:
            self._agent, self._changed_at = report, time.monotonic()
            self.dead_since = None
        return self._agent

    @property
    def quiet_seconds(self) -> float:
        """Time since the agent's last heartbeat, by this host's clock."""
        return time.monotonic() - self._changed_at

    @property
    def alive_seconds(self) -> float:
        """Time since the agent began."""
        return float(self._agent["alive_seconds"]) if self._agent else 0.0

    @property
    def ended(self) -> int:
        """Number of the last order up to which all have ended."""
        return int(self._agent["ended"]) if self._agent else 0

    @property
    def is_idle(self) -> bool:
        """Whether its agent is waiting for an order, or will do so when it begins."""
        agent = self.agent()
        over = agent is not None and agent["state"] == "ended"
        lives = agent is None or self.quiet_seconds < STALE_SECONDS
        free = lives and not (self._stop or over or self.closed)
        return free and self.ended >= self.orders

    @property
    def is_over(self) -> bool:
        """Whether its agent and every order have ended."""
        agent = self.agent()
        over = agent is not None and agent["state"] == "ended"
        return over and self.ended >= self.orders

    @property
    def may_return(self) -> bool:
        """Whether a signal ended its agent, in which case Slurm may have requeued the job."""
        agent = self.agent()
        return agent is not None and agent["reason"] == "signal"

    def output(self) -> str:
        """Return the last line that the batch script printed; empty if there is none."""
        return _records.last_line(self.path / _OUTPUT)


def batch_script(allocation: Allocation, agent: Path, spool: Path) -> str:
    """Return the script of a job: directives, then the agent.

    It uses the tuner's Python if the node has it, otherwise one of the node.
    """
    quote = shlex.quote
    words = f"-I -S -X utf8 {quote(str(agent))} {quote(str(spool))}"
    pythons = " ".join([quote(sys.executable or "python3"), *_PYTHONS])
    lines = [
        "#!/bin/sh",
        *allocation.directives,
        "umask 077",
        f"check='import sys; sys.exit(sys.version_info < {LEAST_PYTHON})'",
        f"for python in {pythons}; do",
        f'    "$python" -I -S -c "$check" 2>/dev/null && exec "$python" {words}',
        "done",
        'echo "no Python 3.9 or later here: $(python3 -V 2>&1)" >&2',
        "exit 1",
    ]
    return "\n".join(lines) + "\n"


def _copy_agent(folder: Path) -> Path:
    """Copy the agent to a directory that the nodes see, under a descriptive name."""
    here = Path(__file__).with_name("agent")
    sources = {name: (here / name).read_bytes() for name in _AGENT_FILES}
    digest = hashlib.sha256(b"\0".join(sources.values())).hexdigest()[:12]
    target = folder / f"agent-{digest}"
    target.mkdir(mode=0o700, exist_ok=True)
    for name, data in sources.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != data:
            temporary = target / f".{name}.{uuid4().hex[:8]}"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(data)
            os.replace(temporary, path)
    return target / "_agent.py"


def _no_pattern(path: Path) -> str:
    """Return a path quoted for --output, in which "%" begins a pattern.

    If the path contains a backslash, Slurm expands no patterns, and removes each backslash before
    another character (observed: Slurm 22.05).
    """
    text = str(path)
    return text.replace("\\", "\\\\") if "\\" in text else text.replace("%", "%%")
