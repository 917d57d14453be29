# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in jobs of Slurm: an agent in an allocation carries out one after the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.errors import StudyError, UsageError
from stripewise.launch import _agent_files as files
from stripewise.launch import _records
from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.launch._command import resolve_program
from stripewise.launch._job_plan import Allocation, JobPlan
from stripewise.launch._local import umask
from stripewise.launch._slurm_environment import order_environment, write_tasks
from stripewise.launch._slurm_pool import Pool, pool_of
from stripewise.launch._slurm_spool import STALE_SECONDS, Spool
from stripewise.launch._supervise import result_of
from stripewise.runtime import Runtime
from stripewise.slurm import (
    JobState,
    JobStatus,
    Slurm,
    SlurmError,
    one_line,
    remedy_of,
    starts_never,
)

PLACE = "slurm.json"
"""In a run's record: the spool and the number of its order, which may move to another."""
IDLE_SECONDS = 120.0
"""An allocation ends so long after the tuner died, once its run has ended."""
HOLD_SECONDS = 300.0
"""An allocation ends if the tuner has no order for it for so long."""
ANSWER_SECONDS = 10.0
"""An agent that does not answer a cancellation for so long loses its job."""
SETTLE_SECONDS = 2.0
_CANCEL_SECONDS = 90.0
_AGAIN = ("time", "idle", "hold", "stop", "done", "lost")
"""Reasons of an agent's end after which an order that it did not begin goes to another one."""


@dataclass
class _Place:
    """Where a run's order is."""

    spool: Path
    number: int
    record: Path


class SlurmLauncher(Launcher):
    """Runs commands in allocations that it submits, keeps as long as they serve, and ends.

    The tuner and the agents talk through files below `directory`, which compute nodes must
    see.  The controller is asked only after jobs that pend or whose agent is quiet.
    """

    name = "slurm"
    poll_seconds = 0.5
    outlives_tuner = True

    def __init__(
        self,
        runtime: Runtime | None,
        plan: JobPlan,
        slurm: Slurm,
        directory: Path,
        *,
        places: int = 1,
        per_run: bool = False,
        idle_seconds: float = IDLE_SECONDS,
        hold_seconds: float = HOLD_SECONDS,
    ) -> None:
        """Take what jobs are made from.

        Args:
            runtime: What is preloaded; None: nothing.
            plan: Says how runs become jobs.
            slurm: Its commands.
            directory: For the spools; on storage that compute nodes see.
            places: How many runs may be in flight, each in an allocation of its own.
            per_run: Submit a job for each run.
            idle_seconds: An allocation ends so long after the tuner died.
            hold_seconds: An allocation ends without an order for so long.
        """
        self.runtime, self.plan, self.slurm = runtime, plan, slurm
        self.places = places
        self._directory = directory
        self._options = {
            "per_run": per_run,
            "idle_seconds": idle_seconds,
            "hold_seconds": hold_seconds,
        }
        self._where: dict[str, _Place] = {}
        self._problems: dict[str, str] = {}

    @property
    def _pool(self) -> Pool:
        return pool_of(self._directory, self.slurm, self.places, self._options)

    @property
    def node_seconds(self) -> float:
        """Time of all allocations so far, times their nodes."""
        return self._pool.node_seconds

    @property
    def n_jobs(self) -> int:
        """Jobs that were submitted for this study so far."""
        return self._pool.n_jobs

    def describe(self, handle: Handle) -> str:
        """Return what a run waits for, for people: "job 12 pends: Priority"; "" if it runs."""
        spool = self._spool(handle)
        if spool is None or spool.agent() is not None:
            return ""
        if not spool.job_id:
            return f"not submitted yet: {self.slurm.trouble or 'Slurm is asked'}"
        status = self.slurm.known(spool.job_id)
        if status is None or not status.state.waiting:
            return f"job {spool.job_id} was submitted"
        return f"job {spool.job_id} pends" + (
            f": {one_line(status.reason)}" if status.reason else ""
        )

    # -- submission --------------------------------------------------------------------------

    def submit(self, request: RunRequest) -> Handle:
        """Give a run to an allocation that waits, or submit one; see `Launcher.submit`.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
            UsageError: It cannot be made a job, or there is no Slurm here.
            SubmissionError: Slurm refuses the job.
            StudyError: The record directory holds a run already.
            StorageError: The record cannot be written.
        """
        if request.storage is not None:
            raise UsageError("jobs cannot run on emulated storage; use --launcher local")
        self.slurm.check()
        record = request.record_directory.absolute()
        allocation = self.plan.allocation(request)
        order = self._order(request, allocation, record)
        _records.write_request(request)
        spool = self._pool.idle(allocation) or self._pool.make(allocation)
        self._place(request.run_id, spool, order, record)
        data: dict[str, str | int | float] = {
            "record_directory": str(record),
            "spool": str(spool.path),
            "order": self._where[request.run_id].number,
            "job_id": spool.job_id,
        }
        return Handle(self.name, request.run_id, data)

    def _order(self, request: RunRequest, allocation: Allocation, record: Path) -> dict[str, Any]:
        """Return what the agent is told."""
        try:
            record.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _records.storage_error(error, record) from error
        stage = self.plan.stage(request)
        words: tuple[str, ...] = ()
        if self.plan.task_words and self.runtime is not None:
            words = write_tasks(self.runtime, request, stage, record)
        command = self.plan.command(request, record, words)
        program = resolve_program(command, request.directory)
        whole = self.runtime if not self.plan.task_words else None
        changes = order_environment(whole, request, stage, allocation.name)
        portable = _records.portable
        return {
            "run_id": request.run_id,
            "program": portable(program),
            "command": [portable(word) for word in command],
            "directory": portable(str(request.directory.absolute())),
            "record_directory": portable(str(record)),
            "timeout_seconds": allocation.limit_of_run(request.timeout_seconds),
            "umask": umask(),
            "stage": None
            if stage is None
            else {
                "variable": stage.variable,
                "mode": stage.mode,
                "globs": list(stage.globs),
                "source": portable(stage.source),
                "place": portable(stage.place),
            },
            **changes,
        }

    def _place(self, run_id: str, spool: Spool, order: dict[str, Any], record: Path) -> None:
        """Give an order to an allocation.

        First what finds the run again, then the order, then the job, and at last the agent is
        told: a tuner that dies in between neither loses the run nor makes it twice.
        """
        number = spool.orders + 1
        where = {"spool": str(spool.path), "order": number}
        try:
            files.replace(str(record / PLACE), where)
        except OSError as error:
            raise _records.storage_error(error, record / PLACE) from error
        spool.put(order)
        self._where[run_id] = _Place(spool.path, number, record)
        self._pool.use(spool)
        try:
            self._pool.submit(spool)
        except SlurmError:
            spool.close()
            raise
        spool.tell()

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a run whose order was written; None if there is none."""
        record = record_directory.absolute()
        place = _recorded_place(record)
        if place is None:
            return None
        order = files.read(str(place.spool / files.order_name(place.number)))
        if order is None or order["run_id"] != run_id:
            return None  # the tuner died before it was written
        spool = self._pool.spool(place.spool)
        data: dict[str, str | int | float] = {
            "record_directory": str(record),
            "spool": str(place.spool),
            "order": place.number,
            "job_id": spool.job_id if spool else 0,
        }
        return Handle(self.name, run_id, data)

    # -- looking -----------------------------------------------------------------------------

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended; lost agents and jobs are noticed here.

        Raises:
            SubmissionError: Slurm refuses a job that could not be submitted before.
        """
        place = self._find(handle)
        spool = self._pool.spool(place.spool)
        if spool is None or spool.closed:
            return self._end_lost(handle, place, "its allocation has ended")
        agent = spool.agent()
        if agent is not None and int(agent["ended"]) >= place.number:
            return self._end_told(handle, place, agent)
        if agent is not None and agent["state"] == "ended" and agent["reason"] in _AGAIN:
            return self._move(handle, place, spool)
        if not spool.job_id and agent is None:
            self._submit_again(spool)
            return False
        if agent is not None and not spool.job_id:
            spool.job_id = int(agent["job_id"])
        waits = agent is None or agent["state"] == "ended" or spool.quiet_seconds > STALE_SECONDS
        return waits and self._ask(handle, place, spool)

    def _submit_again(self, spool: Spool) -> None:
        """Submit what the controller did not take before, or the tuner died before it could."""
        spool.find_after = max(spool.find_after, 0)
        try:
            self._pool.submit(spool)
        except SlurmError:
            spool.close()
            raise

    def _ask(self, handle: Handle, place: _Place, spool: Spool) -> bool:
        """Ask Slurm after a job that should serve a run; True if the run has ended."""
        status = self._pool.status(spool)
        if status is None:
            return False
        if status.state is JobState.PENDING and starts_never(status.reason):
            remedy, reason = remedy_of(status.reason), one_line(status.reason)
            self._problems[handle.run_id] = f"job {spool.job_id} will not start ({reason})" + (
                f"; {remedy}" if remedy else "; see squeue --start, then begin anew"
            )
            self._pool.cancel([spool])
            spool.close()
            return self._end_lost(handle, place, f"its job would not start: {reason}")
        if status.state is JobState.PENDING:
            self._pool.make_way(status.reason)
        if not status.state.ended:
            spool.dead_since = None
            return False
        spool.dead_since = spool.dead_since or time.monotonic()
        if time.monotonic() - spool.dead_since < SETTLE_SECONDS:
            return False  # what its agent wrote last may not be seen here yet
        return self._job_over(handle, place, spool, status)

    def _job_over(self, handle: Handle, place: _Place, spool: Spool, status: JobStatus) -> bool:
        """The job has ended without having ended the run."""
        agent = spool.agent()
        if agent is not None and int(agent["order"]) < place.number:
            return self._move(handle, place, spool)  # it died while it waited for orders
        said = spool.output()
        how = f"its job {status.job_id} ended: {status.state}"
        how += (
            f" ({one_line(status.reason)})" if status.reason not in ("", "NonZeroExitCode") else ""
        )
        how += f": {said}" if said else ""
        if agent is None and status.state in (JobState.FAILED, JobState.COMPLETED):
            if not self._pool.has_worked:
                self._problems[handle.run_id] = _why_no_agent(spool, status, said)
        spool.close()
        return self._end_lost(handle, place, how)

    def _end_told(self, handle: Handle, place: _Place, agent: Mapping[str, Any]) -> bool:
        """The agent says that a run has ended; see that its result is here."""
        said = agent["said"].get(str(place.number))
        if said and not (place.record / _records.RESULT).is_file():
            remedy = "keep the study on storage that compute nodes see, with --study-dir"
            if "could not be stored" in said:
                remedy = "make room there, then go on with --resume"
            self._problems[handle.run_id] = f"{said}; {remedy}"
            return self._end_lost(handle, place, said)
        return True

    def _end_lost(self, handle: Handle, place: _Place, why: str) -> bool:
        """Record a run that nobody else will; what was recorded stays."""
        if not (place.record / _records.RESULT).is_file() and place.record.is_dir():
            with suppress(OSError):
                result = result_of(handle.run_id, started=time.time(), reason=why)
                _records.write_result(place.record, result)
        return True

    def _move(self, handle: Handle, place: _Place, spool: Spool) -> bool:
        """Give an order that an agent left behind to another allocation."""
        spool.close()
        order = files.read(str(spool.path / files.order_name(place.number)))
        if order is None or spool.is_cancelled(place.number):
            return self._end_lost(handle, place, "cancelled")
        allocation = spool.allocation
        other = self._pool.idle(allocation) or self._pool.make(allocation)
        self._place(handle.run_id, other, order, place.record)
        return False

    def collect(self, handle: Handle) -> Outcome:
        """Outcome of an ended run.

        Raises:
            UsageError: The run has not ended.
            StudyError: Nodes do not see the study, or the job will never start.
        """
        if not self.poll(handle):
            raise UsageError(f"run {handle.run_id} has not ended")
        problem = self._problems.pop(handle.run_id, "")
        if problem:
            raise StudyError(problem)
        record = self._find(handle).record
        result = _records.read_json(record / _records.RESULT)
        for _ in range(100):  # a network file system may show it late
            if result is not None or not record.is_dir():
                break
            time.sleep(0.1)
            result = _records.read_json(record / _records.RESULT)
        if result is None:
            raise StudyError(
                f"the result of run {handle.run_id} is not in {record}, or damaged; remove that "
                "run's record and go on with --resume"
            )
        return _records.outcome(record, result)

    # -- the end -----------------------------------------------------------------------------

    def cancel(self, handle: Handle) -> None:
        """End the run and every process of it; returns when nothing of it is left."""
        if self._poll_quietly(handle):
            return
        place = self._find(handle)
        spool = self._pool.spool(place.spool)
        assert spool is not None
        with suppress(OSError):
            spool.cancel(place.number)
        if spool.agent() is None:
            self._pool.give_back(spool)
            self._end_lost(handle, place, "cancelled")
            return
        if not self._wait_for_agent(place, spool):
            self._pool.cancel([spool])
            self._wait_for_job(spool)
            spool.close()
        self._end_lost(handle, place, "cancelled")

    def _poll_quietly(self, handle: Handle) -> bool:
        try:
            return self.poll(handle)
        except SlurmError:
            return self._end_lost(handle, self._find(handle), "its job was refused")

    def _wait_for_agent(self, place: _Place, spool: Spool) -> bool:
        """Wait until the agent has ended an order; False if it does not answer."""
        deadline = time.monotonic() + _CANCEL_SECONDS
        while time.monotonic() < deadline:
            agent = spool.agent()
            if agent is None or spool.quiet_seconds > ANSWER_SECONDS:
                return False
            if int(agent["ended"]) >= place.number or agent["state"] == "ended":
                return True
            time.sleep(0.05)
        return False

    def _wait_for_job(self, spool: Spool) -> None:
        deadline = time.monotonic() + _CANCEL_SECONDS
        while spool.job_id and time.monotonic() < deadline:
            status = self._pool.status(spool)
            if status is not None and status.state.ended:
                return
            time.sleep(0.1)

    def close(self) -> None:
        """End the allocations; returns when they have ended, or their jobs were cancelled."""
        self._pool.close()

    # -- where -------------------------------------------------------------------------------

    def _find(self, handle: Handle) -> _Place:
        if handle.run_id not in self._where:
            record = Path(str(handle.data["record_directory"]))
            spool, number = Path(str(handle.data["spool"])), int(handle.data["order"])
            place = _recorded_place(record) or _Place(spool, number, record)
            self._where[handle.run_id] = place
        return self._where[handle.run_id]

    def _spool(self, handle: Handle) -> Spool | None:
        return self._pool.spool(self._find(handle).spool)


def _recorded_place(record: Path) -> _Place | None:
    data = files.read(str(record / PLACE))
    if data is None:
        return None
    return _Place(Path(str(data["spool"])), int(data["order"]), record)


def _why_no_agent(spool: Spool, status: JobStatus, said: str) -> str:
    if said:
        return (
            f"job {status.job_id} ended ({status.state}) before its agent began: {said}; compute "
            "nodes need python3, and must see the directory of the study"
        )
    return (
        f"job {status.job_id} ended ({status.state}) and left no output: compute nodes do not "
        f"see {spool.path}; keep the study on storage that they see, with --study-dir"
    )
