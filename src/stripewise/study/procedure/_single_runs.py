# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command a few times without a study, for example to test the lines of a finding."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from stripewise.core import NOTHING, Measurement, OwnedDirectory, RunStatus, Value
from stripewise.core.errors import PolicyError, ProgramError, UsageError
from stripewise.run.jobs import check_command
from stripewise.run.launch import Handle, LocalLauncher, RunRequest, sweep
from stripewise.run.runtime import find_runtime
from stripewise.settings.tunables import build_configuration
from stripewise.storage.emulation import EmulatedStorage
from stripewise.study.plan import StudyOptions, checked_command
from stripewise.study.procedure._baseline import usual_timeout
from stripewise.study.runs import (
    CAPTURE_OF_FIRST,
    FirstLook,
    Interrupts,
    comparable,
    look,
    measure_first_run,
    open_workspace,
)
from stripewise.study.workspace import STUDY_SUFFIX

_CHECKPOINT_SECONDS = 0.2


@dataclass
class SingleRuns:
    """Runs a command on this machine one run at a time, each in a new workspace.

    Attributes:
        home: Directory of the workspaces.
        options: Options with command, origin, inputs, `sync` and time limit.
        interrupts: Signals that interrupt a run.
        runs_left: Number of runs that the policy still allows; None for any number.
        outside: Effects of the command outside of the workspaces, all of which are allowed.
        timeout_seconds: Time limit of a run; None until the first run has shown its duration.
    """

    home: OwnedDirectory
    options: StudyOptions
    interrupts: Interrupts = field(default_factory=Interrupts)
    runs_left: int | None = None

    def __post_init__(self) -> None:
        """Remove the remains of a killed session; take the snapshot or find an existing one.

        Raises:
            UsageError: The command would change files of the user that runs must not change.
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
        """Run the program unchanged and observe what it does, like the first run of a study.

        Raises:
            ProgramError: The program fails, cannot be observed, or does no I/O.
        """
        run_id = str(uuid4())
        with self._cleared(run_id):
            measurement = self._measure(run_id, {}, CAPTURE_OF_FIRST)
            if measurement.status not in (RunStatus.OK, RunStatus.UNSEEN):
                raise ProgramError(f"the program fails unchanged ({measurement.message})")
            place = self._workspace.find(run_id)
            seen = measure_first_run(self._workspace, place, measurement, self._storage)
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
        """Run the program with settings.

        Raises:
            StorageError: There is no space, so a failure says nothing about the run.
            KeyboardInterrupt: A signal was received; the run was cancelled.
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
        """Remove everything that a run leaves, whatever happens."""
        try:
            yield
        finally:
            self._workspace.forget(run_id)


# Test of the printed lines of a finding on its program, with pairs of runs.

PAIRS = 6
_APPLIED = ("export ", "printf ")


@dataclass(frozen=True)
class TriedLines:
    """Measured gain from the lines of a finding.

    Attributes:
        before_seconds / after_seconds: Elapsed times of the pairs' runs, in order.
    """

    before_seconds: tuple[float, ...]
    after_seconds: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """Seconds saved in each pair."""
        return tuple(b - a for b, a in zip(self.before_seconds, self.after_seconds, strict=True))

    @property
    def gain_seconds(self) -> float:
        """Median of the seconds saved."""
        return statistics.median(self.gains)

    def holds(self, claim_seconds: float) -> bool:
        """Return whether the gain is between half of the claim and twice the claim."""
        return 0.5 * claim_seconds <= self.gain_seconds <= 2 * claim_seconds


def with_lines(command: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return a command that runs the lines in a shell and then the program.

    Raises:
        UsageError: The finding has no lines, or they are not for this shell.
    """
    if not lines:
        raise UsageError(
            "this finding cannot be tried: its remedy is a change of the program's source"
        )
    if not all(line.startswith(_APPLIED) for line in lines):
        raise UsageError(
            "this finding cannot be tried: its lines are for the job script, not for the program"
        )
    return ("sh", "-c", "\n".join([*lines, 'exec "$@"']), "sh", *command)


def try_lines(
    command: Sequence[str],
    lines: Sequence[str],
    pairs: int = PAIRS,
    allow_outside: Sequence[Path] = (),
) -> TriedLines:
    """Run a program with and without some lines, in pairs, each run in a separate sandbox.

    Only the given files of the user can be changed.  One run of each comes first and does not
    count.

    Args:
        command: Program as it was traced.
        lines: Lines of the finding.
        pairs: Number of pairs.
        allow_outside: Files and directories of the user's that runs may change.

    Raises:
        UsageError: The lines cannot be applied; or the command would change other files of the
            user, runs a job script on this host, or submits jobs.
        ProgramError: A run failed.
    """
    changed = with_lines(command, lines)
    check_command(command, Path.cwd(), "profile --try")
    home = OwnedDirectory.take(Path.cwd() / f"try.{uuid4().hex[:8]}{STUDY_SUFFIX}", "study")
    order = random.Random(0)
    try:
        options = StudyOptions(
            tuple(command), home.path, sync=False, allow_outside=tuple(allow_outside)
        )
        runs = {
            after: SingleRuns(home, replace(options, command=words))
            for after, words in ((False, options.command), (True, changed))
        }
        found: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(1 + pairs):
            for after in order.sample((False, True), 2):
                run = runs[after].one({})
                if run.exit_code:
                    raise ProgramError(
                        f"the program ended with code {run.exit_code} in a run of the trial; "
                        "start from the directory in which it was traced"
                    )
                found[after].append(run.elapsed_seconds)
    finally:
        home.discard()
    return TriedLines(tuple(found[False][1:]), tuple(found[True][1:]))
