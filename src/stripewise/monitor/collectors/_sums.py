# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of counters over parts that come and go, which never fall."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Sums(Generic[Key]):
    """Counters by key, summed over parts: those of a client over the targets, say.

    A part that disappears takes its counters along, and one that is started again counts from
    zero.  A plain sum would fall then, which reads as a restart of everything; so the growth of
    each part is added up.  What parts have counted when they are first seen is in the sum, unless
    it is the base of their growth.

    Memory: 8 bytes for each key and part.
    """

    def __init__(self, most: int) -> None:
        """Keep at most so many keys."""
        self.left_out = 0
        self._most = most
        self._places: dict[Key, int] = {}
        self._totals = array("Q")
        self._last: dict[Hashable, array[int]] = {}

    def add(self, part: Hashable, key: Key, value: int, *, is_base: bool = False) -> None:
        """Take the value that a counter of a part has now.

        Args:
            part: Of which part.
            key: Of which counter.
            value: Of it.
            is_base: If it is the first of this part, only what comes later is growth.
        """
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= self._most:
                self.left_out += 1
                return
            place = self._places[key] = len(self._totals)
            self._totals.append(0)
        last = self._last.setdefault(part, array("Q"))
        if place >= len(last):
            last.extend([0] * (place + 1 - len(last)))
        if is_base and not last[place]:
            last[place] = value
            return
        growth = value - last[place] if value >= last[place] else value
        self._totals[place] = (self._totals[place] + growth) & (1 << 64) - 1
        last[place] = value

    def forget(self, part: Hashable, keys: Iterable[Key]) -> None:
        """Note that a part no longer has counters of these keys: they would begin at zero."""
        last = self._last.get(part)
        for key in keys:
            place = self._places.get(key)
            if last is not None and place is not None and place < len(last):
                last[place] = 0

    def known(self, part: Hashable) -> list[Key]:
        """Return the keys that a part has counters of."""
        last = self._last.get(part, array("Q"))
        return [key for key, place in self._places.items() if place < len(last) and last[place]]

    def parts(self) -> list[Hashable]:
        """Return all parts that were seen."""
        return list(self._last)

    def items(self) -> Iterator[tuple[Key, int]]:
        """Return the sums."""
        for key, place in self._places.items():
            yield key, self._totals[place]


class FirstTexts:
    """Which texts had been counting when they were first read.

    An agent that starts does not know what parts that are gone had counted: sums over what is
    there would be less than those that the agent before it told, and whoever watches them would
    read that as a restart, and all of the sum as growth.  So the sums of an agent begin at zero.
    What comes later, and was not listed before, counts from zero itself.
    """

    def __init__(self) -> None:
        """Begin before the first round."""
        self._listed: set[str] | None = None
        self._read: set[str] = set()

    def is_base(self, name: str) -> bool:
        """Whether what a text tells now may be older than the agent."""
        return name not in self._read and (self._listed is None or name in self._listed)

    def note(self, name: str) -> None:
        """Note that a text was read wholly."""
        self._read.add(name)

    def end(self, names: Iterable[str]) -> None:
        """End a round in which these names were listed."""
        self._listed = set(names)
        self._read &= self._listed
