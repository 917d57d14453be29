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
"""Column names and rows for CSV."""


@dataclass(frozen=True)
class Block(ABC):
    """Part of a page or report.

    Attributes:
        name: Name for programs, unique on its page.
        title: Title for people; empty if there is none.
    """

    name: str
    title: str

    @property
    def needs_script(self) -> bool:
        """Whether a self-contained page needs a script to draw or sort the block."""
        return False

    @abstractmethod
    def data(self) -> Any:
        """Return the block's data for JSON."""

    def grid(self) -> Grid | None:
        """Return the block as rows for CSV; None if it is not a table."""
        return None


@dataclass(frozen=True)
class Section(Block):
    """Several blocks under one heading, which is collapsed on a page if `is_folded`."""

    blocks: Sequence[Block]
    is_folded: bool = False

    @property
    def needs_script(self) -> bool:
        """Whether any of the blocks needs a script."""
        return any(block.needs_script for block in self.blocks)

    def data(self) -> Any:
        """Return the data of each block, by its name."""
        return {block.name: block.data() for block in self.blocks}


# Whole pages.


@dataclass(frozen=True)
class Content:
    """Content of a page or report.

    Attributes:
        title: Title of the page.
        lead: Conclusion, in one or two sentences.
        blocks: Blocks, in order.
        audited: Data of another user that the page shows, for the audit log; empty if there are
            none.
        subject: Subject in a few words, shown above the title of a report.
        tone: Tone of the conclusion: "good" if the conclusion is a success, otherwise "calm".
        command: Command that was run or simulated; empty if there is none.
        badges: Short remarks below the conclusion, each with a level "ok", "warn" or "bad".
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
        """Whether any block can be written as CSV."""
        return any(block.grid() is not None for block in self.blocks)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Names and titles of the blocks that a page links to."""
        return [(block.name, block.title) for block in self.blocks if block.title]

    @property
    def needs_script(self) -> bool:
        """Whether a self-contained page needs the script."""
        return any(block.needs_script for block in self.blocks)


@dataclass(frozen=True)
class Download:
    """A file that is sent instead of a page.

    Attributes:
        name: Name of the file, in plain ASCII.
        text: Content of the file.
        media_type: Media type, such as "application/toml".
        audited: See `Content`.
    """

    name: str
    text: str
    media_type: str
    audited: str = ""
