# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checksums of a container's blocks, as native/include/stripewise/container.h has them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.readers import _container as c
from stripewise.readers._blocks import Block, Store

_MODULUS = 1 << 64
_AT_ONCE = 1 << 16
"""Words; so that the products stay in the cache."""


@cache
def _weights() -> NDArray[np.uint64]:
    return np.arange(_AT_ONCE, dtype=np.uint64) * np.uint64(c.SUM_STEP)


def checksum(*parts: bytes) -> int:
    """The checksum of parts of 8 x n bytes, one after the other."""
    total = first = 0
    for part in parts:
        words = np.frombuffer(part, "<u8")
        for start in range(0, len(words), _AT_ONCE):
            piece = words[start : start + _AT_ONCE]
            begin = np.uint64((first + start) * c.SUM_STEP % _MODULUS)
            weights = (_weights()[: len(piece)] + begin) | np.uint64(1)
            total += int(((piece ^ (piece >> np.uint64(32))) * weights).sum())
        first += len(words)
    return total % _MODULUS or 1


def does_not_match(name: str) -> ContainerError:
    """The error for damage that a checksum tells."""
    return ContainerError(f"{Path(name).name} is damaged: its checksum does not match")


@dataclass
class Seals:
    """The processes whose blocks have valid checksums.

    Attributes:
        store: Of the container.
        blocks: Process to the number of its blocks.
        found: The same, as far as they were met.
    """

    store: Store
    blocks: dict[int, int] = field(default_factory=dict)
    found: Counter[int] = field(default_factory=Counter)

    def meet(self, block: Block) -> None:
        """Take note of a block, whether or not its payload is read."""
        sealed = int(_header(block.head)["sealed"])
        if block.kind == c.BlockKind.PROCESS and sealed:
            self.blocks[block.process_id] = sealed
        self.found[block.process_id] += 1

    def check(self, block: Block, payload: bytes) -> None:
        """Compare a block with its checksum, if it is there as a whole and has one.

        Raises:
            ContainerError: It does not match.
        """
        if block.process_id not in self.blocks or block.end > self.store.size:
            return
        if not _matches(block.head, payload) and not self._has_changed(block):
            raise does_not_match(self.store.name)

    def _has_changed(self, block: Block) -> bool:
        """Whether its process went on meanwhile: then it has taken its checksums back."""
        again = self.store.fetch(block.offset, block.end - block.offset)
        if _matches(again[: c.BLOCK_HEADER.itemsize], again[c.BLOCK_HEADER.itemsize :]):
            return True
        owner = self.store.fetch(block.process_id, c.BLOCK_HEADER.itemsize)
        return len(owner) == c.BLOCK_HEADER.itemsize and not _header(owner)["sealed"]

    def missing(self) -> int:
        """How many blocks of processes with checksums were not met."""
        return sum(max(number - self.found[owner], 0) for owner, number in self.blocks.items())


def _header(head: bytes) -> Any:
    return np.frombuffer(head, c.BLOCK_HEADER, 1)[0]


def _matches(head: bytes, payload: bytes) -> bool:
    return checksum(head[: c.SUMMED_BLOCK_BYTES], payload) == int(_header(head)["sum"])
