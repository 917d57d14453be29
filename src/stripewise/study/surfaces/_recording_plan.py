# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Plans which points a recording measures, and checks that a resumed one is the same."""

from __future__ import annotations

import itertools
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import stripewise
from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import StudyError, UsageError
from stripewise.present import text_of
from stripewise.run.runtime import mpi_of_command
from stripewise.settings.tunables import get, is_valid
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
from stripewise.storage.machines import description_digest, known_storage, local_storage
from stripewise.study.surfaces._surface import RecordedTunable, Surface, SurfaceRole, SurfaceRun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
        tunable.name: RecordedTunable(
            tuple(dict.fromkeys(tunable.check(value) for value in values))
        )
        for tunable, values in ((get(name), values) for name, values in vary.items())
    }


def count_points(tunables: Mapping[str, RecordedTunable]) -> int:
    """Return the number of configurations, whether they can act or not.

    Raises:
        UsageError: There are far too many.
    """
    total = prod(len(tunable.values) + 1 for tunable in tunables.values())
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
    ladders = {name: tunable.values for name, tunable in surface.tunables.items()}
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


# A part of a space that stands for all of it: points that lie far from each other.

FIRST = 3
"""Tunables that matter most: the published designs vary stripe count, aggregators, stripe size."""
_TEXT_WEIGHT = 0.5


def spread_points(
    points: Sequence[Mapping[str, Value]],
    ladders: Mapping[str, Sequence[Value]],
    number: int,
    seed: int = 0,
) -> list[Mapping[str, Value]]:
    """Return so many points of a space, each as far as possible from those before it.

    The first is the default.  The first half varies only the first tunables, those that matter
    most, so that what they do is seen by itself: with few points of a space of many dimensions
    nearly every point would vary everything.  Places on a ladder of numbers are a distance
    apart, texts differ or are equal and count half: what chooses an algorithm leaves the numbers
    more to say.

    Args:
        points: All that come into question; the first one is always taken.
        ladders: Tunable name to its values, in order, what matters most first; the default lies
            before the first value.
        number: Of points to return; all where there are no more.
        seed: Decides between points that are equally far.

    Source: greedy maximin design; Johnson, Moore, Ylvisaker, doi 10.1016/0378-3758(90)90122-B.
    """
    if number >= len(points):
        return list(points)
    import numpy as np

    places = _coordinates(points, ladders)
    order = np.array(Random(f"{seed}:spread").sample(range(1, len(points)), len(points) - 1))
    nearest = np.full(len(points), np.inf)
    nearest[0] = -1.0
    chosen = [0]
    first = set(itertools.islice(ladders, FIRST))
    simple = order[[points[place].keys() <= first for place in order]]
    while len(chosen) < number:
        apart = np.square(places - places[chosen[-1]]).sum(axis=1)
        nearest = np.minimum(nearest, apart)
        few = len(chosen) < min(number // 2, 1 + len(simple))
        among = simple if few else order
        chosen.append(int(among[np.argmax(nearest[among])]))
        nearest[chosen[-1]] = -1.0
    return [points[place] for place in chosen]


def _coordinates(
    points: Sequence[Mapping[str, Value]], ladders: Mapping[str, Sequence[Value]]
) -> NDArray[np.float64]:
    """Return `(n_points, n_coordinates)`: a number of 0 to 1 a ladder, one of 0 or 1 a text."""
    import numpy as np

    columns = []
    for name, values in ladders.items():
        rungs: tuple[Value | None, ...] = (None, *values)
        place = {rung: number for number, rung in enumerate(rungs)}
        at = np.array([place[point.get(name)] for point in points])
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            columns.append(at / max(len(values), 1))
        else:
            scale = (_TEXT_WEIGHT / 2) ** 0.5
            columns += [scale * (at == rung) for rung in range(len(rungs))]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((len(points), 1))


# Under which circumstances a surface is recorded, and going on under the same ones.

_TIMEOUT = "timeout_seconds"
_COMPARED = {
    "mpi": "MPI",
    "mpiio": "MPI-IO",
    "hdf5": "HDF5",
    "cpu": "the processor",
    "filesystem": "the file system",
    "emulated": "the emulated storage",
    "emulated digest": "the description of the emulated storage",
}


def known_surface(options: RecordingOptions) -> Surface | None:
    """Return what the file holds already; None: it is to be begun.

    Raises:
        StudyError: It holds something else than what was asked for.
    """
    exists = options.output.exists() and options.output.stat().st_size > 0
    if exists and not options.resume:
        text = f"{options.output} exists already; go on with --resume, or give another -o"
        raise StudyError(text)
    if not exists:
        if not options.command or not options.vary:
            raise StudyError(f"there is no recording in {options.output} to go on with")
        return None
    surface = Surface.load(options.output)
    if not surface.plan:
        raise StudyError(f"{options.output} was not recorded by a plan; give another -o")
    if options.command and options.command != surface.command:
        raise StudyError(
            f"{options.output} is a recording of `{' '.join(surface.command)}`, not of this "
            "command; leave the command out, or give another -o"
        )
    if options.vary and recorded_tunables(options.vary) != dict(surface.tunables):
        raise StudyError(f"{options.output} is a recording of other tunables; leave --vary out")
    return surface


def options_of(surface: Surface, options: RecordingOptions) -> RecordingOptions:
    """Return the options under which a recording goes on: those it was begun with."""
    return replace(
        options,
        command=surface.command,
        sync=_synced(surface),
        timeout_seconds=_timeout(surface, options),
    )


def ignored_options(surface: Surface, options: RecordingOptions) -> Iterator[str]:
    """Say which of the options given now are not those of the recording, and not used."""
    plan = surface.plan
    given = (
        ("--repeats", options.repeats, REPEATS, plan.get("repeats")),
        ("--seed", options.seed, 0, plan.get("seed")),
        ("--control-every", options.control_every, CONTROL_EVERY, plan.get("control_every")),
    )
    for name, value, usual, recorded in given:
        if value not in (usual, recorded):
            yield f"{name} {value} is ignored: the recording was begun with {recorded}"
    if not options.sync and _synced(surface):
        yield "--no-sync is ignored: the recording was begun without it"
    timeout, wanted = _timeout(surface, options), options.timeout_seconds
    if wanted is not None and timeout != wanted:
        yield f"--timeout {wanted:g}s is ignored: the recording was begun with {timeout:g}s"


def provenance_of(
    options: RecordingOptions, facts: ProgramFacts, directory: Path, timeout_seconds: float | None
) -> dict[str, str]:
    """Return versions, machine and storage, without names of hosts or directories.

    Args:
        options: Of the recording.
        facts: What the first run showed.
        directory: Of the runs.
        timeout_seconds: Time limit of a run.
    """
    storage = EmulatedStorage.find(options.storage) if options.storage else None
    described = known_storage(directory)[0] if storage is None else None
    mpi = mpi_of_command(options.command)
    version = " ".join(facts.mpi_version.partition(", package")[0].split())
    found = {
        "stripewise": stripewise.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _field(Path("/proc/meminfo"), "MemTotal"),
        "filesystem": facts.filesystem,
        "storage": local_storage(directory).mount.medium if storage is None else "emulated",
        "emulated": storage.identity if storage is not None else "",
        "emulated digest": storage.digest if storage is not None else "",
        "described": described.storage.name if described else "",
        "described digest": description_digest(described.storage) if described else "",
        "mpi": version or (mpi.label if mpi else ""),
        "mpiio": facts.mpiio_implementation,
        "hdf5": mpi.hdf5.version if facts.uses_hdf5 and mpi and mpi.hdf5 else "",
        "synced": "yes" if options.sync else "no",
        _TIMEOUT: f"{timeout_seconds:g}",
    }
    return {name: text for name, text in found.items() if text}


def check_same(
    surface: Surface, facts: ProgramFacts, provenance: Mapping[str, str], path: object
) -> None:
    """Refuse to mix figures of two machines or stacks in one file.

    Raises:
        StudyError: What the first run of this session showed differs from the header.
    """
    differing = []
    if facts.n_ranks != surface.facts.n_ranks:
        differing.append(f"ranks: {surface.facts.n_ranks}, now {facts.n_ranks}")
    for name, title in _COMPARED.items():
        before, now = surface.provenance.get(name, ""), provenance.get(name, "")
        if surface.provenance and before != now:
            differing.append(f"{title}: {before or 'none'}, now {now or 'none'}")
    if differing:
        raise StudyError(
            f"{path} was begun under other circumstances ({'; '.join(differing)}); go on with it "
            "there, or give another -o"
        )


def _synced(surface: Surface) -> bool:
    return surface.provenance.get("synced") != "no"


def _timeout(surface: Surface, options: RecordingOptions) -> float:
    """Return the time limit in the header."""
    text = surface.provenance.get(_TIMEOUT, "")
    try:
        return float(text)
    except ValueError:
        raise StudyError(
            f"the surface {options.output} is damaged: {_TIMEOUT} is {text!r}"
        ) from None


def _field(path: Path, name: str) -> str:
    """Return the first value of a `name: value` file; "" if it has none."""
    found = re.search(rf"^{name}[ \t]*:(.*)", text_of(path), re.MULTILINE)
    return " ".join(found[1].split()) if found else ""
