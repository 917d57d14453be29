# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a block (a part of a page or report) and the page: a conclusion and its blocks."""

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

    @property
    def needs_script(self) -> bool:
        """Whether a script draws or sorts it in a page by itself."""
        return False

    @abstractmethod
    def data(self) -> Any:
        """Return what JSON says."""

    def grid(self) -> Grid | None:
        """Return what CSV says; None: the block is no table."""
        return None


@dataclass(frozen=True)
class Section(Block):
    """Several blocks under one heading; `is_folded`: readers of a page open it."""

    blocks: Sequence[Block]
    is_folded: bool = False

    @property
    def needs_script(self) -> bool:
        """Whether any of them does."""
        return any(block.needs_script for block in self.blocks)

    def data(self) -> Any:
        """Return the data of each block, by its name."""
        return {block.name: block.data() for block in self.blocks}


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
        badges: Short remarks below the conclusion, each with "ok", "warn" or "bad".
    """

    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()
    audited: str = ""
    subject: str = ""
    tone: str = "calm"
    command: str = ""
    badges: Sequence[tuple[str, str]] = ()

    @property
    def has_table(self) -> bool:
        """Whether CSV can say something of it."""
        return any(block.grid() is not None for block in self.blocks)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Name and title of each block that a page links to."""
        return [(block.name, block.title) for block in self.blocks if block.title]

    @property
    def needs_script(self) -> bool:
        """Whether a page by itself needs its script."""
        return any(block.needs_script for block in self.blocks)


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
