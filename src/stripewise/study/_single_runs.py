# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that leave nothing but their figures: no study, no journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from stripewise.emulation import EmulatedStorage
from stripewise.errors import PolicyError, ProgramError
from stripewise.launch import Handle, LocalLauncher, RunRequest, sweep
from stripewise.model import NOTHING, Measurement, RunStatus, Value
from stripewise.owned import OwnedDirectory
from stripewise.runtime import find_runtime
from stripewise.study._baseline import usual_timeout
from stripewise.study._executor import CAPTURE_OF_FIRST
from stripewise.study._interrupts import Interrupts
from stripewise.study._local_tools import open_workspace
from stripewise.study._looking import comparable, look, look_first
from stripewise.study._options import StudyOptions
from stripewise.study._outside import checked_command
from stripewise.study._tools import FirstLook
from stripewise.tunables import build_configuration

_CHECKPOINT_SECONDS = 0.2


@dataclass
class SingleRuns:
    """Runs a command on this machine once at a time, in fresh places of a directory.

    Attributes:
        home: The directory.
        options: Command, its origin and inputs, `sync` and time limit.
        interrupts: Signals.
        runs_left: That the policy allows; None: any number.
        outside: What the command does outside of the places; nothing that is not allowed.
        timeout_seconds: Of a run; None until the first one has shown how long it takes.
    """

    home: OwnedDirectory
    options: StudyOptions
    interrupts: Interrupts = field(default_factory=Interrupts)
    runs_left: int | None = None

    def __post_init__(self) -> None:
        """Remove what a killed session left; take the snapshot, or find it again.

        Raises:
            UsageError: The command would change files of the user's which no run may change.
        """
        self.outside = checked_command(self.options)
        if "runs" in self.home.names():
            sweep(self.home.path / "runs")
        self.home.remove("runs")
        self.timeout_seconds = self.options.timeout_seconds
        self._launcher = LocalLauncher(find_runtime())
        how = self.options.storage
        self._storage = EmulatedStorage.find(how) if how is not None else None
        self._workspace = open_workspace(self.options)
        self._workspace.sweep(())
        self._first: Measurement | None = None

    def first(self) -> tuple[Measurement, FirstLook]:
        """Run the program unchanged and see what it does, as the first run of a study does.

        Raises:
            ProgramError: It fails, cannot be seen, or does no I/O.
        """
        run_id = str(uuid4())
        with self._cleared(run_id):
            measurement = self._measure(run_id, {}, CAPTURE_OF_FIRST)
            if measurement.status not in (RunStatus.OK, RunStatus.UNSEEN):
                raise ProgramError(f"the program fails unchanged ({measurement.message})")
            place = self._workspace.find(run_id)
            seen = look_first(self._workspace, place, measurement, self._storage)
            if seen.problem or measurement.total_amount == NOTHING:
                raise ProgramError(seen.problem or "the program did no I/O that can be seen")
        self._workspace.first_run_known(
            seen.written_inputs, seen.output_bytes, seen.replaced_inputs
        )
        if self.timeout_seconds is None:
            self.timeout_seconds = usual_timeout(measurement.elapsed_seconds)
        self._first = measurement
        return measurement, seen

    def one(self, settings: Mapping[str, Value]) -> Measurement:
        """Run the program under settings.

        Raises:
            StorageError: There is no room, so that a failure says nothing about the run.
            KeyboardInterrupt: A signal came; the run was cancelled.
        """
        run_id = str(uuid4())
        with self._cleared(run_id):
            measurement = comparable(self._measure(run_id, settings), self._first)
            if measurement.status is RunStatus.FAILED:
                self._workspace.check_after_failure(run_id)
        return measurement

    def _measure(
        self, run_id: str, settings: Mapping[str, Value], capture: str = ""
    ) -> Measurement:
        self.interrupts.checkpoint()
        if self.runs_left is not None:
            if self.runs_left <= 0:
                raise PolicyError("the policy's max_runs is used up; ask for a higher one")
            self.runs_left -= 1
        place = self._workspace.prepare(run_id)
        handle = self._launcher.submit(
            RunRequest(
                run_id=run_id,
                command=place.command,
                directory=place.directory,
                record_directory=place.record_directory,
                configuration=build_configuration(settings),
                settings=settings,
                timeout_seconds=self.timeout_seconds,
                sync=self.options.sync,
                writable=place.writable,
                capture=capture,
                storage=self._storage,
            )
        )
        self._wait(handle)
        return look(run_id, place, self._launcher.collect(handle))

    def _wait(self, handle: Handle) -> None:
        try:
            while not self._launcher.wait(handle, _CHECKPOINT_SECONDS):
                self.interrupts.checkpoint()
        except BaseException:
            self._launcher.cancel(handle)
            raise

    @contextmanager
    def _cleared(self, run_id: str) -> Iterator[None]:
        """Remove all that a run left, whatever happens."""
        try:
            yield
        finally:
            self._workspace.forget(run_id)
