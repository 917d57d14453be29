# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what a training is asked for and measures, so that it continues after a kill."""

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

# What the user asks of a training.

REPEATS = 3
PATTERNS = ("vpic", "vorpal", "gcrm")
SMALL_BYTES = 4 << 20


@dataclass(frozen=True)
class TrainingOptions:
    """What is trained, and how long that may take.

    Attributes:
        directory: Directory of the training; real runs write there.
        machine: Description of the storage: "hopper@1/16"; "": what the directory lies on.
        kernels: Name and options of each pattern, with its size.
        ranks: Scales.
        ranks_per_node: Number of ranks per node of the described storage; 0: emulated 1, simulated
            as many as fit.
        simulate: Whether all times are computed; nothing is run.
        repeats: Runs of each configuration.
        configurations: At the smallest scale; 0: as published.
        budget_seconds: Time limit of all runs together; None: no limit.
        seed: Seed of the choice, of the order, and of noise.
        vary: Tunable name to its values, instead of the published ladders.
        launcher: Words that start MPI programs, up to the number of ranks: ("mpiexec", "-n").
        kernel: Path of the kernel's program; "" where nothing is run.
        stack: Simulated: software stack; "": that of the storage's users.
        transport: Variant of the network; "": the default.
        noise: Emulated: runs vary as those of the storage do.
        allow_outside: Files and directories of the user's that runs may change, absolute: where
            the launcher is a script that does.
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
        """How it is measured."""
        if not self.machine:
            return Way.REAL
        return Way.SIMULATED if self.simulate else Way.EMULATED

    def emulation(self, ranks: int) -> EmulationOptions | None:
        """Return the described storage for so many ranks; None where it is the one here.

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
        """Return the ranks on each node of the described storage.

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


# What a training measures, kept in its directory so that it goes on after a kill.

PLAN = "training.json"
WORST, LEAST_SECONDS = 5.0, 5.0
"""A run is cut off after so many times as long as the first one, after so many seconds at least:
a configuration that is so bad need not be known better (assumed)."""
_FORMAT, _VERSION = "stripewise-training", 1
_NOT_COMPARED = frozenset({"directory", "budget_seconds", "allow_outside"})


@dataclass(frozen=True)
class Cell:
    """One pattern at one scale: a surface of the training.

    Attributes:
        words: Kernel and its options.
        ranks: Number of ranks of the job.
        facts: What it does with nothing set; None until that is seen.
        first_seconds: Time that the first run took, from start to end.
        run_seconds: Time that a run is expected to take, on average over the configurations.
        vary: Tunable name to the values that are measured.
        possible: Configurations that can act.
        configurations: Number of them to measure; 0 until that is settled.
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
        """Name of its surface, without suffix."""
        return name_of(self.words, self.ranks)

    @property
    def title(self) -> str:
        """Kernel and ranks, for people."""
        return f"{' '.join(self.words)} on {self.ranks} ranks"

    @property
    def timeout_seconds(self) -> float:
        """Time limit of a run with other settings."""
        return max(WORST * self.first_seconds, LEAST_SECONDS)


@dataclass(frozen=True)
class TrainingPlan:
    """A training as far as it is settled.

    Attributes:
        options: What was asked for.
        cells: Cells by scale, then by pattern.
    """

    options: TrainingOptions
    cells: tuple[Cell, ...]

    @classmethod
    def begin(cls, options: TrainingOptions) -> TrainingPlan:
        """Return the plan of a new training: nothing is known of its cells."""
        cells = (
            Cell(words, ranks) for ranks in sorted(options.ranks) for words in options.kernels
        )
        return cls(options, tuple(cells))

    def surface(self, cell: Cell) -> Path:
        """Return where a cell's surface is."""
        return self.options.directory / f"{cell.name}.jsonl"

    def with_cell(self, cell: Cell) -> TrainingPlan:
        """Return the plan with one cell better known."""
        known = {(one.words, one.ranks): one for one in self.cells}
        return replace(self, cells=tuple({**known, (cell.words, cell.ranks): cell}.values()))

    def save(self, directory: OwnedDirectory) -> None:
        """Write it.

        Raises:
            StorageError: The disk refuses.
        """
        data = {"format": _FORMAT, "version": _VERSION, **to_json(self)}
        directory.write(PLAN, (json.dumps(data, indent=1) + "\n").encode())


def find_plan(directory: OwnedDirectory, options: TrainingOptions) -> TrainingPlan:
    """Return the plan that a directory holds, or a new one.

    Raises:
        StudyError: It holds the plan of another training, or a damaged one.
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
    """Name the first option that was another one when the training was begun; "": none."""
    old, new = to_json(before), to_json(now)
    for name in old.keys() - _NOT_COMPARED:
        if old[name] != new[name]:
            return f"{name.replace('_', ' ')} {_shown(old[name])}, not {_shown(new[name])}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(" ".join(v) if isinstance(v, list) else str(v) for v in value) or "none"
    return str(value) if value != "" else "none"


# How many configurations a training measures, at which scale, within which time.

PUBLISHED = (336, 180, 96)
"""Configurations at 512, 1024 and 2048 cores: many where a run is cheap, fewer at scale."""
LEAST = 12
"""Fewer say nothing of a model with several terms."""


def share_out(
    cells: Sequence[Cell], repeats: int, budget_seconds: float | None = None, most: int = 0
) -> list[int]:
    """Return how many configurations to measure of each cell.

    Args:
        cells: Cells in any order.
        repeats: Runs of each configuration.
        budget_seconds: Time limit of all runs together; None: no limit.
        most: At the smallest scale; 0: as published.
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


def total_seconds(cells: Sequence[Cell], numbers: Sequence[int], repeats: int) -> float:
    """Return what so many configurations of each cell take, with a warm-up of each."""
    return sum(
        (number * repeats + 1) * cell.run_seconds
        for cell, number in zip(cells, numbers, strict=True)
    )


def published_counts(ranks: set[int], most: int) -> Mapping[int, int]:
    """Return the number of configurations of each scale, in the published proportions."""
    counts = list(PUBLISHED)
    while len(counts) < len(ranks):
        counts.append(max(round(counts[-1] * PUBLISHED[-1] / PUBLISHED[-2]), LEAST))
    return {
        scale: max(round(most * count / PUBLISHED[0]), 1)
        for scale, count in zip(sorted(ranks), counts, strict=False)
    }


def _scaled(wanted: Sequence[int], factor: float) -> list[int]:
    return [max(int(number * factor), min(LEAST, number)) for number in wanted]
