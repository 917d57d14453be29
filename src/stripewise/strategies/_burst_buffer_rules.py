# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules for a job whose burst buffer is searched: nodes with aggregators, then the rest."""

from __future__ import annotations

from collections.abc import Generator
from math import isfinite

from stripewise.model import ProgramFacts, Trial, Value
from stripewise.strategies._burst_buffer import (
    AGGREGATORS,
    BUFFER,
    FILES,
    NODES,
    UNIT,
    dimensions_by_name,
    is_on_request,
    node_rungs,
    numbers,
    on_nodes,
    with_powers_of_two,
)
from stripewise.strategies._expbb_loops import Defaults
from stripewise.strategies._hybrid import costly_small_file, large_file_globs, last_run
from stripewise.strategies._rules import Climb, RulesStrategy, Settings
from stripewise.strategies._stepwise import Batch
from stripewise.strategies._studied_file import StudiedFile
from stripewise.text import printable
from stripewise.tunables import Space

WRITERS_OF_A_NODE = 4
"""So many aggregators for each burst-buffer node to begin with.

Source: NERSC's documentation of Cori's burst buffer, at least 4 writers for each node.
"""
_PATIENCE = 10
"""So many trials without a gain are allowed beyond the rungs, as a study does by default."""


class BurstBufferRules(RulesStrategy):
    """Climbs on the burst buffer first, where one is searched; as `RulesStrategy` otherwise.

    The search of `expbb` with fewer runs: aggregators grow with the nodes, and unit and buffer
    are varied once, on the number of nodes that was best.
    """

    climbs_nodes = True

    @classmethod
    def refine(cls, space: Space, facts: ProgramFacts) -> Space:
        """Return the space with powers of two for a burst buffer."""
        return with_powers_of_two(space, facts)

    def begin(self) -> None:
        """Nothing of the burst buffer was tried yet."""
        super().begin()
        self.climbed: frozenset[str] = frozenset()
        """Tunables that were searched on the burst buffer, or that act on nothing else."""
        self.is_on_burst_buffer = False
        self._by_name = dimensions_by_name(self.space)

    @property
    def least_patience(self) -> float:
        """The least nodes may be slower than the baseline, and the next ones too."""
        return len(node_rungs(self.space, self.facts)) + _PATIENCE if NODES in self._by_name else 0

    def on_burst_buffer(self) -> Climb:
        """Search on the burst buffer, from what is best there, whatever the baseline takes.

        If nothing there is faster than what was best before, the search goes on from that.
        """
        if not is_on_request(self.space):
            return
        if 0 in self._by_name[NODES].values:
            yield from self.try_point({NODES: 0}, "without the burst buffer")
        rungs = node_rungs(self.space, self.facts)
        least = self.facts.burst_buffer_nodes or (rungs[0] if rungs else 0)
        before, before_ratio = self._best, self.best_ratio
        if least:
            yield from self._from([least, *(n for n in rungs if n > least)])
        is_kept = self.best_ratio < before_ratio * (1 - self.noise)
        if not is_kept:
            self._best = before
        self.is_on_burst_buffer = is_kept
        names = (NODES, FILES, AGGREGATORS, UNIT, BUFFER) if is_kept else (NODES, FILES)
        self.climbed = frozenset(names)

    def _from(self, rungs: list[int]) -> Climb:
        """Climb from the first number of nodes on which the program runs."""
        reason = "start: the burst buffer with the least nodes, four aggregators for each"
        point: Settings = {}
        for least in rungs:
            point = {**on_nodes(least, self.facts), **self._aggregators(least)}
            if not point:
                return
            if isfinite((yield from self.try_point(point, reason))):
                break
            reason = "start: more nodes, since the run before gave no times"
        else:
            return
        more = [nodes for nodes in rungs if nodes > least]
        defaults = self._defaults()
        self._best = point
        yield from self._hybrid()
        yield from self._ladder(NODES, more, "more burst-buffer nodes, aggregators with them")
        if (yield from self._hybrid()):
            nodes = self._best.get(NODES, least)
            beyond = [n for n in more if isinstance(nodes, int) and n > nodes]
            yield from self._ladder(NODES, beyond, "more burst-buffer nodes, hybrid")
        if AGGREGATORS in self._best:
            yield from self._climb(self._by_name[AGGREGATORS])
        yield from self._unit_and_buffer(defaults)

    def _defaults(self) -> Defaults:
        """Return what acts unasked, as the first trial on the burst buffer shows."""
        studied = StudiedFile(self.noise)
        score = studied.score(self.last_trial) if self.last_trial else None
        return Defaults.of(studied.example(score) if score else None, self.facts)

    def _unit_and_buffer(self, defaults: Defaults) -> Climb:
        units = self._values(UNIT)
        smaller = [size for size in reversed(units) if size < defaults.unit]
        yield from self._ladder(UNIT, smaller, f"smaller striping units ({defaults.unit_from})")
        buffers, why = self._values(BUFFER), defaults.buffer_from
        larger = [size for size in buffers if size > defaults.buffer]
        yield from self._ladder(BUFFER, larger, f"larger striping buffers ({why})", patience=0)
        if BUFFER not in self._best:
            below = [size for size in reversed(buffers) if size < defaults.buffer]
            yield from self._ladder(BUFFER, below, f"smaller striping buffers ({why})", patience=0)

    def _hybrid(self) -> Generator[Batch, list[Trial], bool]:
        """Put large files alone on the burst buffer, if the last trial has a costly small one.

        Returns:
            Whether that was better than what was best.
        """
        trial, files = self.last_trial, self._by_name.get(FILES)
        if trial is None or files is None or FILES in trial.settings:
            return False
        run = last_run(trial)
        small = costly_small_file(run, self.facts.n_ranks)
        globs = str(files.values[0]) if files.values else large_file_globs(run)
        if small is None or not globs:
            return False
        before = self.best_ratio
        reason = f"hybrid, only {printable(globs)} on the burst buffer: {small.text}"
        ratio = yield from self.try_point({**trial.settings, FILES: globs}, reason)
        return ratio < before * (1 - self.noise)

    def _values(self, name: str) -> list[int]:
        dimension = self._by_name.get(name)
        return sorted(numbers(dimension.values)) if dimension else []

    def _aggregators(self, nodes: int) -> dict[str, Value]:
        """Return the setting of the aggregators for a number of nodes."""
        values = self._values(AGGREGATORS)
        enough = [n for n in values if n >= WRITERS_OF_A_NODE * nodes]
        return {AGGREGATORS: (enough or values[-1:])[0]} if values else {}

    def _with(self, name: str, value: Value) -> Settings:
        """Let aggregators grow with the nodes."""
        point = super()._with(name, value)
        if name != NODES or not isinstance(value, int) or not value:
            return point
        return {**point, **self._aggregators(value)}
