# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Part of a page: what all kinds of blocks have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
Grid = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Names of columns, and rows, for CSV."""


@dataclass(frozen=True)
class Block(ABC):
    """Part of a page.

    Attributes:
        name: For machines, unique on its page.
        title: For people; "" for none.
    """

    name: str
    title: str

    @abstractmethod
    def data(self) -> Any:
        """Return what JSON says."""

    def grid(self) -> Grid | None:
        """Return what CSV says; None: the block is no table."""
        return None
