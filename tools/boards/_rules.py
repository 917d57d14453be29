# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the rules of Prometheus: recorded series and alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boards._board import PORTAL, TAG

GRAFANA = "https://grafana.example.org"
"""Placeholder for the address of Grafana."""


@dataclass(frozen=True)
class Recorded:
    """Recorded series, because alerts need its past.

    Attributes:
        name: Name with its labels, following Prometheus' naming of rules.
        expression: PromQL expression.
    """

    name: str
    expression: str

    def rule(self) -> dict[str, object]:
        """Return the rule as it appears in the file."""
        return {"record": self.name, "expr": self.expression}


@dataclass(frozen=True)
class Alert:
    """Alert of Prometheus.

    Attributes:
        name: Name of the alert.
        severity: "critical" if somebody must react now; "warning" for today; "info" for some time.
        minutes: Number of minutes for which the condition must be true.
        condition: Condition in words, for the docs: completes "fires if".
        expression: PromQL expression.
        summary: One line with the name of the affected object.
        meaning: Consequences for users.
        remedy: What to do.
        board: Board that shows it, with the labels of the alert that are selected there.
        portal: Page of the portal; empty if there is none.
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
        """Return the rule as it appears in the file."""
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

    Values are escaped because they come from agents.
    """
    chosen = [f"var-{one}={{{{$labels.{of}|urlquery}}}}" for one, of in variables.items()]
    return "?".join([board, *(["&".join(chosen)] if chosen else [])])


def group(name: str, rules: Sequence[Recorded | Alert]) -> Mapping[str, object]:
    """Return a group of rules, which are evaluated in order, once per minute."""
    return {"name": name, "interval": "1m", "rules": [rule.rule() for rule in rules]}
