# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a job on a burst buffer: their ladders, and what acts by default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.model import ObservedFile, ProgramFacts, Value
from stripewise.tunables import Dimension, Space

NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"
AGGREGATORS, UNIT, BUFFER = "mpiio.cb_nodes", "mpiio.striping_unit", "mpiio.cb_buffer_size"
RANKS, RANKS_PER_NODE, THREADS = "job.ranks", "job.ranks_per_node", "job.threads"
KIB, MIB = 1024, 1 << 20
LEAST_UNIT = 256 * KIB
"""Smaller requests are poor on every burst buffer (documented: NERSC, from 512 KiB on)."""
DATAWARP_UNIT = 8 * MIB
"""Stripe size of files on DataWarp by default.  Source: Markomanolis (KAUST), ExPBB, CUG 2017."""
ROMIO_BUFFER = 16 * MIB
"""Default of cb_buffer_size (measured: ROMIO_PRINT_HINTS=1, MPICH 4.0.2; Cray MPICH's too)."""
_UNITS = (16 * MIB, 8 * MIB, 4 * MIB, 2 * MIB, MIB, 512 * KIB, LEAST_UNIT)
_BUFFERS = tuple(MIB << power for power in range(9))


def dimensions_by_name(space: Space) -> dict[str, Dimension]:
    """Return the dimensions of a space by their tunables' names."""
    return {dimension.tunable.name: dimension for dimension in space.dimensions}


def is_on_request(space: Space) -> bool:
    """Whether the nodes of the job's burst buffer are searched."""
    return NODES in dimensions_by_name(space)


def with_powers_of_two(space: Space, facts: ProgramFacts) -> Space:
    """Return the space with the ladders of a burst buffer, where one is searched.

    Aggregators, striping unit and buffer get powers of two in place of ladders that were made
    for a parallel file system; values that the user gave stay.
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
    """Return the numbers of burst-buffer nodes to try, ascending; the script's own is one."""
    dimension = dimensions_by_name(space).get(NODES)
    values = numbers(dimension.values) if dimension else []
    rungs = sorted({*values, facts.burst_buffer_nodes} - {0})
    return rungs if dimension else [facts.burst_buffer_nodes]


def on_nodes(nodes: int, facts: ProgramFacts) -> dict[str, Value]:
    """Return the setting of a number of nodes; none where the script has that number."""
    return {} if nodes == facts.burst_buffer_nodes else {NODES: nodes}


def numbers(values: Sequence[Value]) -> list[int]:
    """Return the values that are integers."""
    return [value for value in values if isinstance(value, int)]


def default_unit(file: ObservedFile | None, facts: ProgramFacts) -> tuple[int, str]:
    """Return the striping unit that acts unasked on a burst buffer, and where that is from."""
    if unit := _reported(file, "striping_unit"):
        return unit, f"reported for {file.path if file else ''}"
    if facts.burst_buffer_nodes and facts.striping is not None:
        return facts.striping.stripe_size, "the default of the storage's description"
    return DATAWARP_UNIT, "not reported: DataWarp's default"


def default_buffer(file: ObservedFile | None) -> tuple[int, str]:
    """Return the bytes that an aggregator moves in a round unasked, and where that is from."""
    if size := _reported(file, "cb_buffer_size"):
        return size, f"reported for {file.path if file else ''}"
    return ROMIO_BUFFER, "not reported: the default of ROMIO and Cray MPICH"


def default_aggregators(file: ObservedFile | None, facts: ProgramFacts) -> tuple[int, str]:
    """Return the number of aggregators that acts unasked, and where that is from; 0: not known.

    Where an MPI reports only what was set (ROMIO in Open MPI), it is taken from the ranks that
    made system calls on the file.  If all did, the calls were independent, and say nothing.
    """
    if number := _reported(file, "cb_nodes"):
        return number, "reported"
    observed = file.writers or file.readers if file and file.interface != "posix" else 0
    return (observed, "observed") if 0 < observed < facts.n_ranks else (0, "")


def _reported(file: ObservedFile | None, key: str) -> int:
    text = file.reported.get(key, "") if file else ""
    return int(text) if text.isdecimal() else 0
