# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The simulation below a boosted model: of the storage that its ground names."""

from __future__ import annotations

from functools import lru_cache

from stripewise.errors import StripewiseError
from stripewise.machines import Storage, description_digest, find_storage
from stripewise.model import ProgramFacts
from stripewise.performance._ground import Ground
from stripewise.simulation import SimulatedProgram, simulated_program


def program_on(ground: Ground, facts: ProgramFacts) -> SimulatedProgram | None:
    """Return what can be simulated of a program; None where nothing can."""
    storage = _described(ground.storage, ground.digest)
    if storage is None:
        return None
    nodes = max(facts.aggregator_hosts, 1)
    return simulated_program(facts, storage, -(-facts.n_ranks // nodes))


@lru_cache(maxsize=16)
def _described(name: str, digest: str) -> Storage | None:
    if not digest:
        return None
    try:
        storage = find_storage(name)
    except StripewiseError:
        return None
    return storage if description_digest(storage) == digest else None
