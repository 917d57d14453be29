# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A training by runs of the kernels, on this machine's storage or on an emulated one."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from stripewise.errors import StripewiseError
from stripewise.model import ProgramFacts
from stripewise.owned import OwnedDirectory
from stripewise.policy import load_policy
from stripewise.study import Interrupts, SingleRuns, StudyOptions
from stripewise.surfaces import (
    RecordingObserver,
    RecordingOptions,
    Surface,
    SurfaceRun,
    record_surface,
)
from stripewise.training._kernels import command_words
from stripewise.training._options import TrainingOptions
from stripewise.training._plan import Cell

_FIRST, _ORIGIN = "first-runs", "origin"


def first_run(
    options: TrainingOptions, cell: Cell, directory: OwnedDirectory
) -> tuple[Cell, ProgramFacts]:
    """Run a cell's kernel once with nothing set; return the cell, and what that showed.

    Raises:
        ProgramError: It fails, or cannot be seen.
    """
    interrupts = Interrupts()
    home = OwnedDirectory.take(directory.path / _FIRST, "recording")
    origin = _origin(directory)
    how = StudyOptions(
        command_of(options, cell),
        home.path,
        origin,
        storage=options.emulation(cell.ranks),
        allow_outside=options.allow_outside,
    )
    try:
        with interrupts.caught():
            runs = SingleRuns(home, how, interrupts, load_policy().max_runs)
            measurement, seen = runs.first()
    finally:
        home.discard()
    cell = replace(cell, facts=seen.facts, first_seconds=measurement.elapsed_seconds)
    return cell, seen.facts


def record_cell(
    options: TrainingOptions,
    cell: Cell,
    path: Path,
    directory: OwnedDirectory,
    observer: RecordingObserver,
) -> Surface:
    """Record a cell's surface, or go on with it."""
    exists = path.exists() and path.stat().st_size > 0
    recording = RecordingOptions(
        command_of(options, cell),
        path,
        cell.vary,
        options.repeats,
        options.seed,
        origin=_origin(directory),
        timeout_seconds=cell.timeout_seconds,
        work_directory=directory.path,
        resume=exists,
        storage=options.emulation(cell.ranks),
        configurations=cell.configurations,
        allow_outside=options.allow_outside,
    )
    return record_surface(recording, observer)


def command_of(options: TrainingOptions, cell: Cell) -> tuple[str, ...]:
    """Return what is run for a cell."""
    words = (*options.launcher, str(cell.ranks), options.kernel, *command_words(cell.words))
    return tuple(words)


def _origin(directory: OwnedDirectory) -> Path:
    """Return an empty directory to start from: the kernels need no input."""
    return directory.inside(_ORIGIN).make()


class Allowance(RecordingObserver):
    """Ends a recording when its share of the time is used up, and hands on the rest.

    Attributes:
        inner: Told everything.
        seconds: That this recording may take; None: no limit.
    """

    def __init__(self, inner: RecordingObserver, seconds: float | None) -> None:
        self.inner, self.seconds = inner, seconds
        self._begun = time.monotonic()

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        self.inner.planned(surface, total_runs, done)

    def recorded(self, run: SurfaceRun) -> None:
        self.inner.recorded(run)

    def noted(self, text: str) -> None:
        self.inner.noted(text)

    def enough(self) -> bool:
        return self.seconds is not None and time.monotonic() - self._begun >= self.seconds


def finished(path: Path) -> bool:
    """Whether a cell's surface holds all the runs of its plan."""
    try:
        surface = Surface.load(path) if path.exists() and path.stat().st_size else None
    except StripewiseError:
        return False
    if surface is None or not surface.plan:
        return False
    wanted = surface.plan["configurations"] * surface.plan["repeats"]
    return sum(run.role == "point" for run in surface.runs) >= wanted
