# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the slots of the plan: place, submission, wait, evidence, record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from stripewise.launch import Handle, Launcher, Resources, RunRequest, links_replaced, sweep
from stripewise.model import (
    Configuration,
    Measurement,
    ProgramFacts,
    RunRole,
    RunStatus,
    Value,
)
from stripewise.study._budget import Budget, BudgetSpentError
from stripewise.study._interrupts import Interrupts
from stripewise.study._ledger import Ledger, OpenRun
from stripewise.study._looking import comparable
from stripewise.study._observer import Observer
from stripewise.study._slot import RunSlot
from stripewise.study._tools import Tools
from stripewise.text import printable
from stripewise.tunables import build_configuration
from stripewise.workspace import Place

CAPTURE_OF_FIRST = "fold"
"""What is recorded of the first run: single calls, from which its access patterns follow."""
_CHECKPOINT_SECONDS = 0.2
_SAY_AFTER_SECONDS = 3.0
"""A job that waits for less is not worth a word."""


@dataclass(frozen=True)
class Running:
    """A run that was submitted."""

    slot: RunSlot
    run_id: str
    handle: Handle


@dataclass
class Executor:
    """Gets the measurements of slots, from the journal or by runs.

    Attributes:
        tools: By the name of their case.
        keep: What runs made is not removed.
        keep_removed: What they remove is kept until it is compared.
        facts: Of all cases together, once they are known: one configuration is made for all.
        budget: That no run may exceed; None: there is none.
    """

    ledger: Ledger
    tools: Mapping[str, Tools]
    observer: Observer
    interrupts: Interrupts
    keep: bool = False
    keep_removed: bool = False
    facts: ProgramFacts | None = None
    budget: Budget | None = None
    _begun: dict[str, float] = field(default_factory=dict)

    def begin(self, slot: RunSlot, place: int) -> Measurement | Running:
        """Return the slot's measurement if the journal holds it; otherwise begin its run.

        Raises:
            ProgramError: The command cannot be started.
            StorageError: There is no room.
            BudgetSpentError: It is expected to exceed a limit.
            KeyboardInterrupt: A signal came.
        """
        done = self.ledger.measurement(slot.name)
        if done is not None:
            return done
        open_run = self.ledger.open_run(slot.name)
        if open_run is not None and open_run.handle is not None:
            return Running(slot, open_run.run_id, open_run.handle)
        self.interrupts.checkpoint()
        if self.budget is not None:
            self.budget.check_run(slot.case)
        run_id = str(uuid4())
        self.ledger.plan(slot, run_id, place)
        tools = self.tools[slot.case]
        there = tools.workspace.prepare(run_id)
        handle = tools.launcher.submit(self._request(slot, run_id, there))
        self.ledger.submitted(run_id, handle)
        self.observer.run_started(slot)
        return Running(slot, run_id, handle)

    def wait(self, runs: Sequence[Running]) -> list[Running]:
        """Wait until runs have ended; return those.

        Raises:
            BudgetSpentError: One of them exceeded a limit, and was ended.
            KeyboardInterrupt: A signal came.
        """
        launcher = self.tools[runs[0].slot.case].launcher
        said, begun = "", time.monotonic()
        while True:
            ended = [r for r in runs if self.tools[r.slot.case].launcher.poll(r.handle)]
            if ended:
                return ended
            waits = "; ".join(filter(None, (launcher.describe(run.handle) for run in runs)))
            if waits != said and time.monotonic() - begun > _SAY_AFTER_SECONDS:
                self.observer.run_waits(waits)
                said = waits
            self._check_budget(runs)
            self._pause(launcher, [run.handle for run in runs])

    def _check_budget(self, runs: Sequence[Running]) -> None:
        """End a run with which a limit is exceeded; it counts as never made.

        Raises:
            BudgetSpentError: There is one.
        """
        if self.budget is None or not self.budget.is_timed:
            return
        now = time.monotonic()
        for run in runs:
            begun = self._begun.setdefault(run.run_id, now)
            if self.tools[run.slot.case].launcher.describe(run.handle):  # it waits for its job
                begun = self._begun[run.run_id] = now
            try:
                self.budget.check_running(run.slot.role, now - begun)
            except BudgetSpentError as spent:
                self.abandon_all(str(spent))
                raise

    def end(self, run: Running) -> Measurement:
        """Return what a run gave that has ended.

        Raises:
            StorageError: There is no room; a run that failed for that does not count.
            BudgetSpentError: It was ended since nothing was left for it.
        """
        tools = self.tools[run.slot.case]
        outcome = tools.launcher.collect(run.handle)
        measurement = tools.look(run.run_id, tools.workspace.find(run.run_id), outcome)
        measurement = self._comparable(run.slot.case, measurement)
        if why := self._why_cut(run.slot.role, measurement):
            self.abandon_all(why)
            raise BudgetSpentError(why)
        self._say_replaced(run.run_id)
        if measurement.status is RunStatus.FAILED:
            tools.workspace.check_after_failure(run.run_id)
        self.ledger.finished(run.run_id, measurement)
        if not run.slot.keep_output:
            self.release(measurement)
        self.observer.run_finished(run.slot, measurement)
        return measurement

    def _comparable(self, case: str, run: Measurement) -> Measurement:
        """Return a run as it counts beside the first good one of its case."""
        good = (one.measurement for one in self.ledger.entries if one.case == case)
        return comparable(run, next((one for one in good if one.ok), None))

    def _why_cut(self, role: RunRole, run: Measurement) -> str:
        """Say which limit a run met that reached its time limit; "" if that was its own."""
        if self.budget is None or run.status is not RunStatus.TIMEOUT:
            return ""
        try:
            self.budget.check_running(role, run.elapsed_seconds)
        except BudgetSpentError as spent:
            return str(spent)
        return ""

    def _say_replaced(self, run_id: str) -> None:
        """Warn of files that did not stay on the burst buffer, though a link led them there."""
        record = self._tools_of(run_id).workspace.find(run_id).record_directory
        if names := links_replaced(record):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self.ledger.warn(
                f"the program replaces the links of {', '.join(map(printable, names[:3]))}{more}: "
                "these files were written to the parallel file system; use --hybrid redirect"
            )

    def configure(self, settings: Mapping[str, Value]) -> Configuration:
        """Return what is applied in every case to set these."""
        return build_configuration(settings, self.facts)

    def place(self, measurement: Measurement) -> Place:
        """Return where a run took place."""
        return self._tools_of(measurement.run_id).workspace.find(measurement.run_id)

    def release(self, measurement: Measurement, *, evidence: bool = True) -> None:
        """Remove what a run made, when it is needed no longer."""
        if not self.keep:
            workspace = self._tools_of(measurement.run_id).workspace
            workspace.release(measurement.run_id, evidence=evidence)

    def recover(self) -> None:
        """After a restart: take in runs that have ended, cancel others that do not outlive us."""
        for run in self.ledger.open_runs:
            launcher = self.tools[run.case].launcher
            handle = run.handle or self._find_again(run)
            if handle is not None and launcher.poll(handle):
                self._take_in(run, handle)
            elif handle is None or not launcher.outlives_tuner:
                self._abandon(run, "the tuner was stopped")
        kept = [entry.measurement.run_id for entry in self.ledger.entries]
        self.sweep([*kept, *(run.run_id for run in self.ledger.open_runs)])

    def sweep(self, kept: Sequence[str] = ()) -> None:
        """Remove the working directories of all other runs."""
        if not self.keep:
            for tools in self.tools.values():
                tools.workspace.sweep(kept)

    def _tools_of(self, run_id: str) -> Tools:
        return self.tools[self.ledger.case_of(run_id)]

    def _request(self, slot: RunSlot, run_id: str, place: Place) -> RunRequest:
        facts = self.facts
        return RunRequest(
            run_id=run_id,
            command=place.command,
            directory=place.directory,
            record_directory=place.record_directory,
            configuration=self.configure(slot.settings),
            settings=slot.settings,
            timeout_seconds=self._limit(slot),
            resources=self._resources(slot),
            storage=self.tools[slot.case].storage,
            sync=slot.sync,
            writable=place.writable,
            keep_removed=self.keep_removed,
            capture=CAPTURE_OF_FIRST if slot.role is RunRole.WARM_UP else "",
            mpi_prints=facts is None or facts.uses_cray_mpich,
            in_reach=facts is None or facts.in_reach,
        )

    def _limit(self, slot: RunSlot) -> float | None:
        rest = self.budget.rest_seconds if self.budget is not None else None
        limits = [one for one in (slot.timeout_seconds, rest) if one is not None]
        return min(limits, default=None)

    def _resources(self, slot: RunSlot) -> Resources:
        facts = self.facts or ProgramFacts()
        ranks = slot.settings.get("job.ranks", facts.n_ranks)
        return Resources(facts.n_hosts or None, _count(ranks), slot.timeout_seconds)

    def _pause(self, launcher: Launcher, handles: Sequence[Handle]) -> None:
        """Sleep until runs should be looked at again, awake for signals."""
        look_at = time.monotonic() + launcher.poll_seconds
        while (rest := look_at - time.monotonic()) > 0:
            self.interrupts.checkpoint()
            if launcher.pause(handles, min(rest, _CHECKPOINT_SECONDS)):
                return

    def _find_again(self, run: OpenRun) -> Handle | None:
        tools = self.tools[run.case]
        records = tools.workspace.find(run.run_id).record_directory
        handle = tools.launcher.find_again(run.run_id, records)
        if handle is not None:
            self.ledger.submitted(run.run_id, handle)
        return handle

    def _take_in(self, run: OpenRun, handle: Handle) -> None:
        tools = self.tools[run.case]
        outcome = tools.launcher.collect(handle)
        if outcome.status is RunStatus.CANCELLED:
            self._abandon(run, "it was cancelled")
            return
        place = tools.workspace.find(run.run_id)
        measurement = self._comparable(run.case, tools.look(run.run_id, place, outcome))
        if why := self._why_cut(self.ledger.role_of(run.run_id), measurement):
            self._abandon(run, why)
            return
        self.ledger.finished(run.run_id, measurement, late=True)

    def abandon_all(self, reason: str) -> None:
        """Cancel every run that has not ended."""
        for run in self.ledger.open_runs:
            self._abandon(run, reason)

    def close(self) -> None:
        """Give back what launchers hold between runs."""
        for tools in self.tools.values():
            tools.launcher.close()

    def _abandon(self, run: OpenRun, reason: str) -> None:
        tools = self.tools[run.case]
        if run.handle is not None:
            tools.launcher.cancel(run.handle)
        sweep(tools.workspace.find(run.run_id).record_directory)
        tools.workspace.release(run.run_id)
        self.ledger.dropped(run.run_id, reason)


def _count(value: Value) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
