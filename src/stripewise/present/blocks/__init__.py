# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes pages and reports as blocks, independent of HTML, CSV, JSON or terminal lines."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.present.blocks._block import Block as Block
    from stripewise.present.blocks._block import Content as Content
    from stripewise.present.blocks._block import Download as Download
    from stripewise.present.blocks._block import Section as Section
    from stripewise.present.blocks._figures import Bars as Bars
    from stripewise.present.blocks._figures import Chart as Chart
    from stripewise.present.blocks._figures import Column as Column
    from stripewise.present.blocks._figures import Compared as Compared
    from stripewise.present.blocks._figures import Comparison as Comparison
    from stripewise.present.blocks._figures import Drawings as Drawings
    from stripewise.present.blocks._figures import Fact as Fact
    from stripewise.present.blocks._figures import Facts as Facts
    from stripewise.present.blocks._figures import Heat as Heat
    from stripewise.present.blocks._figures import Line as Line
    from stripewise.present.blocks._figures import Part as Part
    from stripewise.present.blocks._figures import Span as Span
    from stripewise.present.blocks._figures import Split as Split
    from stripewise.present.blocks._figures import Table as Table
    from stripewise.present.blocks._markdown import markdown as markdown
    from stripewise.present.blocks._texts import Advice as Advice
    from stripewise.present.blocks._texts import Field as Field
    from stripewise.present.blocks._texts import Findings as Findings
    from stripewise.present.blocks._texts import Lines as Lines
    from stripewise.present.blocks._texts import Link as Link
    from stripewise.present.blocks._texts import Links as Links
    from stripewise.present.blocks._texts import Notice as Notice
    from stripewise.present.blocks._texts import Point as Point
    from stripewise.present.blocks._texts import Points as Points
    from stripewise.present.blocks._texts import Prose as Prose
    from stripewise.present.blocks._texts import Search as Search
    from stripewise.present.blocks._texts import saving_text as saving_text
    from stripewise.present.blocks._values import NUMBERS as NUMBERS
    from stripewise.present.blocks._values import UNKNOWN as UNKNOWN
    from stripewise.present.blocks._values import moment as moment
    from stripewise.present.blocks._values import written as written
else:
    __getattr__, __all__ = lazy_exports(__name__)
