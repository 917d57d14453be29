# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Climbs one tunable's ladder after the other, for all classes of files at once."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import inf

from stripewise.core import FileClass, Proposal, Trial, Value
from stripewise.settings.tunables import (
    Dimension,
    PointKey,
    acts_per_file,
    is_valid,
    key_of,
    scoped,
    settings_on,
    settings_text,
    split_scope,
)
from stripewise.study.strategies._base import Batch, Steps, StepwiseStrategy

Settings = dict[str, Value]
Climb = Generator[Batch, list[Trial], None]
_UNORDERED_KINDS = ("bool", "enum", "text")


class RulesStrategy(StepwiseStrategy):
    """Climbs each tunable's ladder while the I/O time improves, keeps the best, takes the next.

    An improvement counts if it exceeds the noise.  A rung without a change is followed by one more
    rung; a rung that is worse by twice the noise ends the ladder (a single unlucky run must not);
    the values of an enumeration have no order and are all tried.  After each tunable, if classes
    of files did best at different points, these are combined.  At the end the elapsed time is
    checked: while the best point makes it worse, the tunable that was kept last is dropped.
    """

    name = "rules"
    summary = "one tunable after another, increasing each while I/O time improves"
    tunes_classes = True

    def dimensions(self) -> Sequence[Dimension]:
        """Return the tunables in the order in which they are tried."""
        return self.space.dimensions

    def start(self) -> Climb:
        """Try starting points before the ladders; the default implementation has none."""
        yield from ()

    def why(self, name: str) -> str:
        """Return why a tunable is tried; empty if there is no specific reason."""
        del name
        return ""

    what_was_tried = "all applicable tunables were tried"
    """Reason for the end of the search, in words."""

    last_trial: Trial | None = None
    """Trial whose result was received last."""

    def steps(self) -> Steps:
        """Climb all ladders, then check the elapsed time."""
        self._seen: dict[PointKey, tuple[float, float]] = {key_of({}): (1.0, 1.0)}
        self._best: Settings = {}
        self._classes, self._serves_a_class = PerClass(self.facts.file_classes), False
        self._begin_with_primed()
        yield from self.start()
        for dimension in self.dimensions():
            yield from self._climb(dimension)
            yield from self._compose()
        yield from self._check_whole_time()
        kept = settings_text(self._best)
        return f"{self.what_was_tried}; " + (f"best: {kept}" if kept else "no setting was kept")

    @property
    def best_ratio(self) -> float:
        """I/O time of the best point relative to the baseline."""
        return self._seen[key_of(self._best)][0]

    def try_point(
        self, settings: Mapping[str, Value], reason: str
    ) -> Generator[Batch, list[Trial], float]:
        """Run a point unless it was already run; keep it if it is the best.

        Returns:
            I/O time relative to the baseline; infinite for an invalid point or a failure.
        """
        key = key_of(settings)
        if key not in self._seen:
            if not is_valid(settings, self.facts):
                return inf
            (trial,) = yield [Proposal(dict(settings), reason)]
            self._seen[key] = (trial.io_ratio, trial.elapsed_ratio)
            self.last_trial = trial
            self._serves_a_class = self._classes.learn(trial, self.noise)
        ratio = self._seen[key][0]
        if ratio < self.best_ratio * (1 - self.noise):
            self._best = dict(settings)
        return ratio

    def requirements_of(self, name: str) -> Settings:
        """Return the values of searched tunables without which a tunable has no effect."""
        ladders = {d.tunable.name: d.values for d in self.space.dimensions}
        tunable = next(d.tunable for d in self.space.dimensions if d.tunable.name == name)
        needed = tunable.requires(self.facts)
        return {n: value for n, value in needed.items() if value in ladders.get(n, ())}

    def _begin_with_primed(self) -> None:
        """Continue from the best trial that is already known."""
        for trial in self.primed:
            key = key_of(trial.settings)
            self._seen[key] = (trial.io_ratio, trial.elapsed_ratio)
            self._classes.learn(trial, self.noise)
            if trial.io_ratio < self.best_ratio * (1 - self.noise):
                self._best = dict(trial.settings)

    def _climb(self, dimension: Dimension) -> Climb:
        name, values = dimension.tunable.name, dimension.values
        reason = self._reason(name)
        current = self._best.get(name)
        if dimension.tunable.domain.kind in _UNORDERED_KINDS:
            for value in values:
                yield from self.try_point(self._with_setting(name, value), reason)
        elif current in values:
            place = values.index(current)
            yield from self._ladder(name, values[place + 1 :], reason)
            if self._best.get(name) == current:
                yield from self._ladder(name, values[:place][::-1], reason)
        else:
            yield from self._ladder(name, values, reason)

    def _ladder(
        self, name: str, values: Sequence[Value], reason: str, *, patience: int = 1
    ) -> Climb:
        """Climb a ladder, skipping a number of rungs that change nothing."""
        for value in values:
            before, self._serves_a_class = self.best_ratio, False
            ratio = yield from self.try_point(self._with_setting(name, value), reason)
            if ratio < before * (1 - self.noise) or self._serves_a_class:
                continue
            if ratio > before * (1 + 2 * self.noise) or not patience:
                return
            patience -= 1

    def _compose(self) -> Climb:
        """Try to combine the best settings of each class of files, if that promises a gain."""
        point = self._classes.compose(self._best, self.noise)
        if point is not None:
            yield from self.try_point(point, "what was best for each class of files")

    def _with_setting(self, name: str, value: Value) -> Settings:
        """Return the best point with one more setting and the settings that it requires.

        A required setting is not added if it was found clearly worse than the best, or if it
        contradicts the best point: then the new setting is tried without it, so that a setting
        kept by chance does not prevent later ones.
        """
        needed = self.requirements_of(name)
        missing = {n: v for n, v in needed.items() if self._best.get(n) != v}
        base = {**self._best, **missing}
        known = self._seen.get(key_of(base)) if missing else None
        if known is not None and known[0] > self.best_ratio * (1 + 2 * self.noise):
            base = self._best
        kept = {n: v for n, v in base.items() if n == name or split_scope(n)[0] != name}
        point = {**kept, name: value}
        return point if is_valid(point, self.facts) else {**needed, name: value}

    def _reason(self, name: str) -> str:
        place = f"values of {name}"
        why = self.why(name)
        return f"{place}: {why}" if why else place

    def _check_whole_time(self) -> Climb:
        while self._best:
            elapsed = self._seen[key_of(self._best)][1]
            if elapsed <= 1 + self.noise:
                return
            dropped = list(self._best)[-1]
            fewer = {name: value for name, value in self._best.items() if name != dropped}
            self._best = fewer
            if key_of(fewer) not in self._seen:
                reason = f"the whole time got worse; without {dropped}"
                (trial,) = yield [Proposal(fewer, reason)]
                self._seen[key_of(fewer)] = (trial.io_ratio, trial.elapsed_ratio)


# Effect of each trial on each class of files, and the point that combines the best of them.
#
# A run shows the I/O time of every file, so a trial of a setting for all files is a trial for
# every class at once: classes need not be tried separately.

_QUARTER = 0.25
"""Gain that counts, however noisy the machine is: a trial and confirmation pairs follow."""


class PerClass:
    """I/O time of each class at every tried point, relative to the baseline's."""

    def __init__(self, classes: Sequence[FileClass]) -> None:
        """Store the classes that globs distinguish; fewer than two count as none."""
        named = [one for one in classes if one.match]
        self._shares = {one.match: one.io_share for one in named} if len(named) > 1 else {}
        self._seen: list[tuple[Settings, Mapping[str, float]]] = [
            ({}, dict.fromkeys(self._shares, 1.0))
        ]

    def learn(self, trial: Trial, noise: float) -> bool:
        """Learn a trial; return whether it is the best for a class so far, by more than noise."""
        ratios = trial.class_ratios
        if not self._shares or not all(match in ratios for match in self._shares):
            return False
        better = any(ratios[m] < self._lowest(m) * _clear(noise) for m in self._shares)
        self._seen.append((dict(trial.settings), ratios))
        return better

    def compose(self, best: Settings, noise: float) -> Settings | None:
        """Return the point with the best settings of each class; None if that is no gain.

        Settings of the whole job must be the same for all classes, so only points that agree in
        them are combined.  A class leaves the best point only if another was better for it by more
        than the noise, and the combination must promise as much.

        Args:
            best: Best point so far.
            noise: Relative difference that is within the noise.
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
        alike = [one for one in self._seen if key_of(_job_settings(one[0])) == key_of(job)]
        lowest = min(alike, key=lambda one: one[1][match])
        at_best = next((one for one in alike if key_of(one[0]) == key_of(best)), None)
        if at_best is not None and lowest[1][match] >= at_best[1][match] * _clear(noise):
            return at_best
        return lowest

    def _jobs(self) -> list[Settings]:
        """Return the distinct settings of the whole job in the points that were tried."""
        return list(
            {key_of(job): job for job in (_job_settings(p) for p, _ in self._seen)}.values()
        )

    def _ratios(self, point: Settings) -> Mapping[str, float] | None:
        key = key_of(point)
        return next((ratios for known, ratios in self._seen if key_of(known) == key), None)

    def _lowest(self, match: str) -> float:
        return min(ratios[match] for _, ratios in self._seen)

    def _total(self, ratios: Mapping[str, float]) -> float:
        return sum(share * ratios[match] for match, share in self._shares.items())


def _clear(noise: float) -> float:
    """Return the ratio of two times of one class from which on the difference is no chance."""
    return 1 - min(noise, _QUARTER)


def _job_settings(point: Settings) -> Settings:
    return {name: value for name, value in point.items() if not acts_per_file(name)}


def _put_together(job: Settings, points: Mapping[str, Settings]) -> Settings:
    """Return a point in which each class has its settings from its own point."""
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
