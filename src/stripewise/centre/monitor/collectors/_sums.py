# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps sums of counters over parts that come and go, and short names for mount points."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator

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


# Short names for places such as mount points: never a path, each one's own for good.

_UNFIT = re.compile(r"[^A-Za-z0-9_.@-]")
_LONGEST = 48
_GIVEN = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


def _short(name: str) -> str:
    if not _GIVEN.fullmatch(name):
        raise ValueError("write at most 64 letters, digits, dots, hyphens, underscores and @")
    return name


GivenName = Annotated[str, AfterValidator(_short)]
"""A name that is given in the configuration."""


class Names:
    """Names by key; one that was given stays its key's, and no other key gets it.

    Whoever comes later with a name that is taken gets a part of a checksum of its key behind it,
    so that a series never goes on with somebody else's counters.
    """

    def __init__(self, given: Mapping[str, str], most: int) -> None:
        """Begin with names that the configuration gives.

        Args:
            given: Names by key.
            most: How many names there may be in the life of this object.
        """
        self._given = dict(given)
        self._names: dict[str, str] = {}
        self._taken = set(given.values())
        self._most = most

    def of(self, key: str, word: str) -> str | None:
        """Return the name of a key.

        Args:
            key: Whose.
            word: From which the name is made, if there is none yet.

        Returns:
            The name; None: there are too many.
        """
        if key in self._given:
            return self._given[key]
        if key not in self._names:
            if len(self._names) >= self._most:
                return None
            self._names[key] = self._new(key, _UNFIT.sub("_", word)[:_LONGEST] or "root")
        return self._names[key]

    def _new(self, key: str, word: str) -> str:
        name, salt = word, key
        while name in self._taken:
            name = f"{word}-{zlib.crc32(salt.encode('utf-8', 'surrogatepass')):08x}"
            salt += "+"
        self._taken.add(name)
        return name
