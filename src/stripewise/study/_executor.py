# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one slot of the plan: place, submission, wait, evidence, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from stripewise.launch import Handle, Launcher, RunRequest
from stripewise.model import Configuration, Measurement, ProgramFacts, RunRole, RunStatus, Value
from stripewise.study._interrupts import Interrupts
from stripewise.study._ledger import Ledger, OpenRun
from stripewise.study._observer import Observer
from stripewise.study._slot import RunSlot
from stripewise.study._tools import Place, Tools

_CHECKPOINT_SECONDS = 0.2


class Executor:
    """Gets the measurement of a slot, from the journal or by a run.

    Attributes:
        facts: Of all cases together, once they are known: one configuration is made for all.
    """

    def __init__(
        self,
        ledger: Ledger,
        tools: Mapping[str, Tools],
        observer: Observer,
        interrupts: Interrupts,
        keep: bool = False,
    ) -> None:
        """Take the parts, tools by the name of their case; run nothing yet."""
        self._ledger = ledger
        self._tools = tools
        self._observer = observer
        self._interrupts = interrupts
        self._keep = keep
        self.facts: ProgramFacts | None = None

    def run(self, slot: RunSlot) -> Measurement:
        """Return the slot's measurement; it is run unless the journal holds it.

        Raises:
            ProgramError: The command cannot be started.
            StorageError: There is no room; a run that failed for that does not count.
            KeyboardInterrupt: A signal came; the run was cancelled.
        """
        done = self._ledger.measurement(slot.name)
        if done is not None:
            return done
        self._interrupts.checkpoint()
        run_id = str(uuid4())
        self._ledger.plan(slot, run_id)
        try:
            measurement = self._carry_out(slot, run_id)
            if measurement.status is RunStatus.FAILED:
                self._tools[slot.case].workspace.check_after_failure(run_id)
        except (KeyboardInterrupt, Exception) as error:
            self._abandon(run_id, str(error) or type(error).__name__)
            raise
        self._finish(slot.keep_output, measurement)
        self._observer.run_finished(slot, measurement)
        return measurement

    def configure(self, settings: Mapping[str, Value]) -> Configuration:
        """Return what is applied in every case to set these."""
        return next(iter(self._tools.values())).configure(settings, self.facts)

    def place(self, measurement: Measurement) -> Place:
        """Return where a run took place."""
        return self._tools_of(measurement.run_id).workspace.find(measurement.run_id)

    def release(self, measurement: Measurement, *, evidence: bool = True) -> None:
        """Remove what a run made, when it is needed no longer."""
        if not self._keep:
            workspace = self._tools_of(measurement.run_id).workspace
            workspace.release(measurement.run_id, evidence=evidence)

    def recover(self) -> int:
        """After a restart: take in runs that have ended, cancel the others.

        Returns:
            How many were taken in.
        """
        taken = 0
        for run in self._ledger.open_runs:
            handle = run.handle or self._find_again(run)
            if handle is None or not self._tools[run.case].launcher.poll(handle):
                self._abandon(run.run_id, "the tuner was stopped")
            else:
                taken += self._take_in(run, handle)
        self.sweep([entry.measurement.run_id for entry in self._ledger.entries])
        return taken

    def sweep(self, kept: Sequence[str] = ()) -> None:
        """Remove the working directories of all other runs."""
        if not self._keep:
            for tools in self._tools.values():
                tools.workspace.sweep(kept)

    def _tools_of(self, run_id: str) -> Tools:
        return self._tools[self._ledger.case_of(run_id)]

    def _carry_out(self, slot: RunSlot, run_id: str) -> Measurement:
        tools = self._tools[slot.case]
        place = tools.workspace.prepare(run_id)
        handle = tools.launcher.submit(self._request(slot, run_id, place))
        self._ledger.submitted(run_id, handle)
        self._observer.run_started(slot)
        self._wait(tools.launcher, handle)
        outcome = tools.launcher.collect(handle)
        return tools.look(run_id, place, outcome)

    def _request(self, slot: RunSlot, run_id: str, place: Place) -> RunRequest:
        return RunRequest(
            run_id=run_id,
            command=place.command,
            directory=place.directory,
            record_directory=place.record_directory,
            configuration=self.configure(slot.settings),
            settings=slot.settings,
            timeout_seconds=slot.timeout_seconds,
            sync=slot.sync,
            writable=place.writable,
            capture="fold" if slot.role is RunRole.WARM_UP else "",
        )

    def _wait(self, launcher: Launcher, handle: Handle) -> None:
        while not launcher.wait(handle, _CHECKPOINT_SECONDS):
            self._interrupts.checkpoint()

    def _find_again(self, run: OpenRun) -> Handle | None:
        tools = self._tools[run.case]
        records = tools.workspace.find(run.run_id).record_directory
        handle = tools.find_again(run.run_id, records)
        if handle is not None:
            self._ledger.submitted(run.run_id, handle)
        return handle

    def _take_in(self, run: OpenRun, handle: Handle) -> bool:
        tools = self._tools[run.case]
        outcome = tools.launcher.collect(handle)
        if outcome.status is RunStatus.CANCELLED:
            self._abandon(run.run_id, "it was cancelled")
            return False
        place = tools.workspace.find(run.run_id)
        self._ledger.finished(run.run_id, tools.look(run.run_id, place, outcome))
        return True

    def _finish(self, keep_output: bool, measurement: Measurement) -> None:
        self._ledger.finished(measurement.run_id, measurement)
        if not self._keep and not keep_output:
            self._tools_of(measurement.run_id).workspace.release(measurement.run_id)

    def _abandon(self, run_id: str, reason: str) -> None:
        for run in self._ledger.open_runs:
            if run.run_id == run_id:
                tools = self._tools[run.case]
                if run.handle is not None:
                    tools.launcher.cancel(run.handle)
                tools.sweep(tools.workspace.find(run_id).record_directory)
                tools.workspace.release(run_id)
                self._ledger.dropped(run_id, reason)
