# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records a surface: a stated subspace, measured exhaustively with the study's machinery."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from stripewise.errors import ProgramError, StorageError, StudyError
from stripewise.launch import LocalLauncher, Surface, SurfaceRole, SurfaceRun, SurfaceWriter
from stripewise.model import ProgramFacts
from stripewise.runtime import find_runtime
from stripewise.study._interrupts import Interrupts
from stripewise.study._options import StudyOptions
from stripewise.study._recording_plan import (
    PlannedRun,
    RecordingOptions,
    plan_runs,
    possible_points,
    recorded_tunables,
)
from stripewise.study._recording_provenance import recording_provenance
from stripewise.study._recording_resume import (
    TIMEOUT_KEY,
    check_same,
    ignored_options,
    known_surface,
    options_of,
)
from stripewise.study._recording_runs import SingleRuns, as_surface_run
from stripewise.study._snapshot import STUDY_SUFFIX
from stripewise.tunables import get

_FAILURES_IN_A_ROW = 10


class RecordingObserver:
    """Told what happens; all of it does nothing here."""

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """The first run is done: so many runs are wanted, so many are recorded."""

    def recorded(self, run: SurfaceRun) -> None:
        """A run is in the file."""

    def noted(self, text: str) -> None:
        """There is something that the user should know."""


def record_surface(
    options: RecordingOptions, observer: RecordingObserver | None = None
) -> Surface:
    """Measure every configuration of a subspace, or go on doing so; return the surface.

    Raises:
        UsageError: A knob or a value does not exist.
        StudyError: The file exists, is of another recording or machine, or is in use.
        ProgramError: The program fails unchanged, or cannot be seen.
        StorageError: No room.
        KeyboardInterrupt: A signal came; `resume` goes on from here.
    """
    recorded_tunables(options.vary)  # before anything is run
    observer = observer or RecordingObserver()
    known = known_surface(options)
    if known is not None:
        for text in ignored_options(known, options):
            observer.noted(text)
        options = options_of(known, options)
    directory = _work_directory(options)
    interrupts = Interrupts()
    with _locked(directory), interrupts.caught(), _left_for_resume(options.output, directory):
        runs = SingleRuns(
            directory,
            StudyOptions(options.command, directory, options.origin, inputs=options.inputs),
            LocalLauncher(find_runtime()),
            interrupts,
            options.sync,
            options.timeout_seconds,
        )
        warm, seen = runs.first()
        about = recording_provenance(options.command, seen.facts, directory, options.sync)
        if known is None:
            known = _begin(
                options, seen.facts, {**about, TIMEOUT_KEY: f"{runs.timeout_seconds:g}"}
            )
        else:
            check_same(known, seen.facts, about, options.output)
        _record(options.output, known, warm, runs, observer)
    shutil.rmtree(directory, ignore_errors=True)
    return Surface.load(options.output)


@contextmanager
def _left_for_resume(output: Path, directory: Path) -> Iterator[None]:
    """Remove the directory after a failure that left no recording to go on with."""
    try:
        yield
    except BaseException:
        if not output.exists():
            shutil.rmtree(directory, ignore_errors=True)
        raise


def _begin(
    options: RecordingOptions, facts: ProgramFacts, provenance: Mapping[str, str]
) -> Surface:
    """Make the header of a new surface."""
    tunables = recorded_tunables(options.vary)
    points, impossible = possible_points(tunables, facts)
    return Surface(
        command=options.command,
        facts=facts,
        provenance=provenance,
        tunables=tunables,
        plan={
            "repeats": options.repeats,
            "seed": options.seed,
            "control_every": options.control_every,
            "configurations": len(points),
            "impossible": impossible,
        },
    )


def _record(
    output: Path, surface: Surface, warm: SurfaceRun, runs: SingleRuns, observer: RecordingObserver
) -> None:
    for name in surface.tunables:
        if why := get(name).why_not(surface.facts):
            observer.noted(f"{name} cannot act on this program ({why}); it is varied all the same")
    points, _ = possible_points(surface.tunables, surface.facts)
    if len(points) != surface.plan["configurations"]:
        raise StudyError(
            f"this Stripewise knows {len(points)} possible configurations, and {output} was begun "
            f"with {surface.plan['configurations']}; begin anew with another -o"
        )
    how = surface.plan
    plan = plan_runs(points, how["repeats"], how["seed"], how["control_every"])
    done = {run.sequence for run in surface.runs}
    with SurfaceWriter(output, surface) as writer:
        writer.append(replace(warm, role=SurfaceRole.WARM_UP))
        observer.planned(surface, len(plan), sum(run.sequence in done for run in plan))
        _carry_out([run for run in plan if run.sequence not in done], writer, runs, observer)


def _carry_out(
    plan: list[PlannedRun], writer: SurfaceWriter, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Make the runs; those that fail are written when the command is seen to work still.

    Raises:
        ProgramError: It does not; `resume` makes the failed runs again.
    """
    held: list[SurfaceRun] = []
    try:
        for planned in plan:
            measurement = runs.one(planned.settings)
            held.append(
                replace(
                    as_surface_run(planned.settings, measurement),
                    role=planned.role,
                    round=planned.round,
                    sequence=planned.sequence,
                )
            )
            if not measurement.ok and len(held) >= _FAILURES_IN_A_ROW:
                _check_still_works(len(held), measurement.message, runs, observer)
            elif not measurement.ok:
                continue
            _write(held, writer, observer)
    except KeyboardInterrupt:
        _write(held, writer, observer)
        raise
    _write(held, writer, observer)


def _write(held: list[SurfaceRun], writer: SurfaceWriter, observer: RecordingObserver) -> None:
    """Write the runs that were held back; none is held any longer."""
    while held:
        writer.append(held[0])
        observer.recorded(held.pop(0))


def _check_still_works(
    failures: int, message: str, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Run the command unchanged, a run that is not recorded.

    Raises:
        ProgramError: It fails as well, so that the failures say nothing about the settings.
    """
    unchanged = runs.one({})
    if not unchanged.ok:
        raise ProgramError(
            f"{failures} runs in a row failed ({message}), and so does the command unchanged "
            f"({unchanged.message}); these runs are not recorded: see that the command still "
            "works, then go on with --resume"
        )
    observer.noted(f"{failures} runs in a row failed; the command unchanged still works")


def _work_directory(options: RecordingOptions) -> Path:
    beside = options.output.absolute().with_name(f"{options.output.name}{STUDY_SUFFIX}")
    return (options.origin / (options.work_directory or beside)).absolute()


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep a second recording out of the directory."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory / "lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise StudyError(f"{directory} is in use by another recording; wait for it") from None
    except OSError as error:
        text = f"cannot use {directory}: {error.strerror}; give --work-dir"
        raise StorageError(text) from error
    try:
        yield
    finally:
        lock.release()
