# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds a recorded surface's optimum, default, noise, and the effect of each tunable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, isfinite, log
from random import Random
from statistics import mean, median, stdev

from stripewise.core import RunStatus, Value
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import all_tunables
from stripewise.study.training import SettingsKey, Surface, SurfaceRole, SurfaceRun

NEAR = 0.05
"""Relative distance from the optimum at which a configuration counts as found."""
ENOUGH_REPEATS = 5
_RESAMPLES = 2000
_TINY_SECONDS = 1e-9


@dataclass(frozen=True)
class Spot:
    """One configuration and its runs.

    Attributes:
        settings: Settings without the tunables that have their default.
        runs: All runs except warm-ups.
    """

    settings: Mapping[str, Value]
    runs: tuple[SurfaceRun, ...]

    @cached_property
    def times(self) -> tuple[float, ...]:
        """I/O seconds of the valid runs."""
        return tuple(
            max(run.io_seconds, _TINY_SECONDS) for run in self.runs if run.status is RunStatus.OK
        )

    @cached_property
    def io_seconds(self) -> float:
        """Median I/O time; infinite if a run failed."""
        whole = len(self.times) == len(self.runs)
        return median(self.times) if whole and self.times else inf

    @property
    def cv(self) -> float:
        """Standard deviation over mean of the I/O times; 0 for a single one."""
        return stdev(self.times) / mean(self.times) if len(self.times) > 1 else 0.0


@dataclass(frozen=True)
class TunableEffect:
    """Effect of one tunable, averaged over the settings of all others.

    Attributes:
        ratios: Value to the geometric mean of I/O time relative to that without the tunable.
    """

    name: str
    ratios: tuple[tuple[Value, float], ...]

    @property
    def factor(self) -> float:
        """Time of the slowest value relative to that of the fastest, including the default."""
        all_ratios = [1.0, *(ratio for _, ratio in self.ratios if isfinite(ratio))]
        return max(all_ratios) / min(all_ratios)


class Landscape:
    """Surface grouped by configuration.

    Attributes:
        spots: All configurations, the fastest first; failures last.
        inert: Tunables without effect on the program, with the reason: differences with them are
            noise, and never an optimum.
    """

    def __init__(self, surface: Surface) -> None:
        """Group the runs.

        Raises:
            UsageError: The default was never measured.
        """
        self.surface = surface
        self._by_key: dict[SettingsKey, Spot] = {}
        for key, indices in surface.by_settings().items():
            runs = tuple(surface.runs[index] for index in indices)
            self._by_key[key] = Spot(runs[0].settings, runs)
        if () not in self._by_key:
            raise UsageError("the surface holds no run of the default; it has no reference")
        self.spots = tuple(sorted(self._by_key.values(), key=lambda spot: spot.io_seconds))
        reasons = {name: _why_inert(name, surface) for name in surface.tunables}
        self.inert = {name: why for name, why in reasons.items() if why}
        self._acting = [s for s in self.spots if not self.inert.keys() & s.settings.keys()]

    @property
    def default(self) -> Spot:
        """Spot of the unchanged program."""
        return self._by_key[()]

    @cached_property
    def best(self) -> Spot:
        """Optimum: the best median of those with an effect; the default if all failed."""
        return self._acting[0] if isfinite(self._acting[0].io_seconds) else self.default

    @property
    def enough_repeats(self) -> bool:
        """Whether every configuration was run often enough to determine an optimum."""
        return all(len(spot.runs) >= ENOUGH_REPEATS for spot in self.spots)

    @property
    def noise(self) -> float:
        """Median over the configurations of the coefficient of variation."""
        return median(spot.cv for spot in self.spots)

    def find(self, settings: Mapping[str, Value]) -> Spot | None:
        """Return a configuration; None if it was not measured."""
        return self._by_key.get(self.surface.key(settings))

    def near(self) -> list[Spot]:
        """Return the configurations within `NEAR` of the optimum."""
        limit = self.best.io_seconds * (1 + NEAR)
        return [spot for spot in self.spots if spot.io_seconds <= limit]

    @property
    def gain(self) -> float:
        """Median of the default relative to that of the optimum."""
        return self.default.io_seconds / self.best.io_seconds

    def gain_interval(self) -> tuple[float, float]:
        """Return a bootstrap interval of 95 % of `gain`, resampling the runs of both.

        It does not account for the choice of the optimum among many; `fresh_gain` does.
        """
        draw = Random("gain-interval")
        before, after = self.default.times, self.best.times
        ratios = sorted(
            median(draw.choices(before, k=len(before))) / median(draw.choices(after, k=len(after)))
            for _ in range(_RESAMPLES)
        )
        skipped = round(0.025 * _RESAMPLES)
        return ratios[skipped], ratios[-1 - skipped]

    def fresh_gain(self) -> float:
        """Return the gain without selection bias; NaN with fewer than two rounds.

        For each round, the configuration is selected by the other rounds and compared with the
        default in this one; the result is the geometric mean.
        """
        tables = {
            number: self._times_of_round(number)
            for number in sorted({run.round for spot in self.spots for run in spot.runs} - {0})
        }
        logs = []
        for number, here in tables.items():
            others = [table for other, table in tables.items() if other != number]
            known = [key for key in here if all(key in table for table in others)]
            if not others or () not in known:
                continue
            chosen = min(known, key=lambda key: median(table[key] for table in others))
            logs.append(log(here[()] / here[chosen]))
        return exp(mean(logs)) if logs else float("nan")

    def _times_of_round(self, number: int) -> dict[SettingsKey, float]:
        """Return the I/O seconds of one round's good runs, by configuration with an effect."""
        return {
            self.surface.key(spot.settings): max(run.io_seconds, _TINY_SECONDS)
            for spot in self._acting
            for run in spot.runs
            if run.round == number and run.role is SurfaceRole.POINT and run.status is RunStatus.OK
        }

    def effects(self) -> list[TunableEffect]:
        """Return the effect of each tunable, the strongest first."""
        found = [
            TunableEffect(
                name,
                tuple((value, self._ratio(name, value)) for value in values),
            )
            for name, values in self.surface.tunables.items()
        ]
        return sorted(found, key=lambda effect: -effect.factor)

    def _ratio(self, name: str, value: Value) -> float:
        logs = []
        for spot in self.spots:
            if name in spot.settings:
                continue
            other = self.find({**spot.settings, name: value})
            if other is not None and isfinite(spot.io_seconds) and isfinite(other.io_seconds):
                logs.append(log(other.io_seconds / spot.io_seconds))
        return exp(mean(logs)) if logs else float("nan")


def _why_inert(name: str, surface: Surface) -> str:
    tunable = next((one for one in all_tunables() if one.name == name), None)
    return tunable.why_not(surface.facts) if tunable is not None else ""
