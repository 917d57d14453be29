# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules whose start and order come from what the first run's counters show."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.model import Value
from stripewise.strategies._hints import Hint, hints_for
from stripewise.strategies._rules import Climb, RulesStrategy
from stripewise.tunables import Dimension


class AutoStrategy(RulesStrategy):
    """Rules, but the tunables that the counters point at come first.

    Where they point at more than one value, the combination of these is tried before the
    ladders; the ladders then go on from it if it is better than the default.
    """

    name = "auto"
    summary = "rules that begin with what the first run's counters point at"

    def begin(self) -> None:
        """Work out what the counters point at."""
        super().begin()
        known = {dimension.tunable.name for dimension in self.space.dimensions}
        hints = [hint for hint in hints_for(self.facts) if hint.name in known]
        self._hints: dict[str, Hint] = {}
        for hint in hints:
            self._hints.setdefault(hint.name, hint)

    def dimensions(self) -> Sequence[Dimension]:
        """Return hinted tunables in the order of the hints, then the rest; hinted values first."""
        by_name = {d.tunable.name: d for d in self.space.dimensions}
        hinted = [self._preferred_first(by_name[name]) for name in self._hints]
        rest = [d for d in self.space.dimensions if d.tunable.name not in self._hints]
        return [*hinted, *rest]

    def why(self, name: str) -> str:
        """Return what the counters showed."""
        return self._hints[name].reason if name in self._hints else ""

    def start(self) -> Climb:
        """Try what the counters point at together."""
        combined: dict[str, Value] = {}
        for dimension in self.space.dimensions:
            hint = self._hints.get(dimension.tunable.name)
            if hint is not None and hint.value in dimension.values:
                combined[hint.name] = dimension.values[dimension.values.index(hint.value)]
        if len(combined) > 1:
            reasons = dict.fromkeys(self._hints[name].reason for name in combined)
            for name in tuple(combined):
                combined = {**self.requirements_of(name), **combined}
            yield from self.try_point(combined, "start: " + "; ".join(reasons))

    def _preferred_first(self, dimension: Dimension) -> Dimension:
        kind = dimension.tunable.domain.kind
        value = self._hints[dimension.tunable.name].value
        if value not in dimension.values or kind in ("int", "float", "ints"):
            return dimension
        others = tuple(other for other in dimension.values if other != value)
        return Dimension(dimension.tunable, (value, *others))
