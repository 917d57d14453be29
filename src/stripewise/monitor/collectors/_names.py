# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Short names for places such as mount points: never a path, each one's own for good."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

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
