# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a recording measures, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from random import Random

from stripewise.emulation import EmulationOptions
from stripewise.errors import UsageError
from stripewise.model import ProgramFacts, Value
from stripewise.surfaces._spread import spread_points
from stripewise.surfaces._surface import RecordedTunable, Surface, SurfaceRole, SurfaceRun
from stripewise.tunables import get, is_valid

REPEATS = 5
CONTROL_EVERY = 20
MOST_CONFIGURATIONS = 100_000

Settings = Mapping[str, Value]


@dataclass(frozen=True)
class RecordingOptions:
    """What the user asks of a recording.

    Attributes:
        command: Arguments of the program, not a shell line; empty: that of the file.
        output: The surface's file.
        vary: Tunable name to the values to measure besides the default; empty: those of the file.
        repeats: Rounds, in each of which every configuration is run once.
        seed: Of the order.
        control_every: A run of the default after so many runs.
        sync: Whether data is on the storage when the clock stops.
        timeout_seconds: Time limit of a run; None: from the first run.
        origin: Directory in which the command is meant to run.
        work_directory: Takes the directory of the runs, which is removed at the end; default that
            of the file.
        inputs: What the program reads, instead of all of `origin`.
        resume: Go on with an interrupted recording.
        storage: To be emulated in every run; None: what is there is used.
        configurations: So many of the subspace, spread over it; 0: all of them.
        allow_outside: Files and directories outside of the copies that runs may change, relative
            to `origin`.
    """

    command: tuple[str, ...]
    output: Path
    vary: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    repeats: int = REPEATS
    seed: int = 0
    control_every: int = CONTROL_EVERY
    sync: bool = True
    timeout_seconds: float | None = None
    origin: Path = field(default_factory=Path.cwd)
    work_directory: Path | None = None
    inputs: tuple[Path, ...] = ()
    resume: bool = False
    storage: EmulationOptions | None = None
    configurations: int = 0
    allow_outside: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if self.resume:
            return
        if not self.command:
            raise UsageError("no command to record; give it after --, as in: -- mpiexec ./a.out")
        if not self.vary:
            raise UsageError("no tunable is varied; give --vary TUNABLE=VALUE,... or --spec FILE")
        if self.repeats < 1:
            raise UsageError(f"--repeats must be at least 1, not {self.repeats}")
        if self.configurations < 0:
            raise UsageError(f"--configurations must be above 0, not {self.configurations}")


def recorded_tunables(vary: Mapping[str, Sequence[Value]]) -> dict[str, RecordedTunable]:
    """Check tunables and values; their default is to leave them alone.

    Raises:
        UsageError: A tunable does not exist, or has no such value.
    """
    return {
        knob.name: RecordedTunable(tuple(dict.fromkeys(knob.check(value) for value in values)))
        for knob, values in ((get(name), values) for name, values in vary.items())
    }


def count_points(tunables: Mapping[str, RecordedTunable]) -> int:
    """Return the number of configurations, whether they can act or not.

    Raises:
        UsageError: There are far too many.
    """
    total = prod(len(knob.values) + 1 for knob in tunables.values())
    if total > MOST_CONFIGURATIONS:
        raise UsageError(f"{total} configurations are too many to measure; vary fewer tunables")
    return total


def possible_points(
    tunables: Mapping[str, RecordedTunable], facts: ProgramFacts
) -> tuple[list[Settings], int]:
    """Return every configuration that can act, the default first, and how many cannot.

    Raises:
        UsageError: There are far too many.
    """
    total = count_points(tunables)
    ladders = [((name, None), *((name, v) for v in k.values)) for name, k in tunables.items()]
    points = [
        {name: value for name, value in point if value is not None} for point in product(*ladders)
    ]
    possible = [point for point in points if is_valid(point, facts)]
    return list(possible), total - len(possible)


def planned_points(surface: Surface) -> list[Settings]:
    """Return what a recording measures: all that can act, or as many of it as were asked for."""
    points, _ = possible_points(surface.tunables, surface.facts)
    ladders = {name: knob.values for name, knob in surface.tunables.items()}
    number = surface.plan.get("spread", 0) or len(points)
    return spread_points(points, ladders, number, surface.plan["seed"])


def plan_runs(
    points: Sequence[Settings], repeats: int, seed: int, control_every: int
) -> list[SurfaceRun]:
    """Order the runs: rounds, each a fresh permutation, with the default in between.

    Whatever the machine does over the hours, it does to all configurations alike.
    """
    runs: list[SurfaceRun] = []

    def plan(settings: Settings, role: SurfaceRole) -> None:
        sequence = len(runs) + 1
        runs.append(SurfaceRun(settings, 0.0, 0.0, role=role, round=number, sequence=sequence))

    for number in range(1, repeats + 1):
        order = list(points)
        Random(f"{seed}:round:{number}").shuffle(order)
        for settings in order:
            if control_every and len(runs) % (control_every + 1) == control_every:
                plan({}, SurfaceRole.CONTROL)
            plan(settings, SurfaceRole.POINT)
    return runs


def count_runs(points: int, repeats: int, control_every: int) -> int:
    """Return how many runs `plan_runs` orders for so many configurations."""
    runs = points * repeats
    return runs + ((runs - 1) // control_every if control_every else 0)
