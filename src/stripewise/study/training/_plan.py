# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores the options and cells of a training, so that it continues after a kill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stripewise.core import OwnedDirectory, ProgramFacts, Value, from_json, to_json
from stripewise.core.errors import StudyError, UsageError
from stripewise.core.inputs import parse_json
from stripewise.learning.performance import Way
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
from stripewise.study.training._kernels import name_of

# Options of a training.

REPEATS = 3
PATTERNS = ("vpic", "vorpal", "gcrm")
SMALL_BYTES = 4 << 20


@dataclass(frozen=True)
class TrainingOptions:
    """Options of a training.

    Attributes:
        directory: Directory of the training; real runs write there.
        machine: Description of the storage: "hopper@1/16"; empty for the directory's own storage.
        kernels: Name and options of each pattern, with its size.
        ranks: Numbers of ranks, one per scale.
        ranks_per_node: Number of ranks per node of the described storage; 0 for one if emulated,
            and for as many as fit if simulated.
        simulate: Whether all times are computed and nothing is run.
        repeats: Number of runs of each configuration.
        configurations: Number of configurations at the smallest scale; 0 for the published one.
        budget_seconds: Time limit of all runs together; None for no limit.
        seed: Seed of the choice of points, of the order, and of noise.
        vary: Tunable name to its values, instead of the published ladders.
        launcher: Words that start MPI programs, up to the number of ranks: ("mpiexec", "-n").
        kernel: Path of the kernel's program; empty if nothing is run.
        stack: Software stack of a simulation; empty for the usual one of the storage.
        transport: Variant of the network; empty for the default.
        noise: Whether emulated runs vary like those of the storage.
        allow_outside: Absolute paths of the user's files and directories that runs may change, for
            a launcher that is a script.
    """

    directory: Path
    machine: str = ""
    kernels: tuple[tuple[str, ...], ...] = ()
    ranks: tuple[int, ...] = ()
    ranks_per_node: int = 0
    simulate: bool = False
    repeats: int = REPEATS
    configurations: int = 0
    budget_seconds: float | None = None
    seed: int = 0
    vary: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    kernel: str = ""
    stack: str = ""
    transport: str = ""
    noise: bool = False
    allow_outside: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if not self.kernels or not self.ranks:
            raise UsageError("give --patterns and --ranks: what to measure, and at which scales")
        if self.simulate and not self.machine:
            raise UsageError("--simulate needs a described storage: give --on MACHINE")
        for name in ("repeats", "configurations", "ranks_per_node"):
            least = int(name == "repeats")
            if getattr(self, name) < least:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} must be at least {least}, not {getattr(self, name)}")

    @property
    def way(self) -> Way:
        """Way in which the times are obtained."""
        if not self.machine:
            return Way.REAL
        return Way.SIMULATED if self.simulate else Way.EMULATED

    def emulation(self, ranks: int) -> EmulationOptions | None:
        """Return the described storage for a number of ranks; None for the real storage.

        Raises:
            UsageError: The ranks do not fill nodes.
        """
        if not self.machine:
            return None
        return EmulationOptions(
            self.machine,
            self.per_node(ranks),
            transport=self.transport,
            noise=self.noise,
            seed=self.seed,
        )

    def per_node(self, ranks: int) -> int:
        """Return the number of ranks on each node of the described storage.

        Raises:
            UsageError: The ranks do not fill nodes.
        """
        if self.ranks_per_node and ranks % self.ranks_per_node:
            raise UsageError(
                f"{ranks} ranks do not fill nodes of {self.ranks_per_node}: give --ranks that are "
                "multiples of --ranks-per-node"
            )
        if self.ranks_per_node or not self.simulate:
            return self.ranks_per_node or 1
        storage = EmulatedStorage.find(EmulationOptions(self.machine)).storage
        most = int(storage.value("machine.ranks_per_node"))
        return next(n for n in range(min(most, ranks), 0, -1) if not ranks % n)


# Cells of a training, stored in its directory so that it continues after a kill.

PLAN = "training.json"
WORST, LEAST_SECONDS = 5.0, 5.0
"""Multiple of the first run's time, and least number of seconds, after which a run is cut off:
such a bad configuration need not be known exactly (assumed).
"""
_FORMAT, _VERSION = "stripewise-training", 1
_NOT_COMPARED = frozenset({"directory", "budget_seconds", "allow_outside"})


@dataclass(frozen=True)
class TrainingCell:
    """One pattern at one scale, whose surface is measured.

    Attributes:
        words: Kernel and its options.
        ranks: Number of ranks of the job.
        facts: Facts of a run with nothing set; None if it has not run yet.
        first_seconds: Elapsed time of the first run.
        run_seconds: Expected time of a run, averaged over the configurations.
        vary: Tunable name to the values that are measured.
        possible: Number of valid configurations.
        configurations: Number of configurations to measure; 0 if not determined yet.
    """

    words: tuple[str, ...]
    ranks: int
    facts: ProgramFacts | None = None
    first_seconds: float = 0.0
    run_seconds: float = 0.0
    vary: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    possible: int = 0
    configurations: int = 0

    @property
    def name(self) -> str:
        """Name of the surface's file, without suffix."""
        return name_of(self.words, self.ranks)

    @property
    def title(self) -> str:
        """Kernel and ranks, for users."""
        return f"{' '.join(self.words)} on {self.ranks} ranks"

    @property
    def timeout_seconds(self) -> float:
        """Time limit of a run with other settings."""
        return max(WORST * self.first_seconds, LEAST_SECONDS)


@dataclass(frozen=True)
class TrainingPlan:
    """Plan of a training, as far as it is determined.

    Attributes:
        options: Options of the training.
        cells: Cells by scale, then by pattern.
    """

    options: TrainingOptions
    cells: tuple[TrainingCell, ...]

    @classmethod
    def begin(cls, options: TrainingOptions) -> TrainingPlan:
        """Return the plan of a new training, whose cells are not examined yet."""
        cells = (
            TrainingCell(words, ranks)
            for ranks in sorted(options.ranks)
            for words in options.kernels
        )
        return cls(options, tuple(cells))

    def surface(self, cell: TrainingCell) -> Path:
        """Return the path of a cell's surface."""
        return self.options.directory / f"{cell.name}.jsonl"

    def with_cell(self, cell: TrainingCell) -> TrainingPlan:
        """Return the plan with one cell replaced by a more complete one."""
        known = {(one.words, one.ranks): one for one in self.cells}
        return replace(self, cells=tuple({**known, (cell.words, cell.ranks): cell}.values()))

    def save(self, directory: OwnedDirectory) -> None:
        """Write the plan into a directory.

        Raises:
            StorageError: The file cannot be written.
        """
        data = {"format": _FORMAT, "version": _VERSION, **to_json(self)}
        directory.write(PLAN, (json.dumps(data, indent=1) + "\n").encode())


def find_plan(directory: OwnedDirectory, options: TrainingOptions) -> TrainingPlan:
    """Return the plan stored in a directory, or a new one.

    Raises:
        StudyError: The directory contains the plan of another training, or a damaged one.
    """
    content = directory.read(PLAN)
    if content is None:
        return TrainingPlan.begin(options)
    path = options.directory / PLAN
    try:
        data: dict[str, Any] = parse_json(content)
        if data["format"] != _FORMAT:
            raise ValueError(f"its format is {data['format']!r}")
        if data["version"] != _VERSION:
            raise StudyError(
                f"{path} is of version {data['version']!r}; this Stripewise reads version "
                f"{_VERSION}: give another -o"
            )
        plan = from_json(TrainingPlan, data)
    except (ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{path} is damaged: {error}; give another -o") from error
    if different := _different(plan.options, options):
        raise StudyError(
            f"{directory.path} is a training with {different}; continue that one, or give another "
            "-o"
        )
    return replace(plan, options=options)


def _different(before: TrainingOptions, now: TrainingOptions) -> str:
    """Return the first option that differs from that of the existing plan; empty if none does."""
    old, new = to_json(before), to_json(now)
    for name in old.keys() - _NOT_COMPARED:
        if old[name] != new[name]:
            return f"{name.replace('_', ' ')} {_shown(old[name])}, not {_shown(new[name])}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(" ".join(v) if isinstance(v, list) else str(v) for v in value) or "none"
    return str(value) if value != "" else "none"


# Number of configurations that a training measures at each scale within a time.

PUBLISHED = (336, 180, 96)
"""Number of configurations at 512, 1024 and 2048 cores: fewer at scale, where runs are costly."""
LEAST = 12
"""Least number of configurations: fewer say nothing about a model with several terms."""


def share_out(
    cells: Sequence[TrainingCell], repeats: int, budget_seconds: float | None = None, most: int = 0
) -> list[int]:
    """Return how many configurations of each cell to measure.

    Args:
        cells: Cells in any order.
        repeats: Number of runs of each configuration.
        budget_seconds: Time limit of all runs together; None for no limit.
        most: Number of configurations at the smallest scale; 0 for the published one.
    """
    counts = published_counts({cell.ranks for cell in cells}, most or PUBLISHED[0])
    wanted = [min(counts[cell.ranks], cell.possible) for cell in cells]
    if budget_seconds is None or total_seconds(cells, wanted, repeats) <= budget_seconds:
        return wanted
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        within = total_seconds(cells, _scaled(wanted, middle), repeats) <= budget_seconds
        low, high = (middle, high) if within else (low, middle)
    return _scaled(wanted, low)


def total_seconds(cells: Sequence[TrainingCell], numbers: Sequence[int], repeats: int) -> float:
    """Return the time for a number of configurations of each cell, including their warm-ups."""
    return sum(
        (number * repeats + 1) * cell.run_seconds
        for cell, number in zip(cells, numbers, strict=True)
    )


def published_counts(ranks: set[int], most: int) -> Mapping[int, int]:
    """Return the number of configurations at each scale, in the published proportions."""
    counts = list(PUBLISHED)
    while len(counts) < len(ranks):
        counts.append(max(round(counts[-1] * PUBLISHED[-1] / PUBLISHED[-2]), LEAST))
    return {
        scale: max(round(most * count / PUBLISHED[0]), 1)
        for scale, count in zip(sorted(ranks), counts, strict=False)
    }


def _scaled(wanted: Sequence[int], factor: float) -> list[int]:
    return [max(int(number * factor), min(LEAST, number)) for number in wanted]
