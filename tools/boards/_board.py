# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a board: its question on top, its variables, its rows, and links to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLink,
    DashboardLinkType,
    Panel,
    RowPanel,
    VariableModel,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from boards._panels import SOURCE, words

TAG = "stripewise"
PORTAL = "https://portal.example.org"
"""Placeholder for the address of the portal."""


@dataclass(frozen=True)
class Choice:
    """A variable of a board.

    Attributes:
        name: Name of the variable, and of the label whose values it lists.
        label: Label that readers see.
        series: Selector of the series with the label; empty if the values are given.
        values: Given values, each of which may be selected.
        first: Initially selected value, if present; empty for all, or for the first.
        has_all: Whether all can be selected at once.
        lists_all: Whether "All" means only the listed values, not all existing ones.
    """

    name: str
    label: str
    series: str = ""
    values: tuple[str, ...] = ()
    first: str = ""
    has_all: bool = True
    lists_all: bool = False


@dataclass(frozen=True)
class Row:
    """A part of a board.

    Attributes:
        title: Title; empty for the part on top, which has no line above it.
        panels: Panels from left to right, from top to bottom.
        is_open: Whether it is open; otherwise it queries the data source only when opened.
    """

    title: str
    panels: Sequence[Builder[Panel]]
    is_open: bool = True


@dataclass(frozen=True)
class Board:
    """One board.

    Attributes:
        name: Name of its file, and last part of its uid.
        title: Displayed title.
        question: Question that it answers, in one sentence.
        choices: Variables in addition to the data source and the portal.
        rows: Rows of the board.
        hours: Initial time range in hours.
    """

    name: str
    title: str
    question: str
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...] = field(repr=False)
    hours: int = 3

    @property
    def uid(self) -> str:
        """Unique id with which links refer to the board."""
        return f"stripewise-{self.name}"

    def build(self) -> Dashboard:
        """Return the board as a Grafana model."""
        board = dashboard.Dashboard(f"Storage: {self.title}").uid(self.uid).tags([TAG])
        board = board.description(self.question).readonly().timezone("browser").refresh("1m")
        board = board.time(f"now-{self.hours}h", "now").tooltip(DashboardCursorSync.CROSSHAIR)
        board = board.variables([_sources(), *map(_variable, self.choices), _portal()])
        board = board.link(_others()).with_panel(words(f"**{self.question}**"))
        for row in self.rows:
            board = _with_row(board, row)
        return _finished(board.build())


def _with_row(board: dashboard.Dashboard, row: Row) -> dashboard.Dashboard:
    if row.is_open:
        if row.title:
            board = board.with_row(dashboard.Row(row.title))
        for panel in row.panels:
            board = board.with_panel(panel)
        return board
    folded = dashboard.Row(row.title).collapsed(True)
    for panel in row.panels:
        folded = folded.with_panel(panel)
    return board.with_row(folded)


def _finished(board: Dashboard) -> Dashboard:
    """Number the panels, and remove fields that belong to other kinds of variables."""
    number = 0
    for panel in board.panels or []:
        number += 1
        panel.id_val = number
        for inner in panel.panels if isinstance(panel, RowPanel) else []:
            number += 1
            inner.id_val = number
    for variable in (board.templating and board.templating.list_val) or []:
        variable.auto = variable.auto_count = variable.auto_min = None
    return board


def _sources() -> Builder[VariableModel]:
    return dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")


def _portal() -> Builder[VariableModel]:
    option = VariableOption(selected=True, text=PORTAL, value=PORTAL)
    box = dashboard.TextBoxVariable("portal").label("Portal").default_value(PORTAL)
    return box.current(option).options([option])


def _variable(choice: Choice) -> Builder[VariableModel]:
    chosen = VariableOption(selected=True, text=["All"], value=["$__all"])
    if choice.first:
        chosen = VariableOption(selected=True, text=[choice.first], value=[choice.first])
    if choice.values:
        options = [VariableOption(selected=False, text=one, value=one) for one in choice.values]
        fixed = dashboard.CustomVariable(choice.name).label(choice.label).multi(True)
        fixed = fixed.values(",".join(choice.values)).include_all(True).all_value(".*")
        return fixed.current(chosen).options(options)
    query: dict[str, object] = {
        "query": f"label_values({choice.series}, {choice.name})",
        "refId": choice.name,
    }
    found = dashboard.QueryVariable(choice.name).label(choice.label).datasource(SOURCE)
    found = found.query(query).multi(True).refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    found = found.sort(VariableSort.ALPHABETICAL_ASC).include_all(choice.has_all)
    if choice.has_all:
        found = found.current(chosen)
        return found if choice.lists_all else found.all_value(".*")
    return found


def _others() -> Builder[DashboardLink]:
    link = dashboard.DashboardLink("Boards of the storage").type(DashboardLinkType.DASHBOARDS)
    return link.tags([TAG]).include_vars(True).keep_time(True).as_dropdown(False)
