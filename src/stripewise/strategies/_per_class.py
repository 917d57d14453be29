# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each trial did to each class of files, and the point that gives each class its best.

A run shows the I/O time of every file, so a trial of a setting for all files is a trial of it for
every class at once: nothing has to be tried class by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stripewise.model import FileClass, Trial, Value
from stripewise.tunables import acts_per_file, key_of, scoped, settings_on

Settings = dict[str, Value]
_QUARTER = 0.25
"""So much counts, however noisy the machine is: a trial and fresh pairs follow (chosen)."""


class PerClass:
    """The I/O time of each class at every point that was tried, relative to the baseline's."""

    def __init__(self, classes: Sequence[FileClass]) -> None:
        """Take the classes that a glob tells apart; fewer than two are none."""
        named = [one for one in classes if one.match]
        self._shares = {one.match: one.io_share for one in named} if len(named) > 1 else {}
        self._seen: list[tuple[Settings, Mapping[str, float]]] = [
            ({}, dict.fromkeys(self._shares, 1.0))
        ]

    def learn(self, trial: Trial, noise: float) -> bool:
        """Take a trial in; return whether it is the best so far for a class by more than noise."""
        ratios = trial.class_ratios
        if not self._shares or not all(match in ratios for match in self._shares):
            return False
        better = any(ratios[m] < self._lowest(m) * _clear(noise) for m in self._shares)
        self._seen.append((dict(trial.settings), ratios))
        return better

    def compose(self, best: Settings, noise: float) -> Settings | None:
        """Return the point that gives each class what was best for it; None if that is no gain.

        What acts on the whole job must be the same for all classes, so points are put together
        that agree in it.  A class leaves the best point only where another was better for it by
        more than the noise, and the whole must promise as much.

        Args:
            best: The best point so far.
            noise: Relative difference that means nothing.
        """
        at_best = self._ratios(best)
        if not self._shares or at_best is None:
            return None
        now = self._total(at_best)
        rest = 1 - sum(self._shares.values())
        promised: list[tuple[float, Settings]] = []
        for job in self._jobs():
            chosen = {match: self._choice(match, job, best, noise) for match in self._shares}
            ratios = {match: ratios[match] for match, (_, ratios) in chosen.items()}
            points = {match: point for match, (point, _) in chosen.items()}
            promised.append((self._total(ratios), _put_together(job, points)))
        total, point = min(promised, key=lambda one: one[0])
        is_gain = now - total > min(noise, _QUARTER) * (now + rest)
        return point if is_gain and self._ratios(point) is None else None

    def _choice(
        self, match: str, job: Settings, best: Settings, noise: float
    ) -> tuple[Settings, Mapping[str, float]]:
        """Return the point for a class: the best one, unless another is clearly better for it."""
        alike = [one for one in self._seen if key_of(_of_job(one[0])) == key_of(job)]
        lowest = min(alike, key=lambda one: one[1][match])
        at_best = next((one for one in alike if key_of(one[0]) == key_of(best)), None)
        if at_best is not None and lowest[1][match] >= at_best[1][match] * _clear(noise):
            return at_best
        return lowest

    def _jobs(self) -> list[Settings]:
        """Return what acts on the whole job in the points that were tried, each once."""
        return list({key_of(job): job for job in (_of_job(p) for p, _ in self._seen)}.values())

    def _ratios(self, point: Settings) -> Mapping[str, float] | None:
        key = key_of(point)
        return next((ratios for known, ratios in self._seen if key_of(known) == key), None)

    def _lowest(self, match: str) -> float:
        return min(ratios[match] for _, ratios in self._seen)

    def _total(self, ratios: Mapping[str, float]) -> float:
        return sum(share * ratios[match] for match, share in self._shares.items())


def _clear(noise: float) -> float:
    """Return the ratio of two times of one class from which on the smaller one is no chance."""
    return 1 - min(noise, _QUARTER)


def _of_job(point: Settings) -> Settings:
    return {name: value for name, value in point.items() if not acts_per_file(name)}


def _put_together(job: Settings, points: Mapping[str, Settings]) -> Settings:
    """Return a point under which each class has what another point gives it."""
    on_files = {match: settings_on(point, match) for match, point in points.items()}
    names = dict.fromkeys(n for on in on_files.values() for n in on if acts_per_file(n))
    together = dict(job)
    for name in names:
        values = {match: on[name] for match, on in on_files.items() if name in on}
        if len(values) == len(points) and len({repr(v) for v in values.values()}) == 1:
            together[name] = next(iter(values.values()))
        else:
            together |= {scoped(name, match): value for match, value in values.items()}
    return together
