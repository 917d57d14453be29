# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether runs in allocations have ended; lost agents and jobs are noticed here."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from stripewise.errors import StorageError, StripewiseError, StudyError
from stripewise.launch import _agent_files as files
from stripewise.launch import _records
from stripewise.launch._base import Handle
from stripewise.launch._slurm_places import Place, Places
from stripewise.launch._slurm_spool import STALE_SECONDS, Spool
from stripewise.launch._supervise import result_of
from stripewise.slurm import JobState, JobStatus, SlurmError, one_line, remedy_of, starts_never

SETTLE_SECONDS = 2.0
"""What an agent wrote last may be seen here so late."""
ENDS_BETWEEN_RUNS = ("time", "idle", "hold", "stop", "done", "lost")
"""Reasons of an agent's end after which an order that it did not begin goes to another one."""

_IN_SIGHT = {
    False: "keep the study on storage that compute nodes see, with --study-dir",
    True: "build it on storage that compute nodes see: STRIPEWISE_RUNTIME_DIR=DIR stripewise "
    "runtime build, and begin anew with that variable set",
}


class Watch:
    """Looks at runs by their spools, and asks Slurm where these are silent.

    Attributes:
        places: Where the runs are.
        problems: By run: why the study cannot go on.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.problems: dict[str, StripewiseError] = {}

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended; lost agents and jobs are noticed here.

        Raises:
            SubmissionError: Slurm refuses a job that could not be submitted before.
        """
        place = self.places.find(handle)
        spool = self.places.pool.spool(place.spool)
        if spool is None or spool.closed:
            return self.end_lost(handle, place, "its allocation has ended")
        agent = spool.agent()
        if agent is not None and int(agent["ended"]) >= place.number:
            return self._end_told(handle, place, agent)
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

    def _submit_again(self, spool: Spool) -> None:
        """Submit what the controller did not take before, or the tuner died before it could."""
        spool.find_after = max(spool.find_after, 0)
        try:
            self.places.pool.submit(spool)
        except SlurmError:
            spool.close()
            raise

    def _ask(self, handle: Handle, place: Place, spool: Spool) -> bool:
        """Ask Slurm after a job that should serve a run; True if the run has ended."""
        status = self.places.pool.status(spool)
        if status is None:
            return False
        reason = "ReservationDeleted" if status.state is JobState.RESV_DEL_HOLD else status.reason
        if status.state.waiting and starts_never(reason):
            remedy, reason = remedy_of(reason), one_line(reason)
            self.problems[handle.run_id] = StudyError(
                f"job {spool.job_id} will not start ({reason}); "
                + (remedy or "correct what it asks for, then begin anew")
            )
            self.places.pool.cancel([spool])
            spool.close()
            return self.end_lost(handle, place, f"its job would not start: {reason}")
        if status.state is JobState.PENDING:
            self.places.pool.make_way(status.reason)
        if not status.state.ended:
            spool.dead_since = None
            return False
        spool.dead_since = spool.dead_since or time.monotonic()
        if time.monotonic() - spool.dead_since < SETTLE_SECONDS:
            return False  # what its agent wrote last may not be seen here yet
        return self._job_over(handle, place, spool, status)

    def _job_over(self, handle: Handle, place: Place, spool: Spool, status: JobStatus) -> bool:
        """The job has ended without having ended the run."""
        agent = spool.agent()
        if agent is not None and int(agent["order"]) < place.number:
            return self._move(handle, place, spool)  # it died while it waited for orders
        said = spool.output()
        how = f"its job {status.job_id} ended: {status.state}"
        how += f" on {one_line(status.node_list)}" if status.state is JobState.NODE_FAIL else ""
        how += (
            f" ({one_line(status.reason)})" if status.reason not in ("", "NonZeroExitCode") else ""
        )
        how += f": {said}" if said else ""
        if agent is None and status.state in (JobState.FAILED, JobState.COMPLETED):
            if not self.places.pool.has_worked:
                self.problems[handle.run_id] = StudyError(_why_no_agent(spool, status, said))
        spool.close()
        return self.end_lost(handle, place, how)

    def _end_told(self, handle: Handle, place: Place, agent: Mapping[str, Any]) -> bool:
        """The agent says that a run has ended; see that its result is here."""
        said = agent["said"].get(str(place.number))
        if said and not (place.record / _records.RESULT).is_file():
            self.end_lost(handle, place, said)
            if "could not be stored" in said:
                text = f"{said}; make room there, then go on with --resume"
                self.problems[handle.run_id] = StorageError(text)
            else:
                remedy = _IN_SIGHT["runtime library" in said]
                self.problems[handle.run_id] = StudyError(f"{said}; {remedy}")
        return True

    def end_lost(self, handle: Handle, place: Place, why: str) -> bool:
        """Record a run that nobody else will; what was recorded stays."""
        if not (place.record / _records.RESULT).is_file() and place.record.is_dir():
            result = result_of(handle.run_id, started=time.time(), reason=why)
            try:
                _records.write_result(place.record, result)
            except OSError as error:
                path = place.record / _records.RESULT
                self.problems[handle.run_id] = _records.storage_error(error, path)
        return True

    def _move(self, handle: Handle, place: Place, spool: Spool) -> bool:
        """Give an order that an agent left behind to another allocation."""
        spool.close()
        order = files.read(str(spool.path / files.order_name(place.number)))
        if order is None or spool.is_cancelled(place.number):
            return self.end_lost(handle, place, "cancelled")
        allocation = spool.allocation
        other = self.places.pool.idle(allocation) or self.places.pool.make(allocation)
        self.places.put(handle.run_id, other, order, place.record)
        return False


def _why_no_agent(spool: Spool, status: JobStatus, said: str) -> str:
    if said:
        return (
            f"job {status.job_id} ended ({status.state}) before its agent began: {said}; compute "
            "nodes need Python 3.9 or later, and must see the directory of the study"
        )
    return (
        f"job {status.job_id} ended ({status.state}) and left no output: compute nodes do not "
        f"see {spool.path}; keep the study on storage that they see, with --study-dir"
    )
