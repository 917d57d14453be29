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

from stripewise.model import Measurement

_AGAIN = re.compile(r"/again/\d+$")


@dataclass
class Halves:
    """Which runs have given what their pair needs, and in which session they began.

    Attributes:
        session: The present one, from 0.
    """

    session: int = 0
    _planned: dict[str, int] = field(default_factory=dict)
    _given: dict[str, tuple[int, bool]] = field(default_factory=dict)

    def plan(self, run_id: str) -> None:
        """Note that a run begins in this session."""
        self._planned[run_id] = self.session

    def is_recent(self, run_id: str) -> bool:
        """Whether a run began in this session, and was not taken in after a restart."""
        return self._planned[run_id] == self.session

    def finish(self, plan: Mapping[str, Any], measurement: Measurement) -> None:
        """Note what a run gave; an unchanged program that failed is run again."""
        if measurement.ok or plan["settings"]:
            session = self._planned[measurement.run_id]
            self._given[_AGAIN.sub("", plan["slot"])] = session, measurement.ok

    def are_torn(self, first: str, second: str) -> bool:
        """Whether the first slot ran in an earlier session and the second has not yet."""
        session, ok = self._given.get(_AGAIN.sub("", first), (self.session, False))
        return ok and session != self.session and second not in self._given

    def whole(self, name: str, slots: Callable[[str], tuple[str, str]]) -> str:
        """Return the name under which a pair is run or was run without a restart in it.

        Args:
            name: Of the pair.
            slots: Returns the slots of a pair of such a name, the one that runs first first.
        """
        for attempt in count():
            anew = f"{name}/anew/{attempt}" if attempt else name
            if not self.are_torn(*slots(anew)):
                return anew
        raise AssertionError
