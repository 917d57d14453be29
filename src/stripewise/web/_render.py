# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Content of a page -> HTML, CSV or JSON.  All that comes from elsewhere is escaped here."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from stripewise.errors import UsageError
from stripewise.report import evidence_figure, prose
from stripewise.text import csv_cell, finite, printable
from stripewise.web._markdown import markdown
from stripewise.web._urls import address
from stripewise.web._words import NUMBERS, moment, written
from stripewise.web.content import Block, Chart, Content


@dataclass(frozen=True)
class Frame:
    """What stands around the content of a page.

    Attributes:
        path: Of the page.
        words: Of its query.
        section: Entry of the menu.
        menu: (title, address) of the entries that this viewer has.
        login: Of the viewer; "": nobody is logged in.
        role: Of the viewer.
        csrf: Of the session; "" without one.
        site: Name of the centre.
        help: Address of its help desk.
        fresh_at: When something was last taken in; None: never.
    """

    path: str
    words: Mapping[str, str]
    section: str
    menu: Sequence[tuple[str, str]]
    login: str = ""
    role: str = ""
    csrf: str = ""
    site: str = ""
    help: str = ""
    fresh_at: float | None = None

    def twin(self, form: str, table: str = "") -> str:
        """Return the address of this page as CSV or JSON."""
        return address(self.path, {**self.words, "as": form, "table": table})


def html(content: Content, frame: Frame) -> str:
    """Return a page."""
    return _environment().get_template("page.html.j2").render(page=content, frame=frame)


def template(name: str, **values: Any) -> str:
    """Return a page that is no content of the database: to log in, of an error."""
    return _environment().get_template(name).render(**values)


def prepare() -> None:
    """Read all templates, which the first pages would otherwise wait for."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def as_json(content: Content) -> str:
    """Return the data of a page as one JSON document."""
    data = {
        "title": content.title,
        "lead": content.lead,
        **{block.name: block.data() for block in content.blocks},
    }
    return json.dumps(finite(data), ensure_ascii=True, allow_nan=False)


def as_csv(content: Content, name: str = "") -> str:
    """Return one table of a page as CSV.

    Args:
        content: Of the page.
        name: Of the block; "" for the first that is a table.

    Raises:
        UsageError: There is no such table.
    """
    grids = {block.name: grid for block in content.blocks if (grid := block.grid()) is not None}
    if not grids or name not in ("", *grids):
        there = ", ".join(grids) or "none"
        raise UsageError(f"table={name[:40]!r}: this page has no such table (it has {there})")
    head, rows = grids[name or first_table(content.blocks) or next(iter(grids))]
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([csv_cell(one) for one in head])
    lines.writerows([csv_cell(one) for one in row] for row in rows)
    return out.getvalue()


def first_table(blocks: Sequence[Block]) -> str:
    """Return the name of the first table of several; "" without one."""
    return next((one.name for one in blocks if type(one).__name__ == "Table"), "")


def slug(text: str) -> str:
    """Return text as the name of a file or an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _chart(block: Chart) -> str:
    """Return what the script that draws a chart reads."""
    data = {
        "at": list(block.at),
        "lines": [{"title": one.title, "values": list(one.values)} for one in block.lines],
        "kind": block.kind,
        "clock": block.is_clock,
        "style": block.style,
        "spans": [dict(vars(one)) for one in block.spans],
    }
    return json.dumps(finite(data), ensure_ascii=True, allow_nan=False)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("stripewise.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    found.filters |= {
        "written": written,
        "moment": moment,
        "chart": _chart,
        "prose": prose,
        "block": lambda one: type(one).__name__.lower(),
        "slug": slug,
        "evidence": evidence_figure,
        "markdown": markdown,
    }
    found.globals |= {"NUMBERS": NUMBERS}
    return found
