# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a program asks for, before any library has had its way with it."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.model import Pattern


@dataclass(frozen=True)
class Workload:
    """Datasets that all ranks write or read, one after another.

    Attributes:
        patterns: One for each dataset or step, in order; `steps` of one repeats it.
        nodes: Of the job.
        ranks_per_node: Ranks lie on nodes in blocks: rank r is on node r // ranks_per_node.
        files: Names in `patterns` tell files apart; each is opened once and closed at the end.
    """

    patterns: tuple[Pattern, ...]
    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.nodes * self.ranks_per_node
