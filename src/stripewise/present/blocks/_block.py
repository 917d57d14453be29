# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a block (a part of a page or report) and the page: a conclusion and its blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

Row = Mapping[str, Any]
Grid = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Names of columns, and rows, for CSV."""


@dataclass(frozen=True)
class Block(ABC):
    """Part of a page.

    Attributes:
        name: For machines, unique on its page.
        title: For people; "" for none.
        is_drawn: Whether a script draws it.
    """

    name: str
    title: str
    is_drawn: ClassVar[bool] = False

    @abstractmethod
    def data(self) -> Any:
        """Return what JSON says."""

    def grid(self) -> Grid | None:
        """Return what CSV says; None: the block is no table."""
        return None


# A page as a whole.


@dataclass(frozen=True)
class Content:
    """What a page or report says.

    Attributes:
        title: Of the page.
        lead: The conclusion, in a sentence or two.
        blocks: In their order.
        audited: What of somebody else was looked at, for the audit; "": nothing.
        subject: What it is about, in a few words above the title of a report.
        tone: "good" if the conclusion is a success, otherwise "calm".
        command: That was run, or what was simulated; "": none.
    """

    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()
    audited: str = ""
    subject: str = ""
    tone: str = "calm"
    command: str = ""

    @property
    def has_table(self) -> bool:
        """Whether CSV can say something of it."""
        return any(block.grid() is not None for block in self.blocks)

    @property
    def has_drawings(self) -> bool:
        """Whether a page needs the script that draws."""
        return any(block.is_drawn for block in self.blocks)


@dataclass(frozen=True)
class Download:
    """A file in place of a page.

    Attributes:
        name: Of the file; plain ASCII.
        text: Content.
        media_type: As in "application/toml".
        audited: As of `Content`.
    """

    name: str
    text: str
    media_type: str
    audited: str = ""
