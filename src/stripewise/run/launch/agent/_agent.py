# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent, which carries out the tuner's orders on the first node of an allocation.

The batch script of a job calls `python3 -I -S _agent.py SPOOL`.  The spool is a directory that the
tuner's host sees too.  The clocks of the two hosts may differ, so only changes are compared, never
times.  It uses only the standard library.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
import uuid

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

if __package__:
    from stripewise.run.launch.agent import _agent_files as files
    from stripewise.run.launch.agent import _agent_run as runs
else:  # run as a script, without the package and site-packages
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import _agent_files as files  # type: ignore[import-not-found,no-redef]
    import _agent_run as runs  # type: ignore[import-not-found,no-redef]

BEAT_SECONDS = 1.0
IDLE_LOOK_SECONDS = 0.1
ORDER_SECONDS = 60.0
"""Maximum delay until a network file system shows an announced order."""
BEGIN_SECONDS = 30.0
"""Maximum delay between the start of the job and that of the agent (assumed; a prolog takes
time)."""
DISK_EXIT_CODE = 75


class Agent:
    """Serves one spool until the tuner ends it or disappears, or until its time limit.

    Attributes:
        served: Number of orders that were carried out.
        late_seconds: Delay of the agent's start after that of its job, which is charged as well.
        margin_seconds: Time before the end of the allocation at which Slurm's signal may arrive.
        copies_seconds: Longest time that the copies of a run to and from the burst buffer took.
        why_ended: Reason to record for a run that a signal ended; empty without a signal.
        at_limit: Whether the signal was sent because the allocation was about to end.
        is_lost: Whether runs can no longer start tasks in this job, since Slurm lost it or its
            steps.
    """

    def __init__(self, spool: str) -> None:
        self.spool = spool
        self.begun = time.monotonic()
        self.late_seconds = _late_seconds()
        self.state = files.read(os.path.join(spool, files.STATE)) or {}
        self.instance = uuid.uuid4().hex
        self.job_id = int(os.environ.get("SLURM_JOB_ID", "0"))
        self.control: dict[str, Any] = {"orders": 0, "cancel": [], "stop": False}
        self.order, self.ended, self.served = 0, 0, 0
        self.phase, self.reason = "idle", ""
        self.errors: dict[str, str] = {}
        self.margin_seconds = float(self.state.get("margin_seconds", 95.0))
        self.copies_seconds = 0.0
        self.why_ended = ""
        self.superseded = self.is_lost = self.at_limit = False
        self._beats, self._beat_at = 0, -BEAT_SECONDS
        self._changed_at = self._needed_at = self.begun
        self._wakeup = -1

    # -- set-up ------------------------------------------------------------------------------

    def prepare(self) -> bool:
        """Install signal handlers and take over the spool; return False if another job has it."""
        self._wakeup, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
            signal.signal(number, self._on_end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        before = files.read(self._path(files.AGENT))
        if before is not None:
            if int(before["job_id"]) != self.job_id:
                sys.stderr.write(f"this spool is served by job {before['job_id']}\n")
                return False
            self._take_over(before)
        self.tell(durable=True)
        return True

    def _take_over(self, before: dict[str, Any]) -> None:
        """Continue where this job was interrupted by a requeue or a failure of its node."""
        self.order, self.ended = int(before["order"]), int(before["ended"])
        self.errors = dict(before["said"])
        if self.order > self.ended:
            order = files.read(self._path(files.order_name(self.order)))
            if order is not None:
                runs.record_interrupted(order, "its job was requeued while it ran")
            self.ended = self.order

    def _on_end(self, _number: int, _frame: object) -> None:
        rest = self.rest_seconds()
        self.at_limit = rest is not None and rest < self.margin_seconds + BEGIN_SECONDS
        name = f"its job {self.job_id}" if self.job_id else "its job"
        how = "reached its time limit" if self.at_limit else "was ended (SIGTERM)"
        self.why_ended = f"{name} {how}"

    def _path(self, name: str) -> str:
        return os.path.join(self.spool, name)

    # -- time --------------------------------------------------------------------------------

    def rest_seconds(self) -> float | None:
        """Time until the allocation ends; None if unknown."""
        total = self._granted_seconds()
        return None if total is None else total - (time.monotonic() - self.begun)

    def _granted_seconds(self) -> float | None:
        """Return the length of the allocation, from two time stamps of the controller."""
        try:
            return float(os.environ["SLURM_JOB_END_TIME"]) - float(
                os.environ["SLURM_JOB_START_TIME"]
            )
        except (KeyError, ValueError):
            wall = self.state.get("wall_seconds")
            return None if wall is None else float(wall)

    def _has_time(self, order: dict[str, Any]) -> bool:
        """Return whether a run is certain to end before Slurm's signal.

        The first run is tried in any case, since the allocation was requested to fit it, and
        another one would not be longer.
        """
        rest, limit = self.rest_seconds(), order.get("timeout_seconds")
        if not self.served or rest is None or limit is None:
            return True
        copies = self.copies_seconds if order.get("stage") else 0.0
        return rest - self.margin_seconds >= float(limit) + copies

    # -- the tuner ---------------------------------------------------------------------------

    def look(self) -> None:
        """Read the tuner's requests; any change counts as its heartbeat."""
        control = files.read(self._path(files.TUNER))
        if control is not None and control != self.control:
            if int(control["orders"]) > int(self.control["orders"]):
                self._needed_at = time.monotonic()
            self.control, self._changed_at = control, time.monotonic()

    def tell(self, *, durable: bool = False) -> None:
        """Report the state of the agent, at most once per second unless it is `durable`."""
        now = time.monotonic()
        if not durable and now - self._beat_at < BEAT_SECONDS:
            return
        if self._beats:
            now_there = files.read(self._path(files.AGENT))
            if now_there is not None and now_there["instance"] != self.instance:
                self.superseded = True  # Slurm restarted the job on another node
                return
        self._beat_at = now
        self._beats += 1
        files.overwrite(self._path(files.AGENT), self._report())

    def _report(self) -> dict[str, Any]:
        return {
            "beat": self._beats,
            "instance": self.instance,
            "job_id": self.job_id,
            "host": socket.gethostname(),
            "state": self.phase,
            "reason": self.reason,
            "order": self.order,
            "ended": self.ended,
            "served": self.served,
            "said": {number: text[:250] for number, text in list(self.errors.items())[-2:]},
            "alive_seconds": round(self.late_seconds + time.monotonic() - self.begun, 3),
        }

    def is_cancelled(self, number: int) -> bool:
        """Return whether the tuner has cancelled an order."""
        return bool(self.control["stop"]) or number in self.control["cancel"]

    # -- the orders --------------------------------------------------------------------------

    def serve(self) -> str:
        """Carry out orders until there is a reason to end, and return the reason."""
        while True:
            self.look()
            if reason := self._over():
                return reason
            if self.ended >= int(self.control["orders"]):
                self.pause(IDLE_LOOK_SECONDS)
                self.tell()
            elif not self._carry_out(self.ended + 1):
                return "time"
            elif self.state.get("per_run"):
                return "done"

    def _over(self) -> str:
        if self.superseded:
            return "superseded"
        if self.why_ended:
            return "signal"
        if self.is_lost:
            return "lost"
        waiting = self.ended < int(self.control["orders"])
        if self.control["stop"] and not waiting:
            return "stop"
        now = time.monotonic()
        quiet = now - max(self._changed_at, self._needed_at)
        if not waiting and quiet > float(self.state.get("idle_seconds", 120.0)):
            return "idle"
        if not waiting and now - self._needed_at > float(self.state.get("hold_seconds", 300.0)):
            return "hold"
        return ""

    def _carry_out(self, number: int) -> bool:
        """Carry out an order; return False if there is not enough time left."""
        order = self._read_order(number)
        if order is None:
            self._end_order(number, "its order cannot be read on the compute node")
            return True
        if not self.is_cancelled(number) and not self._has_time(order):
            return False
        error = runs.unseen(order)
        if not error:
            self.order, self.phase = number, "running"
            self.tell(durable=True)
            if self.superseded:
                return True
            run = runs.OrderRun(self, number, order)
            error = run.carry_out()
            self.copies_seconds = max(self.copies_seconds, sum(run.times.values()))
            self.served += 1
        if not self.superseded:
            self._end_order(number, error)
        return True

    def _end_order(self, number: int, error: str) -> None:
        if error:
            self.errors[str(number)] = error
        self.order = self.ended = number
        self.phase = "idle"
        self._needed_at = time.monotonic()
        self.tell(durable=True)

    def _read_order(self, number: int) -> dict[str, Any] | None:
        deadline = time.monotonic() + ORDER_SECONDS
        while (order := files.read(self._path(files.order_name(number)))) is None:
            self.look()
            if time.monotonic() > deadline or self.why_ended or self.is_cancelled(number):
                return None
            self.pause(IDLE_LOOK_SECONDS)
            self.tell()
        return order

    def pause(self, seconds: float) -> None:
        """Sleep until a signal arrives (also from a child that ends), at most for a time."""
        if select.select([self._wakeup], [], [], seconds)[0]:
            os.read(self._wakeup, 4096)

    def end(self, reason: str) -> None:
        """Report that this agent accepts no more orders."""
        self.phase, self.reason = "ended", reason
        self.tell(durable=True)


def _late_seconds() -> float:
    """Return how long ago the job began; 0.0 if the clocks of node and controller differ."""
    try:
        late = time.time() - float(os.environ["SLURM_JOB_START_TIME"])
    except (KeyError, ValueError):
        return 0.0
    return late if 0.0 <= late <= BEGIN_SECONDS else 0.0


def main(spool: str) -> int:
    """Serve a spool; the exit code tells whether this was possible."""
    os.umask(0o077)
    try:
        agent = Agent(spool)
        if not agent.prepare():
            return 0
        agent.end(agent.serve())
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
        return DISK_EXIT_CODE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
