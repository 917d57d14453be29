# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in jobs of Slurm: an agent in an allocation carries out one after the other."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from stripewise.errors import StudyError, UsageError
from stripewise.launch import _records
from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.launch._job_plan import JobPlan
from stripewise.launch._slurm_order import make_order
from stripewise.launch._slurm_places import NAME, Place, Places
from stripewise.launch._slurm_spool import Spool
from stripewise.launch._slurm_watch import ENDS_BETWEEN_RUNS, Watch
from stripewise.runtime import Runtime
from stripewise.slurm import Slurm, SlurmError, one_line, why_it_waits

IDLE_SECONDS = 120.0
"""An allocation ends so long after the tuner died, once its run has ended."""
HOLD_SECONDS = 300.0
"""An allocation ends if the tuner has no order for it for so long."""
ANSWER_SECONDS = 10.0
"""An agent that does not answer a cancellation for so long loses its job."""
_CANCEL_SECONDS = 90.0


class SlurmLauncher(Launcher):
    """Runs commands in allocations that it submits, keeps as long as they serve, and ends.

    The tuner and the agents talk through files below `directory`, which compute nodes must
    see.  The controller is asked only after jobs that pend or whose agent is quiet.
    """

    name = NAME
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
        options = {"per_run": per_run, "idle_seconds": idle_seconds, "hold_seconds": hold_seconds}
        self._runs = Places(directory, slurm, places, options)
        self._watch = Watch(self._runs)

    @property
    def node_seconds(self) -> float:
        """Time of all allocations so far, times their nodes."""
        return self._runs.pool.node_seconds

    @property
    def n_jobs(self) -> int:
        """Jobs that were submitted for this study so far."""
        return self._runs.pool.n_jobs

    def describe(self, handle: Handle) -> str:
        """Return what a run waits for, for people: "job 12 pends: Priority"; "" if it runs."""
        spool = self._runs.spool(handle)
        if spool is None or spool.agent() is not None:
            return ""
        if not spool.job_id:
            return f"not submitted yet: {self.slurm.trouble or 'Slurm is asked'}"
        status = self.slurm.known(spool.job_id)
        if status is None or not status.state.waiting:
            return f"job {spool.job_id} was submitted"
        reason, means = one_line(status.reason), why_it_waits(status.reason)
        why = f": {reason}" + (f" ({means})" if means else "") if reason else ""
        return f"job {spool.job_id} pends{why}"

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
        order = make_order(self.runtime, self.plan, request, allocation, record)
        _records.write_request(request)
        spool = self._runs.pool.idle(allocation) or self._runs.pool.make(allocation)
        place = self._runs.put(request.run_id, spool, order, record)
        return self._runs.handle(request.run_id, place)

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a run whose order was written; None if there is none."""
        return self._runs.find_again(run_id, record_directory.absolute())

    # -- looking -----------------------------------------------------------------------------

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended; lost agents and jobs are noticed here.

        Raises:
            SubmissionError: Slurm refuses a job that could not be submitted before.
        """
        return self._watch.poll(handle)

    def collect(self, handle: Handle) -> Outcome:
        """Outcome of an ended run.

        Raises:
            UsageError: The run has not ended.
            StudyError: Nodes do not see the study, or the job will never start.
            StorageError: There is no room for its result.
        """
        if not self.poll(handle):
            raise UsageError(f"run {handle.run_id} has not ended")
        problem = self._watch.problems.pop(handle.run_id, None)
        if problem is not None:
            raise problem
        record = self._runs.find(handle).record
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
        place = self._runs.find(handle)
        spool = self._runs.pool.spool(place.spool)
        assert spool is not None
        with suppress(OSError):
            spool.cancel(place.number)
        if spool.agent() is None:
            self._runs.pool.give_back(spool)  # and closes it, unless its agent begins meanwhile
        if not spool.closed and not self._wait_for_agent(place, spool):
            self._runs.pool.cancel([spool])
            self._wait_for_job(spool)
            spool.close()
        self._watch.end_lost(handle, place, "cancelled")

    def _poll_quietly(self, handle: Handle) -> bool:
        spool = self._runs.spool(handle)
        if spool is not None and not (spool.closed or spool.job_id or spool.agent()):
            return False  # a look at it would submit its job
        try:
            return self.poll(handle)
        except SlurmError:
            return self._watch.end_lost(handle, self._runs.find(handle), "its job was refused")

    def _wait_for_agent(self, place: Place, spool: Spool) -> bool:
        """Wait until the agent has ended an order; False if it does not answer."""
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
            status = self._runs.pool.status(spool)
            if status is not None and status.state.ended:
                return
            time.sleep(0.1)

    def close(self) -> None:
        """End the allocations; returns when they have ended, or their jobs were cancelled."""
        self._runs.pool.close()
