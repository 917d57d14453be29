# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a program asks for, before any library has had its way with it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from stripewise.model import Pattern, PatternKind
from stripewise.simulation._traced import Stretch


@dataclass(frozen=True)
class Workload:
    """Datasets that all ranks write or read, one after another.

    Attributes:
        patterns: One for each dataset or step, in order; `steps` of one repeats it.
        nodes: Of the job.
        ranks_per_node: Ranks lie on nodes in blocks: rank r is on node r // ranks_per_node.
        memory_run: Bytes of a row of the buffer, where there are gaps between rows (ghost cells in
            memory); 0: buffers have no gaps.
        own: What the program asks of the storage by itself, whatever the stack, as traced.
        opened: Files, which names in `patterns` tell apart, and how often each is opened to be
            written (True) or read; once, where nothing is said.
        flowing: Independent calls of a rank follow each other without waiting for other ranks;
            otherwise all of them wait for each other after each step.
    """

    patterns: tuple[Pattern, ...]
    nodes: int
    ranks_per_node: int
    memory_run: int = 0
    own: tuple[Stretch, ...] = ()
    opened: tuple[tuple[str, bool, int], ...] = ()
    flowing: bool = False

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.nodes * self.ranks_per_node

    def opens(self, file: str, writing: bool) -> int:
        """Times that a file is opened in one direction."""
        return {(name, way): n for name, way, n in self.opened}.get((file, writing), 1)

    @property
    def bytes(self) -> int:
        """Bytes that the program asks to move."""
        own = round(sum(one.bytes for one in self.own))
        return sum(_bytes(one) * one.steps for one in self.patterns) + own


def _bytes(pattern: Pattern) -> int:
    """Bytes of one step: of the array once, or once for each rank that moves all of a part."""
    if pattern.kind == PatternKind.EMPTY:
        return 0
    places = prod(pattern.grid)
    copies = max(pattern.active_ranks // places, 1)
    if pattern.kind == PatternKind.MULTIPARTITION:
        copies = 1
    plain = all(not one.lattice and one.ghost == (0, 0) for one in pattern.distributions)
    spans = pattern.spans
    if plain and spans and all(end > first for first, end in spans):
        return prod(end - first for first, end in spans) * pattern.element_bytes * copies
    return prod(pattern.block) * max(places, pattern.active_ranks) * pattern.element_bytes
