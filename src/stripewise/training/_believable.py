# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What comes from elsewhere is data: facts and settings that no run could have had are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.model import ProgramFacts, Striping, Value
from stripewise.patterns import pattern_of
from stripewise.tunables import get

MOST_RANKS = 100_000_000
CHOOSES_STACK = "mca.io"
_MOST = 1 << 62


def usable(settings: Mapping[str, Value]) -> bool:
    """Whether a model can be told of settings: known ones, for all files, of the same stack."""
    try:
        for name, value in settings.items():
            get(name).check(value)
    except UsageError:
        return False
    return CHOOSES_STACK not in settings


def check_facts(facts: ProgramFacts, path: Path) -> None:
    """Refuse facts that no run could have shown: what comes from elsewhere is data.

    Raises:
        UsageError: There are such.
    """
    try:
        for pattern in facts.patterns:
            pattern_of(pattern, facts.n_ranks)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    striping = facts.striping or Striping(1)
    sizes = [value for value in vars(facts).values() if isinstance(value, int | float)]
    least = (facts.n_ranks, facts.n_hosts, striping.targets, striping.stripe_size)
    if min(least) < 1 or striping.stripe_count < -1 or min(sizes) < 0:
        raise UsageError(f"{path}: a size is negative, or there is no rank, no host or no target")
    if (
        max(facts.n_ranks, facts.n_hosts, facts.virtual_nodes) > MOST_RANKS
        or max(*sizes, striping.targets, striping.stripe_count, striping.stripe_size) > _MOST
    ):
        raise UsageError(f"{path}: it tells of more ranks or bytes than any machine has")
