# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A page as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.web.content._block import Block


@dataclass(frozen=True)
class Content:
    """What a page says.

    Attributes:
        title: Of the page.
        lead: The conclusion, in a sentence or two.
        blocks: In their order.
        audited: What of somebody else was looked at, for the audit; "": nothing.
    """

    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()
    audited: str = ""

    @property
    def has_table(self) -> bool:
        """Whether CSV can say something of it."""
        return any(block.grid() is not None for block in self.blocks)


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
