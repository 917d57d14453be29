# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many ranks write in ROMIO's Lustre driver, and which settings leave that as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping

from stripewise.model import ProgramFacts, Striping, Value

_AGGREGATORS, _RATIO = "mpiio.cb_nodes", "mpiio.romio_lustre_co_ratio"
_COUNT, _SIZE = "mpiio.striping_factor", "mpiio.striping_unit"


def lustre_aggregators(wanted: int, stripes: int, co_ratio: int) -> int:
    """Return how many aggregators ROMIO's Lustre driver uses in a collective write.

    A multiple of the stripes, at most `co_ratio` for each of them; or, with fewer aggregators
    than stripes, a divisor of the stripes.

    Source: ROMIO, adio/ad_lustre/ad_lustre_aggregate.c (Get_striping_info), MPICH 4.0.2.
    """
    if wanted >= stripes:
        return stripes * min(wanted // stripes, co_ratio)
    found = 1
    for divisor in range(2, math.isqrt(stripes) + 1):
        if stripes % divisor:
            continue
        if stripes // divisor <= wanted:
            return stripes // divisor
        if divisor <= wanted:
            found = divisor
    return found


def has_idle_aggregation(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    """Whether a setting of the aggregators changes nothing: without it the same ranks write."""
    given = settings.keys() & {_AGGREGATORS, _RATIO}
    reads = facts.amount("mpiio_read_bytes").most
    other = facts.mpiio_alternatives or reads or facts.striping is None
    if not given or other or facts.mpiio_driver != "LUSTRE":
        return False
    if _number(settings, _AGGREGATORS, 1) > facts.aggregator_hosts:
        given.discard(_AGGREGATORS)  # several on each host: other ranks, even if as many
    writers = _writers(settings, facts)
    without = [{n: v for n, v in settings.items() if n != name} for name in given]
    return any(_writers(fewer, facts) == writers for fewer in without)


def _writers(settings: Mapping[str, Value], facts: ProgramFacts) -> int:
    assert facts.striping is not None
    wanted = min(_number(settings, _AGGREGATORS, facts.aggregator_hosts), facts.n_ranks)
    stripes = lustre_stripes(settings, facts.striping)
    return lustre_aggregators(wanted, stripes, _number(settings, _RATIO, 1))


def lustre_stripes(settings: Mapping[str, Value], striping: Striping) -> int:
    """Return the stripes of a new file; the driver asks for all where only their size is given."""
    usual = -1 if _SIZE in settings else striping.stripe_count
    count = _number(settings, _COUNT, usual)
    return count if 0 < count <= striping.targets else max(striping.targets, 1)


def _number(settings: Mapping[str, Value], name: str, usual: int) -> int:
    value = settings.get(name, usual)
    return value if isinstance(value, int) else usual
