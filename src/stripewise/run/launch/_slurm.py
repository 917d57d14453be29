# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands one after another in Slurm allocations, through an agent in each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stripewise.core.errors import StorageError, StripewiseError, StudyError, UsageError
from stripewise.run.launch import _records
from stripewise.run.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.run.launch._job_plan import Allocation, JobPlan, order_environment, write_tasks
from stripewise.run.launch._local import resolve_program
from stripewise.run.launch._slurm_pool import AllocationPool, pool_of
from stripewise.run.launch._slurm_spool import STALE_SECONDS, Spool
from stripewise.run.launch.agent import _agent_files as files
from stripewise.run.launch.agent._supervise import result_of
from stripewise.run.runtime import Runtime
from stripewise.run.slurm import (
    JobState,
    JobStatus,
    Slurm,
    SlurmError,
    one_line,
    remedy_of,
    starts_never,
    why_it_waits,
)

IDLE_SECONDS = 120.0
"""Time after the death of the tuner at which an allocation ends, once its run has ended."""
HOLD_SECONDS = 300.0
"""Time without orders from the tuner after which an allocation ends."""
ANSWER_SECONDS = 10.0
"""Time without an answer to a cancellation after which an agent's job is cancelled."""
_CANCEL_SECONDS = 90.0


SETTLE_SECONDS = 2.0
"""Maximum delay until the last messages of an agent are visible here."""
ENDS_BETWEEN_RUNS = ("time", "idle", "hold", "stop", "done", "lost")
"""Reasons for an agent's end after which an order that it did not begin moves to another one."""

_IN_SIGHT = {
    False: "keep the study on storage that compute nodes see, with --study-dir",
    True: "build it on storage that compute nodes see: STRIPEWISE_RUNTIME_DIR=DIR stripewise "
    "doctor build, and start over with that variable set",
}


PLACE = "slurm.json"
"""File in a run's record with the spool and the number of its order, which may move to another."""


@dataclass
class OrderLocation:
    """Location of a run's order."""

    spool: Path
    number: int
    record: Path


class SlurmLauncher(Launcher):
    """Launcher that runs commands in allocations, which it submits, keeps while needed, and ends.

    The tuner and the agents communicate through files below `directory`, which compute nodes must
    see.  The controller is queried only about jobs that are pending or whose agent is silent.
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
        max_in_flight: int = 1,
        per_run: bool = False,
        idle_seconds: float = IDLE_SECONDS,
        hold_seconds: float = HOLD_SECONDS,
    ) -> None:
        """Set the parts from which jobs are created.

        Args:
            runtime: Runtime to preload; None for none.
            plan: Plan that turns runs into jobs.
            slurm: Commands of Slurm.
            directory: Directory for the spools, on storage that compute nodes see.
            max_in_flight: Maximum number of simultaneous runs, each in its own allocation.
            per_run: Whether to submit a job for each run.
            idle_seconds: Time after the death of the tuner at which an allocation ends.
            hold_seconds: Time without an order after which an allocation ends.
        """
        self.runtime, self.plan, self.slurm = runtime, plan, slurm
        self.max_in_flight = max_in_flight
        self._directory = directory
        self._options = {
            "per_run": per_run, "idle_seconds": idle_seconds, "hold_seconds": hold_seconds,
        }  # fmt: skip
        self._places: dict[str, OrderLocation] = {}
        """By run: where its order is."""
        self._problems: dict[str, StripewiseError] = {}
        """By run: why the study cannot go on."""

    @property
    def node_seconds(self) -> float:
        """Node seconds of all allocations so far."""
        return self._pool.node_seconds

    @property
    def n_jobs(self) -> int:
        """Number of jobs that were submitted for this study so far."""
        return self._pool.n_jobs

    @property
    def _pool(self) -> AllocationPool:
        return pool_of(self._directory, self.slurm, self.max_in_flight, self._options)

    def describe(self, handle: Handle) -> str:
        """Return what a run is waiting for: "job 12 pends: Priority"; empty if it runs."""
        spool = self._spool(handle)
        if spool is None or spool.agent() is not None:
            return ""
        if not spool.job_id:
            return f"not submitted yet: {self.slurm.trouble or 'Slurm is asked'}"
        status = self.slurm.known(spool.job_id)
        if status is None or not status.state.waiting:
            return f"job {spool.job_id} was submitted"
        reason, means = one_line(status.reason), why_it_waits(status.reason)
        why = f": {reason}" + (f" ({means})" if means else "") if reason else ""
        return f"job {spool.job_id} is pending{why}"

    # -- submission --------------------------------------------------------------------------

    def submit(self, request: RunRequest) -> Handle:
        """Give a run to a waiting allocation, or submit a new one; see `Launcher.submit`.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
            UsageError: The run cannot become a job, or Slurm is not available.
            SubmissionError: Slurm refuses the job.
            StudyError: The record directory already contains a run.
            StorageError: The record cannot be written.
        """
        if request.storage is not None:
            raise UsageError("jobs cannot run on emulated storage; use --launcher local")
        self.slurm.check()
        record = request.record_directory.absolute()
        allocation = self.plan.allocation(request)
        order = make_order(self.runtime, self.plan, request, allocation, record)
        _records.write_request(request)
        place = self._put(request.run_id, self._fitting(allocation), order, record)
        return self._handle(request.run_id, place)

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a run whose order was written; None if none was."""
        place = _recorded_place(record_directory.absolute())
        if place is None:
            return None
        order = files.read(str(place.spool / files.order_name(place.number)))
        if order is None or order["run_id"] != run_id:
            return None  # the tuner died before it wrote the order
        return self._handle(run_id, place)

    def _fitting(self, allocation: Allocation) -> Spool:
        """Return an allocation that is waiting for an order, or a new one."""
        return self._pool.idle(allocation) or self._pool.make(allocation)

    def _put(
        self, run_id: str, spool: Spool, order: dict[str, Any], record: Path
    ) -> OrderLocation:
        """Give an order to an allocation.

        The handle is written first, then the order, then the job is submitted, and finally the
        agent is notified: if the tuner dies in between, the run is neither lost nor repeated.

        Raises:
            StorageError: The order cannot be written.
            SubmissionError: Slurm refuses the job.
        """
        number = spool.orders + 1
        _records.replace_json(record / PLACE, {"spool": str(spool.path), "order": number})
        spool.put(order)
        self._places[run_id] = OrderLocation(spool.path, number, record)
        self._pool.use(spool)
        self._submit(spool)
        spool.tell()
        return self._places[run_id]

    def _submit(self, spool: Spool) -> None:
        """Submit the job of an allocation, and close the allocation if Slurm refuses it."""
        try:
            self._pool.submit(spool)
        except SlurmError:
            spool.close()
            raise

    def _handle(self, run_id: str, place: OrderLocation) -> Handle:
        spool = self._pool.spool(place.spool)
        data: dict[str, str | int | float] = {
            "record_directory": str(place.record),
            "spool": str(place.spool),
            "order": place.number,
            "job_id": spool.job_id if spool else 0,
        }
        return Handle(self.name, run_id, data)

    def _place(self, handle: Handle) -> OrderLocation:
        """Return the location of a run's order."""
        if handle.run_id not in self._places:
            record = Path(str(handle.data["record_directory"]))
            spool, number = Path(str(handle.data["spool"])), int(handle.data["order"])
            self._places[handle.run_id] = _recorded_place(record) or OrderLocation(
                spool, number, record
            )
        return self._places[handle.run_id]

    def _spool(self, handle: Handle) -> Spool | None:
        """Return the allocation of a run; None if it no longer exists."""
        return self._pool.spool(self._place(handle).spool)

    # -- looking -----------------------------------------------------------------------------

    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended; lost agents and jobs are detected here.

        Raises:
            SubmissionError: Slurm refuses a job that could not be submitted before.
        """
        place = self._place(handle)
        spool = self._pool.spool(place.spool)
        if spool is None or spool.closed:
            return self._end_lost(handle, place, "its allocation has ended")
        agent = spool.agent()
        if agent is not None and int(agent["ended"]) >= place.number:
            return self._end_reported(handle, place, agent)
        if (
            agent is not None
            and agent["state"] == "ended"
            and agent["reason"] in ENDS_BETWEEN_RUNS
        ):
            return self._move(handle, place, spool)
        if not spool.job_id and agent is None:
            self._submit_again(spool)
            return False
        if agent is not None and not spool.job_id:
            spool.job_id = int(agent["job_id"])
        waits = agent is None or agent["state"] == "ended" or spool.quiet_seconds > STALE_SECONDS
        return waits and self._ask(handle, place, spool)

    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome of an ended run.

        Raises:
            UsageError: The run has not ended.
            StudyError: The nodes do not see the study's directory, or the job will never start.
            StorageError: There is no room for its result.
        """
        if not self.poll(handle):
            raise UsageError(f"run {handle.run_id} has not ended")
        problem = self._problems.pop(handle.run_id, None)
        if problem is not None:
            raise problem
        record = self._place(handle).record
        result = _records.read_json(record / _records.RESULT)
        for _ in range(100):  # a network file system may show it with a delay
            if result is not None or not record.is_dir():
                break
            time.sleep(0.1)
            result = _records.read_json(record / _records.RESULT)
        if result is None:
            raise StudyError(
                f"the result of run {handle.run_id} is not in {record}, or damaged; remove that "
                "run's record and continue with --resume"
            )
        return _records.outcome(record, result)

    def _submit_again(self, spool: Spool) -> None:
        """Submit a job that the controller did not accept before, or before the tuner died."""
        spool.find_after = max(spool.find_after, 0)
        self._submit(spool)

    def _ask(self, handle: Handle, place: OrderLocation, spool: Spool) -> bool:
        """Query Slurm about the job of a run; return True if the run has ended."""
        status = self._pool.status(spool)
        if status is None:
            return False
        reason = "ReservationDeleted" if status.state is JobState.RESV_DEL_HOLD else status.reason
        if status.state.waiting and starts_never(reason):
            remedy, reason = remedy_of(reason), one_line(reason)
            self._problems[handle.run_id] = StudyError(
                f"job {spool.job_id} will not start ({reason}); "
                + (remedy or "correct what it requests, then start over")
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
            return False  # the last messages of its agent may not be visible here yet
        return self._job_over(handle, place, spool, status)

    def _job_over(
        self, handle: Handle, place: OrderLocation, spool: Spool, status: JobStatus
    ) -> bool:
        """Settle a run whose job has ended without it; return whether the run has ended."""
        agent = spool.agent()
        if agent is not None and int(agent["order"]) < place.number:
            return self._move(handle, place, spool)  # it died while it was waiting for orders
        message = spool.output()
        how = f"its job {status.job_id} ended: {status.state}"
        how += f" on {one_line(status.node_list)}" if status.state is JobState.NODE_FAIL else ""
        how += (
            f" ({one_line(status.reason)})" if status.reason not in ("", "NonZeroExitCode") else ""
        )
        how += f": {message}" if message else ""
        if agent is None and status.state in (JobState.FAILED, JobState.COMPLETED):
            if not self._pool.has_worked:
                self._problems[handle.run_id] = StudyError(_why_no_agent(spool, status, message))
        spool.close()
        return self._end_lost(handle, place, how)

    def _end_reported(
        self, handle: Handle, place: OrderLocation, agent: Mapping[str, Any]
    ) -> bool:
        """Return whether the result of a run that its agent reports as ended has arrived."""
        message = agent["said"].get(str(place.number))
        if message and not (place.record / _records.RESULT).is_file():
            self._end_lost(handle, place, message)
            if "could not be stored" in message:
                text = f"{message}; free some space there, then continue with --resume"
                self._problems[handle.run_id] = StorageError(text)
            else:
                remedy = _IN_SIGHT["runtime library" in message]
                self._problems[handle.run_id] = StudyError(f"{message}; {remedy}")
        return True

    def _end_lost(self, handle: Handle, place: OrderLocation, why: str) -> bool:
        """Record the end of a run that no agent will record, unless there is a record."""
        if not (place.record / _records.RESULT).is_file() and place.record.is_dir():
            result = result_of(handle.run_id, started=time.time(), reason=why)
            try:
                _records.write_result(place.record, result)
            except OSError as error:
                path = place.record / _records.RESULT
                self._problems[handle.run_id] = _records.storage_error(error, path)
        return True

    def _move(self, handle: Handle, place: OrderLocation, spool: Spool) -> bool:
        """Move an order that an agent left behind to another allocation."""
        spool.close()
        order = files.read(str(spool.path / files.order_name(place.number)))
        if order is None or spool.is_cancelled(place.number):
            return self._end_lost(handle, place, "cancelled")
        self._put(handle.run_id, self._fitting(spool.allocation), order, place.record)
        return False

    # -- the end -----------------------------------------------------------------------------

    def cancel(self, handle: Handle) -> None:
        """End the run and all its processes; return when nothing of it is left."""
        if self._poll_quietly(handle):
            return
        place = self._place(handle)
        spool = self._pool.spool(place.spool)
        assert spool is not None
        with suppress(OSError):
            spool.cancel(place.number)
        if spool.agent() is None:
            self._pool.give_back(spool)  # and closes it, unless its agent begins in the meantime
        if not spool.closed and not self._wait_for_agent(place, spool):
            self._pool.cancel([spool])
            self._wait_for_job(spool)
            spool.close()
        self._end_lost(handle, place, "cancelled")

    def _poll_quietly(self, handle: Handle) -> bool:
        spool = self._spool(handle)
        if spool is not None and not (spool.closed or spool.job_id or spool.agent()):
            return False  # polling it would submit its job
        try:
            return self.poll(handle)
        except SlurmError:
            return self._end_lost(handle, self._place(handle), "its job was refused")

    def _wait_for_agent(self, place: OrderLocation, spool: Spool) -> bool:
        """Wait until the agent has ended an order; return False if it does not answer."""
        deadline = time.monotonic() + _CANCEL_SECONDS
        while time.monotonic() < deadline:
            agent = spool.agent()
            if agent is None or spool.quiet_seconds > ANSWER_SECONDS:
                return False
            if int(agent["ended"]) >= place.number:
                return True
            if agent["state"] == "ended":
                return agent["reason"] in ENDS_BETWEEN_RUNS
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
        """End the allocations; return when they have ended or their jobs were cancelled."""
        self._pool.close()


def _recorded_place(record: Path) -> OrderLocation | None:
    """Return the location of a run's order from its record; None if it has none."""
    data = files.read(str(record / PLACE))
    if data is None:
        return None
    return OrderLocation(Path(str(data["spool"])), int(data["order"]), record)


def _why_no_agent(spool: Spool, status: JobStatus, message: str) -> str:
    if message:
        return (
            f"job {status.job_id} ended ({status.state}) before its agent began: {message}; "
            "compute "
            "nodes need Python 3.9 or later, and must see the directory of the study"
        )
    return (
        f"job {status.job_id} ended ({status.state}) and left no output: compute nodes do not "
        f"see {spool.path}; keep the study on storage that they see, with --study-dir"
    )


# Orders for an agent: command, environment, time limit and burst buffer of a run.


def make_order(
    runtime: Runtime | None,
    plan: JobPlan,
    request: RunRequest,
    allocation: Allocation,
    record: Path,
) -> dict[str, Any]:
    """Create the record directory of a run, and return the order for the agent.

    Raises:
        ProgramError: The command does not exist or cannot be executed.
        UsageError: The run cannot become a job.
        StorageError: The record cannot be written.
    """
    try:
        record.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _records.storage_error(error, record) from error
    stage = plan.stage(request)
    words: tuple[str, ...] = ()
    if plan.task_words and runtime is not None:
        words = write_tasks(runtime, request, stage, record, plan.variables(request))
    command = plan.command(request, record, words)
    program = resolve_program(command, request.directory)
    whole = runtime if not plan.task_words else None
    changes = order_environment(whole, request, stage, allocation.name, guard=runtime)
    limit = allocation.limit_of_run(_limit(plan, request))
    portable = _records.portable
    return {
        **_records.run_order(request, program, command, record, limit),
        "libraries": [portable(str(path)) for path in _libraries(runtime, words)],
        "stage": stage
        and {
            **asdict(stage),
            "copies": [[portable(text) for text in copy] for copy in stage.copies],
            "directory": portable(stage.directory),
        },
        **changes,
    }


def _limit(plan: JobPlan, request: RunRequest) -> float | None:
    """Return the time limit of a run: the requested one, at most that of its job."""
    limits = (request.timeout_seconds, plan.run_seconds)
    return min((limit for limit in limits if limit is not None), default=None)


def _libraries(runtime: Runtime | None, task_words: tuple[str, ...]) -> list[str]:
    """Return the files of the runtime without which the run would fail or not be observed."""
    return [*task_words[:1], str(runtime.core)] if runtime is not None else []
