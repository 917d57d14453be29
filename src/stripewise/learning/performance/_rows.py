# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts samples to rows of features, with the simulated time for boosted models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from statistics import median
from types import MappingProxyType

from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import StripewiseError
from stripewise.learning.performance._features import PHYSICAL, dominant_pattern, features_of
from stripewise.learning.performance._ground import Ground
from stripewise.learning.performance._records import TrainingSample
from stripewise.storage.machines import Storage, description_digest, find_storage
from stripewise.storage.simulation import SimulatedProgram, simulated_program


@dataclass(frozen=True)
class Row:
    """Sample as numbers.

    Attributes:
        features: Features of the sample by name.
        least / usual: Least and median I/O seconds of the repeats.
        simulated: Simulated I/O seconds; None if the sample cannot be simulated.
        name: Name of the program.
        physical: Whether all its settings act only by stripe count, stripe size and aggregators.
    """

    features: Mapping[str, float]
    least: float
    usual: float
    simulated: float | None
    name: str
    physical: bool

    @property
    def case(self) -> tuple[str, float]:
        """Program at its scale."""
        return self.name, self.features["ranks"]


def levels_of(samples: Iterable[TrainingSample]) -> dict[str, tuple[Value, ...]]:
    """Return the observed values of each tunable other than the features c, s and a."""
    seen: dict[str, dict[Value, None]] = {}
    for sample in samples:
        for name, value in sample.settings.items():
            if name not in PHYSICAL:
                seen.setdefault(name, {})[value] = None
    return {name: tuple(sorted(values, key=repr)) for name, values in sorted(seen.items())}


def samples_in_numbers(
    samples: Sequence[TrainingSample],
    ground: Ground,
    levels: Mapping[str, Sequence[Value]] = MappingProxyType({}),
) -> list[Row]:
    """Return a row for each sample with usable times."""
    programs: dict[ProgramFacts, SimulatedProgram | None] = {}
    rows = []
    for sample in samples:
        times = [one for one in sample.seconds if isfinite(one) and one > 0]
        if not times:
            continue
        if sample.facts not in programs:
            programs[sample.facts] = program_on(ground, sample.facts)
        program = programs[sample.facts]
        simulated = program.seconds(sample.settings) if program else None
        usable = simulated is not None and 0 < simulated and isfinite(simulated)
        rows.append(
            Row(
                features_of(sample.facts, ground.stack, sample.settings, levels),
                min(times), median(times), simulated if usable else None,
                sample.name or name_of(sample.facts), sample.settings.keys() <= PHYSICAL,
            )
        )  # fmt: skip
    return rows


def name_of(facts: ProgramFacts) -> str:
    """Return the pattern of a program without its scale, as its name."""
    pattern = dominant_pattern(facts)
    assert pattern is not None
    words = ",".join(pattern.distributions)
    return f"({words}) {','.join(map(str, pattern.block))} x {pattern.element_bytes} B"


# The simulation that boosted models correct, of the storage that the ground names.


def program_on(ground: Ground, facts: ProgramFacts) -> SimulatedProgram | None:
    """Return the simulation of a program; None if it cannot be simulated."""
    storage = _described(ground.storage, ground.digest)
    if storage is None:
        return None
    nodes = max(facts.aggregator_hosts, 1)
    return simulated_program(facts, storage, -(-facts.n_ranks // nodes))


@lru_cache(maxsize=16)
def _described(name: str, digest: str) -> Storage | None:
    if not digest:
        return None
    try:
        storage = find_storage(name)
    except StripewiseError:
        return None
    return storage if description_digest(storage) == digest else None
