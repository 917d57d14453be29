# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A rule of Prometheus: what is recorded, and what somebody is woken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boards._board import PORTAL, TAG

GRAFANA = "https://grafana.example.org"
"""Address of Grafana until somebody says theirs."""


@dataclass(frozen=True)
class Recorded:
    """A series that is recorded, since alerts need its past.

    Attributes:
        name: With the labels that it has, as Prometheus' own rules are named.
        expression: In PromQL.
    """

    name: str
    expression: str

    def rule(self) -> dict[str, object]:
        """Return it as it stands in the file."""
        return {"record": self.name, "expr": self.expression}


@dataclass(frozen=True)
class Alert:
    """An alert.

    Attributes:
        name: Of the alert.
        severity: "critical": somebody is to look now; "warning": today; "info": some time.
        minutes: How long it must hold.
        condition: In words, for the docs: completes "fires if".
        expression: In PromQL.
        summary: Names the thing, in one line.
        meaning: What it means for users.
        remedy: What to do.
        board: Which board shows it, with the labels of the alert that choose there.
        portal: Page of the portal; "": none.
    """

    name: str
    severity: str
    minutes: int
    condition: str
    expression: str
    summary: str
    meaning: str
    remedy: str
    board: str
    portal: str = ""

    def rule(self) -> dict[str, object]:
        """Return it as it stands in the file."""
        said = {"summary": self.summary, "description": f"{self.meaning} {self.remedy}"}
        said["dashboard"] = f"{GRAFANA}/d/stripewise-{self.board}"
        if self.portal:
            said["portal"] = PORTAL + self.portal
        rule: dict[str, object] = {"alert": self.name, "expr": self.expression}
        if self.minutes:
            rule["for"] = f"{self.minutes}m"
        rule["labels"] = {"severity": self.severity, "source": TAG}
        rule["annotations"] = said
        return rule


def shown(board: str, **variables: str) -> str:
    """Return a board's address with its variables set from labels of the alert.

    Values are escaped: they come from what agents read.
    """
    chosen = [f"var-{one}={{{{$labels.{of}|urlquery}}}}" for one, of in variables.items()]
    return "?".join([board, *(["&".join(chosen)] if chosen else [])])


def group(name: str, rules: Sequence[Recorded | Alert]) -> Mapping[str, object]:
    """Return a group of rules; they are evaluated in order, once a minute."""
    return {"name": name, "interval": "1m", "rules": [rule.rule() for rule in rules]}
