# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Provides the ladders of a job on a burst buffer: nodes, aggregators, units, buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stripewise.core import ObservedFile, ProgramFacts, Value
from stripewise.present import size_text
from stripewise.settings.tunables import Dimension, Space

NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"
AGGREGATORS, UNIT, BUFFER = "mpiio.cb_nodes", "mpiio.striping_unit", "mpiio.cb_buffer_size"
RANKS, RANKS_PER_NODE, THREADS = "job.ranks", "job.ranks_per_node", "job.threads"
KIB, MIB = 1024, 1 << 20
LEAST_UNIT = 256 * KIB
"""Least useful request size: smaller ones are slow (documented: NERSC, from 512 KiB on)."""
DATAWARP_UNIT = 8 * MIB
"""Default stripe size of files on DataWarp.  Source: Markomanolis (KAUST), ExPBB, CUG 2017."""
ROMIO_BUFFER = 16 * MIB
"""Default of cb_buffer_size (measured: ROMIO_PRINT_HINTS=1, MPICH 4.0.2; Cray MPICH's too)."""
_UNITS = (16 * MIB, 8 * MIB, 4 * MIB, 2 * MIB, MIB, 512 * KIB, LEAST_UNIT)
_BUFFERS = tuple(MIB << power for power in range(9))


def dimensions_by_name(space: Space) -> dict[str, Dimension]:
    """Return the dimensions of a space by their tunables' names."""
    return {dimension.tunable.name: dimension for dimension in space.dimensions}


def is_on_request(space: Space) -> bool:
    """Return whether the number of the job's burst-buffer nodes is searched."""
    return NODES in dimensions_by_name(space)


def with_powers_of_two(space: Space, facts: ProgramFacts) -> Space:
    """Return the space with the ladders of a burst buffer, if one is searched.

    Aggregators, striping unit and buffer get powers of two instead of ladders for a parallel file
    system; values from the user are kept.
    """
    if not is_on_request(space):
        return space
    dimensions = tuple(_widened(dimension, facts) for dimension in space.dimensions)
    return Space(dimensions, space.left_out)


def _widened(dimension: Dimension, facts: ProgramFacts) -> Dimension:
    tunable = dimension.tunable
    ladders: dict[str, tuple[Value, ...]] = {
        AGGREGATORS: tuple(_powers_up_to(facts.n_ranks)),
        UNIT: _UNITS,
        BUFFER: _BUFFERS,
    }
    if tunable.name not in ladders or dimension.values != tunable.search.ladder(facts):
        return dimension
    return Dimension(tunable, ladders[tunable.name])


def _powers_up_to(most: int) -> Iterator[int]:
    yield from (1 << power for power in range((most - 1).bit_length()))
    yield most


def node_rungs(space: Space, facts: ProgramFacts) -> list[int]:
    """Return the burst-buffer nodes to try in ascending order, including the script's own."""
    dimension = dimensions_by_name(space).get(NODES)
    values = numbers(dimension.values) if dimension else []
    rungs = sorted({*values, facts.burst_buffer_nodes} - {0})
    return rungs if dimension else [facts.burst_buffer_nodes]


def on_nodes(nodes: int, facts: ProgramFacts) -> dict[str, Value]:
    """Return the setting of a number of nodes; empty if the script already has that number."""
    return {} if nodes == facts.burst_buffer_nodes else {NODES: nodes}


def numbers(values: Sequence[Value]) -> list[int]:
    """Return the values that are integers."""
    return [value for value in values if isinstance(value, int)]


def default_unit(file: ObservedFile | None, facts: ProgramFacts) -> tuple[int, str]:
    """Return the default striping unit on a burst buffer, and its source."""
    if unit := _reported(file, "striping_unit"):
        return unit, f"reported for {file.path if file else ''}"
    if facts.burst_buffer_nodes and facts.striping is not None:
        return facts.striping.stripe_size, "the default of the storage's description"
    return DATAWARP_UNIT, "not reported: DataWarp's default"


def default_buffer(file: ObservedFile | None) -> tuple[int, str]:
    """Return the default bytes that an aggregator moves per round, and their source."""
    if size := _reported(file, "cb_buffer_size"):
        return size, f"reported for {file.path if file else ''}"
    return ROMIO_BUFFER, "not reported: the default of ROMIO and Cray MPICH"


def default_aggregators(file: ObservedFile | None, facts: ProgramFacts) -> tuple[int, str]:
    """Return the default number of aggregators, and its source; 0 if unknown.

    If an MPI reports only what was set (ROMIO in Open MPI), it is the number of ranks that made
    system calls on the file.  If all ranks did, the calls were independent and do not count.
    """
    if number := _reported(file, "cb_nodes"):
        return number, "reported"
    observed = file.writers or file.readers if file and file.interface != "posix" else 0
    return (observed, "observed") if 0 < observed < facts.n_ranks else (0, "")


def _reported(file: ObservedFile | None, key: str) -> int:
    text = file.reported.get(key, "") if file else ""
    return int(text) if text.isdecimal() else 0


# Values that the loops of ExPBB try on a rung, in their order.

Change = dict[str, Value]
_ONE_A_NODE = "by default, one a burst-buffer node,"
_FIRST_BUFFER = 8
"""Divisor of the default for the first buffer size.  Source: the script on ExPBB's slides."""


@dataclass(frozen=True)
class Defaults:
    """Values in effect on the burst buffer if nothing is set.

    Attributes:
        unit / buffer: Striping unit and buffer size in bytes.
        unit_from / buffer_from: Source of each value, for users.
        aggregators / aggregators_from: Reported or observed number and its source; 0 means one
            per burst-buffer node, as in Cray MPICH.
    """

    unit: int
    unit_from: str
    buffer: int
    buffer_from: str
    aggregators: int = 0
    aggregators_from: str = ""

    @classmethod
    def of(cls, file: ObservedFile | None, facts: ProgramFacts, nodes: int = 0) -> Defaults:
        """Derive them from what was observed of the studied file.

        Args:
            file: File from a run with the given burst-buffer nodes and no other settings.
            facts: Facts of the program.
            nodes: Number of nodes of the burst buffer.
        """
        aggregators, source = default_aggregators(file, facts)
        fixed = (0, "") if aggregators == nodes else (aggregators, source)
        return cls(*default_unit(file, facts), *default_buffer(file), *fixed)


@dataclass(frozen=True)
class Ladders:
    """Values of a space, and the loops over them."""

    dimensions: Mapping[str, Dimension]
    facts: ProgramFacts

    def values(self, name: str) -> list[int]:
        """Return the values of a tunable, ascending; empty if it is not searched."""
        dimension = self.dimensions.get(name)
        return sorted(numbers(dimension.values)) if dimension else []

    def aggregators(
        self, best: Mapping[str, Value], defaults: Defaults, nodes: int
    ) -> list[Change]:
        """Return the numbers of aggregators to try, all above the present one."""
        now = _number(best, AGGREGATORS, defaults.aggregators or max(nodes, 1))
        return [{AGGREGATORS: n} for n in self.values(AGGREGATORS) if n > now]

    def units(self, best: Mapping[str, Value], default: int) -> tuple[int, list[Change]]:
        """Return the present striping unit, and smaller ones to try."""
        now = _number(best, UNIT, default)
        return now, [{UNIT: size} for size in reversed(self.values(UNIT)) if size < now]

    def small_buffers(self, best: Mapping[str, Value], defaults: Defaults) -> list[Change]:
        """Return buffer sizes from an eighth of the default up to it, not smaller than a stripe.

        Cray MPICH rounds the buffer to a multiple of the stripe.  Empty if a buffer was already
        selected.
        """
        if BUFFER in best:
            return []
        least = max(defaults.buffer // _FIRST_BUFFER, _number(best, UNIT, defaults.unit))
        return [{BUFFER: n} for n in self.values(BUFFER) if least <= n < defaults.buffer]

    def large_buffers(self, best: Mapping[str, Value], defaults: Defaults) -> list[Change]:
        """Return buffer sizes above the present one."""
        now = _number(best, BUFFER, defaults.buffer)
        return [{BUFFER: size} for size in self.values(BUFFER) if size > now]

    def resources(self) -> dict[str, list[Change]]:
        """Return changes to fewer ranks with more threads each, or fewer ranks per node."""
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
    """Return a change in words: "striping unit 8 MiB -> 4 MiB"."""
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
