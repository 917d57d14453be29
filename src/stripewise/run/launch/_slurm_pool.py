# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submits, recovers and releases the allocations of a study."""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from stripewise.run.launch._job_plan import Allocation
from stripewise.run.launch._slurm_spool import NAME_PREFIX, Spool
from stripewise.run.launch.agent import _agent_files as files
from stripewise.run.slurm import (
    JobState,
    JobStatus,
    Slurm,
    SlurmAwayError,
    SlurmError,
    SubmissionError,
    is_limit_of_jobs,
)

BEAT_SECONDS = 2.0
CLOSE_SECONDS = 10.0
"""Time that agents have to end on request before their jobs are cancelled."""
ROOM_SECONDS = 60.0
"""Time during which a job refused by a limit on jobs is retried, if the study had others."""
_WANTS_BURST_BUFFER = "BurstBufferResources"
_LIMITS = ("Assoc", "QOS")
"""Prefixes of the reasons of jobs that would exceed a limit on all jobs of a user."""
_SLOW_AFTER_SECONDS = 120.0
_SLOW_SECONDS = 30.0

_POOLS: dict[Path, AllocationPool] = {}
"""Pools of this process by directory, since the cases of a study share their allocations."""


class AllocationPool:
    """Pool of the allocations whose spools are in one directory.

    Attributes:
        slurm: Commands of Slurm to submit and cancel jobs.
        max_in_flight: Maximum number of simultaneous runs; at most one more allocation is kept.
        options: Options for the agents.
    """

    def __init__(
        self, folder: Path, slurm: Slurm, max_in_flight: int, options: dict[str, Any]
    ) -> None:
        self.folder, self.slurm = folder, slurm
        self.max_in_flight, self.options = max_in_flight, options
        self._spools: dict[Path, Spool] = {}
        self._used: list[Path] = []
        self._beating: threading.Thread | None = None
        self._over = threading.Event()
        self._asked_at = 0.0
        for path in sorted(folder.glob(f"{NAME_PREFIX}*")):
            spool = Spool.find(path)
            if spool is not None and not spool.closed:
                self._register(spool)

    # -- which allocation --------------------------------------------------------------------

    def spool(self, path: Path) -> Spool | None:
        """Return the allocation of a directory; None if it no longer exists."""
        if path not in self._spools:
            spool = Spool.find(path)
            if spool is None:
                return None
            if spool.closed:
                return spool
            self._register(spool)
        return self._spools[path]

    @property
    def live(self) -> list[Spool]:
        """Allocations that were requested and have not ended."""
        return [spool for spool in self._spools.values() if not spool.closed]

    @property
    def has_worked(self) -> bool:
        """Whether any agent of this study began, which shows that nodes see its directory."""
        return any(self.folder.glob(f"{NAME_PREFIX}*/{files.AGENT}"))

    @property
    def node_seconds(self) -> float:
        """Node seconds of all agents so far, without pending and lost jobs."""
        total = 0.0
        for path in self.folder.glob(f"{NAME_PREFIX}*"):
            spool = self._spools.get(path) or Spool.find(path)
            if spool is not None:
                spool.agent()
                total += spool.alive_seconds * spool.allocation.nodes
        return total

    @property
    def n_jobs(self) -> int:
        """Number of jobs that were submitted so far."""
        found = (self._spools.get(p) or Spool.find(p) for p in self.folder.glob(f"{NAME_PREFIX}*"))
        return sum(spool is not None and bool(spool.job_id) for spool in found)

    def idle(self, allocation: Allocation) -> Spool | None:
        """Return an allocation with a key that is waiting for an order; None if there is none."""
        if self.options["per_run"]:
            return None
        fitting = (s for s in self.live if s.allocation.key == allocation.key and s.is_idle)
        return next((spool for spool in fitting if spool.job_id), None)

    def make(self, allocation: Allocation) -> Spool:
        """Create the files of a new allocation, and release an idle one if necessary."""
        for spool in self.live:
            if spool.is_over:
                if spool.may_return:
                    self.cancel([spool])
                spool.close()
        waiting = [spool for spool in self.live if spool.is_idle and spool.job_id]
        if len(self.live) > self.max_in_flight and waiting:
            order = {path: number for number, path in enumerate(self._used)}
            oldest = min(waiting, key=lambda spool: order.get(spool.path, -1))
            self.give_back(oldest)
        spool = Spool.make(self.folder, allocation, self.options)
        self._register(spool)
        return spool

    def _register(self, spool: Spool) -> None:
        self._spools[spool.path] = spool
        self.slurm.cluster = self.slurm.cluster or spool.cluster
        self.use(spool)
        if self._beating is None:
            self._beating = threading.Thread(
                target=self._beat, name="stripewise-heart", daemon=True
            )
            self._beating.start()

    def use(self, spool: Spool) -> None:
        """Record that an allocation is being used."""
        if spool.path in self._used:
            self._used.remove(spool.path)
        self._used.append(spool.path)

    def _beat(self) -> None:
        """Signal to the agents that the tuner is alive, even during long computations."""
        while not self._over.wait(BEAT_SECONDS):
            for spool in list(self._spools.values()):
                if not spool.closed:
                    with suppress(OSError):
                        spool.tell()

    # -- Slurm -------------------------------------------------------------------------------

    def submit(self, spool: Spool) -> None:
        """Submit the job of an allocation once; if it may exist already, look for it first.

        The next call retries if the controller cannot be reached, or refuses the job while another
        job of this study still counts.

        Raises:
            SubmissionError: Slurm refuses the job.
            SlurmError: sbatch fails for another reason.
        """
        if spool.job_id:
            return
        try:
            if spool.find_after >= 0:
                if not self.slurm.limiter.ready():
                    return
                found = self.slurm.find(spool.name)
                if found is not None:
                    spool.job_id = found.job_id
                    return
            spool.find_after = self.slurm.looks
            number = self.slurm.submit(spool.arguments, spool.script, self.folder)
            spool.submitted(number, self.slurm.cluster)
        except SlurmAwayError as error:
            self.slurm.trouble = str(error)
        except SubmissionError as error:
            if not (is_limit_of_jobs(str(error)) and self._make_room_for(spool)):
                raise
            self.slurm.trouble = str(error)

    def _make_room_for(self, spool: Spool) -> bool:
        """Release waiting allocations; return False if this cannot help against a job limit."""
        others = [other for other in self._spools.values() if other.job_id]
        for other in others:
            if other.is_idle:
                self.give_back(other)
        now = time.monotonic()
        spool.refused_at = spool.refused_at or now
        return bool(others) and now - spool.refused_at < ROOM_SECONDS

    def status(self, spool: Spool) -> JobStatus | None:
        """Return the last known status of a job; start a query if one is due, without waiting."""
        if not spool.job_id:
            return None
        live = [other for other in self.live if other.job_id]
        open_jobs = [other.job_id for other in live]
        now = time.monotonic()
        waited = now - max((other.submitted_at for other in live), default=now)
        pending = all(other.agent() is None for other in live)
        pause = _SLOW_SECONDS if pending and waited > _SLOW_AFTER_SECONDS else 0.0
        if self.slurm.limiter.ready() and now - self._asked_at >= pause:
            self._asked_at = now
            self.slurm.look(open_jobs or [spool.job_id])
        status = self.slurm.known(spool.job_id)
        if status is not None and status.name not in ("", spool.name):
            return JobStatus(spool.job_id, JobState.LOST)  # lost: count again
        return status

    def cancel(self, spools: list[Spool]) -> None:
        """Cancel jobs; agents that start nevertheless are ended through their spools."""
        for spool in spools:
            with suppress(OSError):
                spool.stop()
        with suppress(SlurmError):
            self.slurm.cancel([spool.job_id for spool in spools if spool.job_id])

    # -- the end -----------------------------------------------------------------------------

    def give_back(self, spool: Spool) -> None:
        """End an allocation that is waiting for orders, without waiting for its end."""
        with suppress(OSError):
            spool.stop()
        if spool.agent() is None:
            if spool.job_id or self._confirm(spool):
                self.cancel([spool])
            spool.close()

    def make_way(self, reason: str) -> None:
        """Release waiting allocations if a job is pending for their resources."""
        if reason == _WANTS_BURST_BUFFER:
            holding = [s for s in self.live if s.allocation.directives]
        elif reason == "Resources" or reason.startswith(_LIMITS):
            holding = self.live
        else:
            return
        for spool in holding:
            if spool.agent() is not None and spool.is_idle:
                self.give_back(spool)

    def close(self) -> None:
        """End all allocations; return when their agents have ended or jobs were cancelled."""
        live = self.live
        for spool in live:
            with suppress(OSError):
                spool.stop()
        self.cancel([s for s in live if s.agent() is None and (s.job_id or self._confirm(s))])
        deadline = time.monotonic() + CLOSE_SECONDS
        begun = [spool for spool in live if spool.agent() is not None]
        while (left := [s for s in begun if not s.is_over]) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.cancel([*left, *(spool for spool in begun if spool.may_return)])
        for spool in live:
            spool.close()
        self.forget()

    def _confirm(self, spool: Spool) -> bool:
        """Look for a job whose submission was not confirmed; return whether it was found."""
        if spool.find_after < 0:
            return False
        with suppress(SlurmError):
            found = self.slurm.find(spool.name)
            if found is not None and not found.state.ended:
                spool.job_id = found.job_id
        return bool(spool.job_id)

    def forget(self) -> None:
        """Stop the heartbeat; submitted jobs remain, and can be found again."""
        self._over.set()
        if self._beating is not None and self._beating is not threading.current_thread():
            self._beating.join(5.0)
        _POOLS.pop(self.folder, None)


def pool_of(
    folder: Path, slurm: Slurm, max_in_flight: int, options: dict[str, Any]
) -> AllocationPool:
    """Return the pool of a directory, which all launchers of this process share."""
    folder = folder.absolute()
    if folder not in _POOLS:
        _POOLS[folder] = AllocationPool(folder, slurm, max_in_flight, options)
    return _POOLS[folder]


def forget_all() -> None:
    """Forget all submitted jobs, as if this process had been killed."""
    for pool in list(_POOLS.values()):
        pool.forget()


def _close_all() -> None:
    for pool in list(_POOLS.values()):
        with suppress(Exception):
            pool.close()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_POOLS.clear)
