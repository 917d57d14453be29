# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that leave nothing but their figures: what a recording is made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from stripewise.errors import PolicyError, ProgramError
from stripewise.launch import Handle, Launcher, RunRequest, sweep
from stripewise.model import Measurement, RunStatus
from stripewise.owned import OwnedDirectory
from stripewise.study import (
    TIMEOUT_FACTOR,
    TIMEOUT_FLOOR_SECONDS,
    FirstLook,
    Interrupts,
    StudyOptions,
    look,
    look_first,
    open_workspace,
)
from stripewise.surfaces._lines import SurfaceRun
from stripewise.surfaces._recording_plan import Settings
from stripewise.tunables import build_configuration

_CHECKPOINT_SECONDS = 0.2


@dataclass
class SingleRuns:
    """Runs the command once at a time, in fresh places of a directory.

    Attributes:
        directory: The recording's own.
        options: Command, its origin and its inputs.
        launcher: Runs it.
        interrupts: Signals.
        sync: Whether data is on the storage when the clock stops.
        runs_left: That the policy allows; None: any number.
        timeout_seconds: Of a run; None until the first one has shown how long it takes.
    """

    directory: OwnedDirectory
    options: StudyOptions
    launcher: Launcher
    interrupts: Interrupts
    sync: bool = True
    timeout_seconds: float | None = None
    runs_left: int | None = None

    def __post_init__(self) -> None:
        """Remove what a killed session left; take the snapshot, or find it again."""
        if "runs" in self.directory.names():
            sweep(self.directory.path / "runs")
        self.directory.remove("runs")
        self._workspace = open_workspace(self.options)
        self._workspace.sweep(())

    def first(self) -> tuple[SurfaceRun, FirstLook]:
        """Run the program unchanged and see what it does.

        Raises:
            ProgramError: It fails, cannot be seen, or does no I/O.
        """
        run_id = str(uuid4())
        with self._cleared(run_id):
            measurement = self._measure(run_id, {})
            if measurement.status not in (RunStatus.OK, RunStatus.UNSEEN):
                raise ProgramError(f"the program fails unchanged ({measurement.message})")
            seen = look_first(self._workspace, self._workspace.find(run_id), measurement)
            if seen.problem or not measurement.total_bytes:
                raise ProgramError(seen.problem or "the program did no I/O that can be seen")
        self._workspace.first_run_known(
            seen.written_inputs, seen.output_bytes, seen.replaced_inputs
        )
        if self.timeout_seconds is None:
            longest = TIMEOUT_FACTOR * measurement.elapsed_seconds
            self.timeout_seconds = max(TIMEOUT_FLOOR_SECONDS, longest)
        return as_surface_run({}, measurement), seen

    def one(self, settings: Settings) -> Measurement:
        """Run the program under settings.

        Raises:
            StorageError: There is no room, so that a failure says nothing about the run.
            KeyboardInterrupt: A signal came; the run was cancelled.
        """
        run_id = str(uuid4())
        with self._cleared(run_id):
            measurement = self._measure(run_id, settings)
            if measurement.status is RunStatus.FAILED:
                self._workspace.check_after_failure(run_id)
        return measurement

    def _measure(self, run_id: str, settings: Settings) -> Measurement:
        self.interrupts.checkpoint()
        if self.runs_left is not None:
            if self.runs_left <= 0:
                raise PolicyError("the policy's max_runs is used up; ask for a higher one")
            self.runs_left -= 1
        place = self._workspace.prepare(run_id)
        handle = self.launcher.submit(
            RunRequest(
                run_id=run_id,
                command=place.command,
                directory=place.directory,
                record_directory=place.record_directory,
                configuration=build_configuration(settings),
                settings=settings,
                timeout_seconds=self.timeout_seconds,
                sync=self.sync,
                writable=place.writable,
            )
        )
        self._wait(handle)
        return look(run_id, place, self.launcher.collect(handle))

    def _wait(self, handle: Handle) -> None:
        try:
            while not self.launcher.wait(handle, _CHECKPOINT_SECONDS):
                self.interrupts.checkpoint()
        except BaseException:
            self.launcher.cancel(handle)
            raise

    @contextmanager
    def _cleared(self, run_id: str) -> Iterator[None]:
        """Remove all that a run left, whatever happens."""
        try:
            yield
        finally:
            self._workspace.forget(run_id)


def as_surface_run(settings: Settings, measurement: Measurement) -> SurfaceRun:
    """Return what a surface keeps of a run."""
    return SurfaceRun(
        settings=settings,
        elapsed_seconds=measurement.elapsed_seconds,
        io_seconds=measurement.io_seconds,
        read_bytes=measurement.read_bytes,
        write_bytes=measurement.write_bytes,
        status=measurement.status,
        started_unix_seconds=measurement.started_unix_seconds,
        message=measurement.message,
    )
