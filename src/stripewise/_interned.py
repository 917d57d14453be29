# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Equal values once each, by number."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Interned(Generic[T]):
    """Values in the order in which they first came; their numbers count from 0."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._values: list[Any] = []

    def number(self, key: Hashable, make: Callable[[], T] | None = None) -> int:
        """Return the number of a value.

        Args:
            key: The value itself, or what is equal for equal values.
            make: Makes the value, where the key is another thing.
        """
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._values)
            self._values.append(make() if make else key)
        return found

    @property
    def values(self) -> tuple[T, ...]:
        """All values in the order of their numbers."""
        return tuple(self._values)

    def __getitem__(self, number: int) -> T:
        """Return one value."""
        value: T = self._values[number]
        return value
