# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that a restart came into: a ratio is never made of runs of two sessions.

The load of the machine and of the storage cancels within a pair only if its runs come one
right after the other.  A restart may come a day later, so a pair of which one half had run is
run anew, both halves, under another name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from stripewise.model import Measurement, is_settled
from stripewise.study._slot import RunSlot

_AGAIN = re.compile(r"/again/\d+$")


@dataclass
class Halves:
    """Which runs have given what their pair needs, and in which session they began.

    Attributes:
        session: The present one, from 0.

    A run that goes on while the tuner is dead ends in the session that sees it end; the second of
    a pair was begun in the session in which the first ended, or the pair is torn.
    """

    session: int = 0
    _planned: dict[str, int] = field(default_factory=dict)
    _in_flight: set[str] = field(default_factory=set)
    _given: dict[str, tuple[int, bool]] = field(default_factory=dict)
    _attempts: dict[str, list[Measurement]] = field(default_factory=dict)

    def plan(self, plan: Mapping[str, Any]) -> None:
        """Note that a run begins in this session."""
        self._planned[plan["run_id"]] = self.session
        self._in_flight.add(_slot(plan))

    def drop(self, plan: Mapping[str, Any]) -> None:
        """Note that a run counts as never made."""
        self._in_flight.discard(_slot(plan))

    def finish(self, plan: Mapping[str, Any], measurement: Measurement, *, late: bool) -> None:
        """Note what a run gave; one that failed is run again until that is settled.

        Args:
            plan: Its record.
            measurement: What it gave.
            late: It had ended before this session.
        """
        slot = _slot(plan)
        self._in_flight.discard(slot)
        attempts = self._attempts.setdefault(slot, [])
        attempts.append(measurement)
        if measurement.ok or (plan["settings"] and is_settled(attempts)):
            session = self._planned[measurement.run_id] if late else self.session
            self._given[slot] = session, measurement.ok

    def are_torn(self, first: str, second: str) -> bool:
        """Whether the first slot ended in an earlier session and the second has not begun."""
        session, ok = self._given.get(_AGAIN.sub("", first), (self.session, False))
        begun = second in self._given or second in self._in_flight
        return ok and session != self.session and not begun

    def whole(
        self, name: str, slots: Callable[[str], tuple[RunSlot, RunSlot]]
    ) -> tuple[RunSlot, RunSlot]:
        """Return the slots of a pair that is run, or was run, without a restart in it.

        Args:
            name: Of the pair.
            slots: Returns those of a pair of such a name, the one that runs first first.
        """
        for attempt in count():
            first, second = slots(f"{name}/anew/{attempt}" if attempt else name)
            if not self.are_torn(first.name, second.name):
                return first, second
        raise AssertionError


def _slot(plan: Mapping[str, Any]) -> str:
    """Return the slot of a run, the same for all attempts at it."""
    return _AGAIN.sub("", plan["slot"])
