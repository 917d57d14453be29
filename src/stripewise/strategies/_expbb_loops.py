# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which values the loops of ExPBB try on a rung, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stripewise.model import ObservedFile, ProgramFacts, Value
from stripewise.strategies._burst_buffer import (
    AGGREGATORS,
    BUFFER,
    RANKS,
    RANKS_PER_NODE,
    THREADS,
    UNIT,
    default_aggregators,
    default_buffer,
    default_unit,
    numbers,
)
from stripewise.text import size_text
from stripewise.tunables import Dimension

Change = dict[str, Value]
_ONE_A_NODE = "by default, one a burst-buffer node,"
_FIRST_BUFFER = 8
"""The buffers begin at this part of the default.  Source: the script on ExPBB's slides."""


@dataclass(frozen=True)
class Defaults:
    """What acts unasked on the burst buffer.

    Attributes:
        unit / buffer: Bytes.
        unit_from / buffer_from: Where each is from, for people.
        aggregators / aggregators_from: As reported or observed; 0: one for each burst-buffer
            node, as Cray MPICH has.
    """

    unit: int
    unit_from: str
    buffer: int
    buffer_from: str
    aggregators: int = 0
    aggregators_from: str = ""

    @classmethod
    def of(cls, file: ObservedFile | None, facts: ProgramFacts, nodes: int = 0) -> Defaults:
        """Take them from what was observed of the studied file, as far as it tells.

        Args:
            file: As a run with so many burst-buffer nodes and nothing else shows it.
            facts: Of the program.
            nodes: Of the burst buffer.
        """
        aggregators, source = default_aggregators(file, facts)
        fixed = (0, "") if aggregators == nodes else (aggregators, source)
        return cls(*default_unit(file, facts), *default_buffer(file), *fixed)


@dataclass(frozen=True)
class Ladders:
    """The values of the space, and the loops over them."""

    dimensions: Mapping[str, Dimension]
    facts: ProgramFacts

    def values(self, name: str) -> list[int]:
        """Return the values of a tunable, ascending; none where it is not searched."""
        dimension = self.dimensions.get(name)
        return sorted(numbers(dimension.values)) if dimension else []

    def aggregators(
        self, best: Mapping[str, Value], defaults: Defaults, nodes: int
    ) -> list[Change]:
        """Return the numbers of aggregators to try: more than now."""
        now = _number(best, AGGREGATORS, defaults.aggregators or max(nodes, 1))
        return [{AGGREGATORS: n} for n in self.values(AGGREGATORS) if n > now]

    def units(self, best: Mapping[str, Value], default: int) -> tuple[int, list[Change]]:
        """Return the striping unit now, and what is tried: smaller ones."""
        now = _number(best, UNIT, default)
        return now, [{UNIT: size} for size in reversed(self.values(UNIT)) if size < now]

    def small_buffers(self, best: Mapping[str, Value], defaults: Defaults) -> list[Change]:
        """Return buffers from an eighth of the default on, below it; none smaller than a stripe.

        Cray MPICH makes the buffer a multiple of the stripe.  Where a buffer was chosen already
        there are none.
        """
        if BUFFER in best:
            return []
        least = max(defaults.buffer // _FIRST_BUFFER, _number(best, UNIT, defaults.unit))
        return [{BUFFER: n} for n in self.values(BUFFER) if least <= n < defaults.buffer]

    def large_buffers(self, best: Mapping[str, Value], defaults: Defaults) -> list[Change]:
        """Return buffers above the present one."""
        now = _number(best, BUFFER, defaults.buffer)
        return [{BUFFER: size} for size in self.values(BUFFER) if size > now]

    def resources(self) -> dict[str, list[Change]]:
        """Return fewer ranks with more threads each; fewer ranks on each node."""
        fewer = [n for n in reversed(self.values(RANKS)) if n < self.facts.n_ranks]
        threads = self.values(THREADS)
        paired = [self._with_threads(ranks, threads) for ranks in fewer]
        alone: list[Change] = [] if paired else [{THREADS: n} for n in threads]
        per_node: list[Change] = [
            {RANKS_PER_NODE: n} for n in reversed(self.values(RANKS_PER_NODE))
        ]
        return {"ranks and threads": [*paired, *alone], "ranks per node": per_node}

    def _with_threads(self, ranks: int, threads: list[int]) -> Change:
        fitting = [n for n in threads if n * ranks <= self.facts.n_ranks]
        return {RANKS: ranks, THREADS: fitting[-1]} if fitting else {RANKS: ranks}


def _number(settings: Mapping[str, Value], name: str, default: int) -> int:
    value = settings.get(name, default)
    return value if isinstance(value, int) else default


def change_text(change: Mapping[str, Value], best: Mapping[str, Value], defaults: Defaults) -> str:
    """Say what is changed: "striping unit 8 MiB -> 4 MiB"."""
    return ", ".join(_one_change(name, value, best, defaults) for name, value in change.items())


def _one_change(name: str, value: Value, best: Mapping[str, Value], defaults: Defaults) -> str:
    after, before = _shown(name, value), _shown(name, best.get(name))
    if name == UNIT:
        before = before or f"{size_text(defaults.unit)} ({defaults.unit_from})"
        return f"striping unit {before} -> {after}"
    if name == BUFFER:
        before = before or f"{size_text(defaults.buffer)} ({defaults.buffer_from})"
        return f"striping buffer, that is cb_buffer_size, {before} -> {after}"
    if name == AGGREGATORS:
        known = f"{defaults.aggregators} ({defaults.aggregators_from})"
        return (
            f"aggregators {before or (known if defaults.aggregators else _ONE_A_NODE)} -> {after}"
        )
    label = name.rpartition(".")[2].replace("_", " ")
    return f"{label} {before or 'as the command says'} -> {after}"


def _shown(name: str, value: Value | None) -> str:
    if value is None:
        return ""
    is_size = name in (UNIT, BUFFER) and isinstance(value, int)
    return size_text(value) if is_size and isinstance(value, int) else str(value)
