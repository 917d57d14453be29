# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a training measures, kept in its directory so that it goes on after a kill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stripewise.errors import StudyError
from stripewise.inputs import parse_json
from stripewise.model import ProgramFacts, Value, from_json, to_json
from stripewise.owned import OwnedDirectory
from stripewise.training._kernels import name_of
from stripewise.training._options import TrainingOptions
from stripewise.training._sizes import Wanted

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
        ranks: Of the job.
        facts: What it does with nothing set; None until that is seen.
        first_seconds: That the first run took, all in all.
        run_seconds: That a run is expected to take, on average over the configurations.
        vary: Tunable name to the values that are measured.
        possible: Configurations that can act.
        configurations: So many of them are measured; 0 until that is settled.
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
        """Of its surface, without suffix."""
        return name_of(self.words, self.ranks)

    @property
    def title(self) -> str:
        """The same for people."""
        return f"{' '.join(self.words)} on {self.ranks} ranks"

    @property
    def timeout_seconds(self) -> float:
        """After which a run with other settings is cut off."""
        return max(WORST * self.first_seconds, LEAST_SECONDS)

    @property
    def wanted(self) -> Wanted:
        """What decides on its share of the budget."""
        return Wanted(self.ranks, self.run_seconds, self.possible)


@dataclass(frozen=True)
class Plan:
    """A training as far as it is settled.

    Attributes:
        options: What was asked for.
        cells: By scale, then by pattern.
    """

    options: TrainingOptions
    cells: tuple[Cell, ...]

    @classmethod
    def begin(cls, options: TrainingOptions) -> Plan:
        """Return the plan of a new training: nothing is known of its cells."""
        cells = (
            Cell(words, ranks) for ranks in sorted(options.ranks) for words in options.kernels
        )
        return cls(options, tuple(cells))

    def surface(self, cell: Cell) -> Path:
        """Return where a cell's surface is."""
        return self.options.directory / f"{cell.name}.jsonl"

    def with_cell(self, cell: Cell) -> Plan:
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


def find_plan(directory: OwnedDirectory, options: TrainingOptions) -> Plan:
    """Return the plan that a directory holds, or a new one.

    Raises:
        StudyError: It holds the plan of another training, or a damaged one.
    """
    content = directory.read(PLAN)
    if content is None:
        return Plan.begin(options)
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
        plan = from_json(Plan, data)
    except (ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{path} is damaged: {error}; give another -o") from error
    if different := _different(plan.options, options):
        raise StudyError(
            f"{directory.path} is a training with {different}; go on with that, or give another -o"
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
