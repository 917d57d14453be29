# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules whose start and order come from what the first run's counters show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stripewise.model import ProgramFacts, Value
from stripewise.strategies._burst_buffer_rules import BurstBufferRules
from stripewise.strategies._rules import Climb
from stripewise.tunables import Dimension

SMALL_CALL_BYTES = 64 * 1024
"""Mean size of a data call below which buffers are expected to matter (assumed)."""


@dataclass(frozen=True)
class Hint:
    """One tunable that the counters point at; value None: no preferred value."""

    name: str
    value: Value | None
    reason: str


class AutoStrategy(BurstBufferRules):
    """Rules, but the tunables that the counters point at come first.

    Where they point at more than one value, the combination of these is tried before the
    ladders; the ladders then go on from it if it is better than the default.  Where the burst
    buffer of a job is searched, that comes before all; where that is faster, only what the
    counters point at follows.
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
        left = [d for d in self.space.dimensions if d.tunable.name not in self.climbed]
        by_name = {d.tunable.name: d for d in left}
        hinted = [self._preferred_first(by_name[name]) for name in self._hints if name in by_name]
        if self.is_on_burst_buffer:
            self.what_was_tried = (
                "what acts on a burst buffer, and what counters point at, was tried"
            )
            return [self._preferred_only(dimension) for dimension in hinted]
        rest = [d for d in left if d.tunable.name not in self._hints]
        return [*hinted, *rest]

    def why(self, name: str) -> str:
        """Return what the counters showed."""
        return self._hints[name].reason if name in self._hints else ""

    def start(self) -> Climb:
        """Search on the burst buffer; otherwise try what the counters point at together."""
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
    """Yield the hints, most promising first; a tunable may come more than once."""
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
    """Parts that interleave want to be gathered: by collective calls, or one to a chunk."""
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
    """Return what the program does more of."""
    return "write" if facts.write_bytes >= facts.read_bytes else "read"
