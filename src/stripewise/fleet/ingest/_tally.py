# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a pass over the inputs came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stripewise.fleet.ingest._walk import PassedOver

_MOST_NAMED = 100


@dataclass
class Tally:
    """Counts of one pass.

    Attributes:
        found: Inputs that were come to.
        unchanged: As they were when they were last read.
        known: Their content is in the database already.
        stored: By kind.
        refused: How many are refused now.
        reasons: Names and reasons of the first of them.
        problems: Names of inputs, and what of them could not be read: the first ones.
        passed: What is no input, or left for the next time.
        seconds: That the pass took.
        stopped: It was broken off; what was done is stored.
    """

    found: int = 0
    unchanged: int = 0
    known: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    reasons: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    passed: PassedOver = field(default_factory=PassedOver)
    seconds: float = 0.0
    stopped: bool = False

    def refuse(self, name: str, reason: str) -> None:
        """Count an input that is not taken in."""
        self.refused += 1
        if len(self.reasons) < _MOST_NAMED:
            self.reasons.append((name, reason))

    def in_part(self, name: str, problems: Sequence[str]) -> None:
        """Note what of an input could not be read."""
        room = _MOST_NAMED - len(self.problems)
        self.problems += [(name, text) for text in problems[: max(room, 0)]]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "found": self.found,
            "unchanged": self.unchanged,
            "known": self.known,
            "stored": dict(sorted(self.stored.items())),
            "refused": self.refused,
            "reasons": [{"name": name, "reason": reason} for name, reason in self.reasons],
            "problems": [{"name": name, "problem": text} for name, text in self.problems],
            "passed_over": {
                reason: {"count": count, "names": self.passed.names[reason]}
                for reason, count in sorted(self.passed.counts.items())
            },
            "seconds": self.seconds,
            "stopped": self.stopped,
        }
