# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a page of the portal says, before it becomes HTML, CSV or JSON.

A page is a conclusion in one sentence and a list of blocks.  Every block has data for machines;
those that are tables have rows for CSV.  How a block looks is in templates/blocks.html.j2, under
the name of its class.
"""

from stripewise.web.content._block import Block, Grid, Row
from stripewise.web.content._charts import Bars, Chart, Heat, Line, Span
from stripewise.web.content._page import Content, Download
from stripewise.web.content._tables import (
    Column,
    Compared,
    Comparison,
    Fact,
    Facts,
    Part,
    Split,
    Table,
)
from stripewise.web.content._texts import (
    Advice,
    Field,
    Findings,
    Lines,
    Link,
    Links,
    Notice,
    Prose,
    Search,
)

__all__ = [
    "Advice",
    "Bars",
    "Block",
    "Chart",
    "Column",
    "Compared",
    "Comparison",
    "Content",
    "Download",
    "Fact",
    "Facts",
    "Field",
    "Findings",
    "Grid",
    "Heat",
    "Line",
    "Lines",
    "Link",
    "Links",
    "Notice",
    "Part",
    "Prose",
    "Row",
    "Search",
    "Span",
    "Split",
    "Table",
]
