# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Orders the rules by what the first run showed; with a burst buffer, nodes come first."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from stripewise.core import ProgramFacts, Trial, Value
from stripewise.present import printable
from stripewise.settings.tunables import Dimension, Space
from stripewise.study.strategies._base import Batch
from stripewise.study.strategies._burst_buffer import (
    AGGREGATORS,
    BUFFER,
    FILES,
    NODES,
    UNIT,
    Defaults,
    dimensions_by_name,
    is_on_request,
    node_rungs,
    numbers,
    on_nodes,
    with_powers_of_two,
)
from stripewise.study.strategies._rules import Climb, RulesStrategy, Settings
from stripewise.study.strategies._studied_file import (
    StudiedFile,
    costly_small_file,
    large_file_globs,
    last_run,
)

# Rules for a job whose burst buffer is searched: nodes with aggregators, then the rest.

WRITERS_OF_A_NODE = 4
"""Initial number of aggregators per burst-buffer node.

Source: NERSC's documentation of Cori's burst buffer, at least 4 writers for each node.

"""
_PATIENCE = 10
"""Number of trials without a gain allowed beyond the rungs, as in a study by default."""


class BurstBufferRules(RulesStrategy):
    """Climbs on the burst buffer first, if one is searched; otherwise like `RulesStrategy`.

    This is the search of `expbb` with fewer runs: the aggregators grow with the nodes, and unit
    and buffer are varied only once, on the best number of nodes.
    """

    climbs_nodes = True

    @classmethod
    def refine(cls, space: Space, facts: ProgramFacts) -> Space:
        """Return the space with powers of two for a burst buffer."""
        return with_powers_of_two(space, facts)

    def begin(self) -> None:
        """Start without any trial on the burst buffer."""
        super().begin()
        self.climbed: frozenset[str] = frozenset()
        """Tunables that were searched on the burst buffer, or only have an effect there."""
        self.is_on_burst_buffer = False
        self._by_name = dimensions_by_name(self.space)

    @property
    def least_patience(self) -> float:
        """Trials needed because even several rungs may be slower than the baseline."""
        return len(node_rungs(self.space, self.facts)) + _PATIENCE if NODES in self._by_name else 0

    def on_burst_buffer(self) -> Climb:
        """Search on the burst buffer from the best point there, even if the baseline is faster.

        If nothing there is faster than the previous best point, the search continues from that.
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
        """Climb from the first number of nodes with which the program runs."""
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
        """Return the defaults in effect according to the first trial on the burst buffer."""
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
        """Place only large files on the burst buffer, if the last trial has a costly small file.

        Returns:
            Whether that was better than the best point.
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

    def _with_setting(self, name: str, value: Value) -> Settings:
        """Return the best point with one more setting, and aggregators that match the nodes."""
        point = super()._with_setting(name, value)
        if name != NODES or not isinstance(value, int) or not value:
            return point
        return {**point, **self._aggregators(value)}


# Rules whose start and order depend on the counters of the first run.

SMALL_CALL_BYTES = 64 * 1024
"""Mean size of a data call below which buffers are expected to matter (assumed)."""


@dataclass(frozen=True)
class Hint:
    """Tunable that the counters suggest; value None if no value is preferred."""

    name: str
    value: Value | None
    reason: str


class AutoStrategy(BurstBufferRules):
    """Rules that start with the tunables suggested by the counters.

    If they suggest more than one value, the combination of these is tried before the ladders, and
    the ladders continue from it if it is better than the default.  If the burst buffer of a job is
    searched, that comes first; if it is faster, only the suggested tunables follow.
    """

    name = "auto"
    summary = "rules, starting with what the counters of the first run point to"
    uses_models = True

    def begin(self) -> None:
        """Derive the hints from the counters."""
        super().begin()
        known = {dimension.tunable.name for dimension in self.space.dimensions}
        hints = [hint for hint in hints_for(self.facts) if hint.name in known]
        self._hints: dict[str, Hint] = {}
        for hint in hints:
            self._hints.setdefault(hint.name, hint)

    def dimensions(self) -> Sequence[Dimension]:
        """Return hinted tunables in the order of the hints, then the rest; hinted values first."""
        left = [d for d in self.space.dimensions if d.tunable.name not in self.climbed]
        by_name = {d.tunable.name: d for d in left}
        hinted = [self._preferred_first(by_name[name]) for name in self._hints if name in by_name]
        if self.is_on_burst_buffer:
            self.what_was_tried = (
                "everything that acts on a burst buffer, and that the counters point to, was tried"
            )
            return [self._preferred_only(dimension) for dimension in hinted]
        rest = [d for d in left if d.tunable.name not in self._hints]
        return [*hinted, *rest]

    def why(self, name: str) -> str:
        """Return what the counters showed about a tunable; empty if nothing."""
        return self._hints[name].reason if name in self._hints else ""

    def start(self) -> Climb:
        """Search on the burst buffer; otherwise try the hinted values together."""
        yield from self.on_burst_buffer()
        if self._best:
            return
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

    def _preferred_only(self, dimension: Dimension) -> Dimension:
        value = self._hints[dimension.tunable.name].value
        return Dimension(dimension.tunable, (value,)) if value in dimension.values else dimension

    def _preferred_first(self, dimension: Dimension) -> Dimension:
        kind = dimension.tunable.domain.kind
        value = self._hints[dimension.tunable.name].value
        if value not in dimension.values or kind in ("int", "float", "ints"):
            return dimension
        others = tuple(other for other in dimension.values if other != value)
        return Dimension(dimension.tunable, (value, *others))


def hints_for(facts: ProgramFacts) -> Iterator[Hint]:
    """Yield the hints, most promising first; a tunable may occur more than once."""
    yield from _implementation(facts)
    yield from _pattern(facts)
    yield from _independent(facts)
    yield from _collective(facts)
    yield from _small_calls(facts)
    yield from _hdf5(facts)


def _implementation(facts: ProgramFacts) -> Iterator[Hint]:
    if len(facts.mpiio_alternatives) > 1 and facts.mpiio_implementation:
        choices = ", ".join(facts.mpiio_alternatives)
        yield Hint("mca.io", None, f"this MPI has several MPI-IO implementations ({choices})")


def _pattern(facts: ProgramFacts) -> Iterator[Hint]:
    """Yield hints to gather interleaved parts: by collective calls, or one per chunk."""
    if not facts.interleaved:
        return
    reason = f"the ranks' parts interleave in the file: {facts.pattern}"
    if facts.collective_bytes > facts.independent_bytes:
        yield Hint("mpiio.cb_nodes", None, reason)
        yield Hint(f"mpiio.romio_cb_{_operation(facts)}", "enable", reason)
    elif facts.uses_parallel_hdf5:
        yield Hint("hdf5.transfer", "collective", reason)
    if facts.block:
        yield Hint("hdf5.chunk", facts.block, reason)


def _independent(facts: ProgramFacts) -> Iterator[Hint]:
    if facts.noncontiguous and facts.independent_bytes > facts.collective_bytes:
        reason = "independent, noncontiguous access"
        yield Hint(f"mpiio.romio_ds_{_operation(facts)}", "disable", reason)
        direction = "wr" if _operation(facts) == "write" else "rd"
        yield Hint(f"mpiio.ind_{direction}_buffer_size", None, reason)


def _collective(facts: ProgramFacts) -> Iterator[Hint]:
    if not facts.collective_bytes or facts.collective_bytes < facts.independent_bytes:
        return
    operation = _operation(facts)
    if facts.noncontiguous or _mean_call_bytes(facts) < SMALL_CALL_BYTES:
        reason = "collective, interleaved access"
        yield Hint("mpiio.cb_nodes", None, reason)
        yield Hint(f"mpiio.romio_cb_{operation}", "enable", reason)
        yield Hint("mpiio.cb_buffer_size", None, reason)
    else:
        reason = "collective calls on contiguous pieces"
        yield Hint(f"mpiio.romio_cb_{operation}", "disable", reason)
        yield Hint("mpiio.cb_nodes", None, reason)


def _small_calls(facts: ProgramFacts) -> Iterator[Hint]:
    mean = _mean_call_bytes(facts)
    if 0 < mean < SMALL_CALL_BYTES:
        reason = f"small data calls, {mean:.0f} bytes on average"
        yield Hint("mpiio.ind_wr_buffer_size", None, reason)
        yield Hint("mpiio.cb_buffer_size", None, reason)
        yield Hint("hdf5.sieve_buf_size", None, reason)


def _hdf5(facts: ProgramFacts) -> Iterator[Hint]:
    if facts.uses_hdf5:
        reason = "parallel HDF5" if facts.uses_parallel_hdf5 else "HDF5"
        yield Hint("hdf5.alignment", None, reason)
        if facts.uses_parallel_hdf5:
            yield Hint("hdf5.coll_metadata_write", True, reason)
        yield Hint("hdf5.meta_block_size", None, reason)


def _mean_call_bytes(facts: ProgramFacts) -> float:
    calls = facts.read_calls + facts.write_calls
    return (facts.read_bytes + facts.write_bytes) / calls if calls else 0.0


def _operation(facts: ProgramFacts) -> str:
    """Return "read" or "write", whichever the program does more."""
    return "write" if facts.write_bytes >= facts.read_bytes else "read"
