# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures one pattern and scale of a training, by runs or in virtual time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from random import Random
from statistics import mean

import stripewise
from stripewise.core import OwnedDirectory, ProgramFacts, RunStatus, Value
from stripewise.core.errors import UsageError
from stripewise.learning.performance import Way
from stripewise.settings import load_policy
from stripewise.storage.emulation import EmulatedStorage
from stripewise.storage.simulation import (
    SimulatedProgram,
    noise_factor,
    simulated_program,
    workload_from_kernel,
)
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import SingleRuns, simulated_workload
from stripewise.study.runs import Interrupts
from stripewise.study.training._configurations import recorded_tunables, spread_points
from stripewise.study.training._kernels import command_words, simulated_words
from stripewise.study.training._plan import TrainingCell, TrainingOptions
from stripewise.study.training._recording import (
    RecordingObserver,
    RecordingOptions,
    record_surface,
)
from stripewise.study.training._surface import Surface, SurfaceRun

_FIRST, _ORIGIN = "first-runs", "origin"


def first_run(
    options: TrainingOptions, cell: TrainingCell, directory: OwnedDirectory
) -> tuple[TrainingCell, ProgramFacts]:
    """Run a cell's kernel once with nothing set; return the completed cell and its facts.

    Raises:
        ProgramError: The kernel fails or cannot be observed.
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
    cell: TrainingCell,
    path: Path,
    directory: OwnedDirectory,
    observer: RecordingObserver,
    most_seconds: float | None,
) -> Surface:
    """Record a cell's surface or continue it, for a limited time; None for no limit."""
    recording = RecordingOptions(
        command=command_of(options, cell),
        output=path,
        vary=cell.vary,
        origin=_origin(directory),
        work_directory=directory.path,
        repeats=options.repeats,
        configurations=cell.configurations,
        seed=options.seed,
        timeout_seconds=cell.timeout_seconds,
        most_seconds=most_seconds,
        storage=options.emulation(cell.ranks),
        allow_outside=options.allow_outside,
    )
    return record_surface(recording, observer)


def command_of(options: TrainingOptions, cell: TrainingCell) -> tuple[str, ...]:
    """Return the command of a cell."""
    words = (*options.launcher, str(cell.ranks), options.kernel, *command_words(cell.words))
    return tuple(words)


def _origin(directory: OwnedDirectory) -> Path:
    """Return an empty directory to start from: the kernels need no input."""
    return directory.inside(_ORIGIN).make()


# A training in virtual time: surfaces of a described storage, with its noise.

_SAMPLED = 64

Settings = Mapping[str, Value]


def program_of(options: TrainingOptions, cell: TrainingCell) -> SimulatedProgram:
    """Return a cell's kernel on the described storage.

    Raises:
        UsageError: The kernel, its options or the number of ranks are invalid.
    """
    found = _storage(options, cell)
    per_node = options.per_node(cell.ranks)
    work = workload_from_kernel(simulated_words(cell.words), cell.ranks // per_node, per_node)
    program = simulated_workload(found.storage, work, options.stack, options.transport)
    seconds = program.seconds({})
    if seconds is None or not isfinite(seconds):
        raise UsageError(f"{cell.title}: that cannot be simulated on {found.identity}")
    facts = replace(program.facts, io_seconds=seconds, elapsed_seconds=seconds)
    return replace(program, facts=facts)


def expected_ratio(
    options: TrainingOptions, cell: TrainingCell, points: Sequence[Settings]
) -> float:
    """Return the mean simulated time of the given points relative to that of the default.

    1 if it cannot be computed: the storage is not described, or no pattern was recognised.
    """
    emulation, facts = options.emulation(cell.ranks), cell.facts
    if emulation is None or facts is None:
        return 1.0
    if options.way is Way.SIMULATED:
        program: SimulatedProgram | None = program_of(options, cell)
    else:
        storage = EmulatedStorage.find(emulation).storage
        program = simulated_program(facts, storage, emulation.ranks_per_node, options.transport)
    default = program.seconds({}) if program else None
    if program is None or not default:
        return 1.0
    drawn = spread_points(points, cell.vary, _SAMPLED, options.seed)
    known = [t for t in map(program.seconds, drawn) if t is not None and isfinite(t)]
    if options.way is not Way.SIMULATED:
        known = [min(seconds, cell.timeout_seconds) for seconds in known]
    return mean(known) / default * _slower(options, program) if known else 1.0


def _slower(options: TrainingOptions, program: SimulatedProgram) -> float:
    """Return the mean factor by which noise slows runs down."""
    if options.way is not Way.SIMULATED and not options.noise:
        return 1.0
    draw, cv = Random(options.seed), program.storage.value("noise.cv")
    return mean(1 / noise_factor(draw, cv) for _ in range(_SAMPLED * 8))


def simulate_surface(
    options: TrainingOptions, cell: TrainingCell, points: Sequence[Settings], path: Path
) -> Surface:
    """Write a cell's surface, all at once, and return it."""
    program = program_of(options, cell)
    chosen = spread_points(points, cell.vary, cell.configurations, options.seed)
    surface = Surface(
        command=("simulated", *cell.words),
        facts=program.facts,
        provenance=_provenance(options, cell, program),
        tunables=recorded_tunables(cell.vary),
        runs=tuple(_runs(options, cell, program, chosen)),
        plan={
            "repeats": options.repeats,
            "seed": options.seed,
            "control_every": 0,
            "configurations": len(chosen),
            "spread": len(chosen),
        },
    )
    surface.save(path)
    return surface


def _runs(
    options: TrainingOptions,
    cell: TrainingCell,
    program: SimulatedProgram,
    points: Sequence[Settings],
) -> Iterator[SurfaceRun]:
    cv = program.storage.value("noise.cv")
    facts, sequence, clock = program.facts, 0, 0.0
    known = [program.seconds(settings) for settings in points]
    for number in range(1, options.repeats + 1):
        for settings, exact in zip(points, known, strict=True):
            sequence += 1
            if exact is None or not isfinite(exact):
                yield SurfaceRun(
                    settings, 0.0, 0.0, status=RunStatus.FAILED, round=number, sequence=sequence,
                    message="it cannot be simulated",
                )  # fmt: skip
                continue
            draw = Random(f"{options.seed}:{cell.name}:{sequence}")
            seconds = exact / noise_factor(draw, cv)
            yield SurfaceRun(
                settings, seconds, seconds, facts.read_bytes, facts.write_bytes, round=number,
                sequence=sequence, started_unix_seconds=clock,
            )  # fmt: skip
            clock += seconds


def _storage(options: TrainingOptions, cell: TrainingCell) -> EmulatedStorage:
    emulation = options.emulation(cell.ranks)
    assert emulation is not None  # follows from the options
    return EmulatedStorage.find(emulation)


def _provenance(
    options: TrainingOptions, cell: TrainingCell, program: SimulatedProgram
) -> dict[str, str]:
    found = _storage(options, cell)
    return {
        "stripewise": stripewise.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "filesystem": program.storage.kind,
        "storage": "simulated",
        "simulated": found.identity,
        "simulated digest": found.digest,
        "stack": program.stack,
    }
