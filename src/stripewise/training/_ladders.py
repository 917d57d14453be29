# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which values of which settings a training measures: the published ladders, cut to the program.

Source: Behzad et al., doi 10.1145/3309205, and H5Tuner's evo/h5evolve_h5write.py: stripe counts,
stripe sizes, aggregators; other tunables have the ladders that a study would search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import Space

COUNTS = (4, 8, 16, 24, 32, 48, 64, 96, 128)
SIZES_MIB = (1, 2, 4, 8, 16, 32, 64, 128)
AGGREGATORS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256)
ALL_TARGETS = -1
MOST_POINTS = 60_000
"""Of a product of ladders; where it is larger, the tunables that matter least are left out."""

COUNT, SIZE, NODES, BUFFER = (
    f"mpiio.{name}" for name in ("striping_factor", "striping_unit", "cb_nodes", "cb_buffer_size")
)
SHAPING = (
    COUNT,
    NODES,
    SIZE,
    BUFFER,
    "mca.fcoll",
    "mpiio.romio_cb_write",
    "mpiio.romio_cb_read",
    "mpiio.cray_cb_nodes_multiplier",
    "mpiio.cray_cb_write_lock_mode",
    "mpiio.romio_lustre_co_ratio",
    "mpiio.romio_ds_write",
    "mpiio.romio_ds_read",
    "hdf5.alignment",
)
"""What shapes the requests that reach the storage, what matters most first."""
_MIB = 1 << 20
_SMALLEST_STRIPE = 64 << 10
_FEW_TARGETS = 16


def training_ladders(facts: ProgramFacts, space: Space) -> dict[str, tuple[Value, ...]]:
    """Return the values to measure of each tunable, beside its default.

    Args:
        facts: Of a run of the kernel with nothing set.
        space: That a study of it would search.
    """
    own = {dimension.tunable.name: dimension.values for dimension in space.dimensions}
    published = {
        COUNT: _counts(facts),
        SIZE: _sizes(facts),
        NODES: tuple(n for n in AGGREGATORS if n <= facts.n_ranks),
        BUFFER: _sizes(facts, 4 * _MIB),
    }
    ladders = {
        name: _in_order((*own[name], *published.get(name, ()))) for name in SHAPING if name in own
    }
    while len(ladders) > 1 and _size(ladders) > MOST_POINTS:
        ladders.popitem()
    return ladders


def _size(ladders: Mapping[str, Sequence[Value]]) -> int:
    return prod(len(values) + 1 for values in ladders.values())


def _counts(facts: ProgramFacts) -> tuple[int, ...]:
    """Return the stripe counts below the number of targets, but for the default; then all."""
    if facts.striping is None:
        return (*COUNTS, ALL_TARGETS)
    targets, usual = facts.striping.targets, facts.striping.stripe_count
    few = (1, 2) if targets < _FEW_TARGETS else ()
    counts = [count for count in (*few, *COUNTS) if count < targets and count != usual]
    return (*counts, *([ALL_TARGETS] if usual not in (ALL_TARGETS, targets) else []))


def _sizes(facts: ProgramFacts, least: int = _SMALLEST_STRIPE) -> tuple[int, ...]:
    """Return eight sizes, each twice the one before, whose largest cuts the data in four or more.

    For what the published runs wrote these are 1 to 128 MiB.
    """
    moved = max(facts.write_bytes, facts.read_bytes)
    largest = SIZES_MIB[-1] * _MIB
    while largest > max(moved // 4, least):
        largest //= 2
    usual = facts.striping.stripe_size if facts.striping else 0
    sizes = [largest >> step for step in range(len(SIZES_MIB))]
    return tuple(size for size in reversed(sizes) if size >= least and size != usual)


def _in_order(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return distinct values: numbers by size, all targets (-1) last; others as they come."""
    distinct = tuple(dict.fromkeys(values))
    numbers = [n for n in distinct if isinstance(n, int) and not isinstance(n, bool)]
    if len(numbers) < len(distinct):
        return distinct
    return tuple(sorted(numbers, key=lambda n: (n == ALL_TARGETS, n)))
