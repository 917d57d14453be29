# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What values a tunable can have: a class per kind.

`check` returns the value in its canonical type and `read` the value that a text holds; both
return None for what is none.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from stripewise.model import Value
from stripewise.tunables._sizes import size_bytes

_TRUE = frozenset({"true", "1", "yes", "enable", "enabled", "on"})
_FALSE = frozenset({"false", "0", "no", "disable", "disabled", "off"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
LARGEST_INTEGER = 2**63 - 1
INT_MAX = 2**31 - 1


class Domain(ABC):
    """What every kind says of itself.

    Attributes:
        kind: Name of the kind.
        default: What the stack does unasked, as text for people.
        choices: Allowed values of an enum; empty otherwise.
        expected: What a value must be, for people.
    """

    kind: ClassVar[str]
    choices: tuple[str, ...] = ()

    def __init__(self, default: str, expected: str) -> None:
        self.default = default
        self.expected = expected

    def read(self, text: str) -> Value | None:
        """Return what a text holds."""
        return text.strip()

    @abstractmethod
    def check(self, value: Any) -> Value | None:
        """Return the canonical value."""


class Text(Domain):
    """A text."""

    kind = "text"

    def __init__(self, default: str, pattern: str, example: str) -> None:
        """Allow what matches the pattern in full."""
        super().__init__(default, f"a text such as {example}")
        self.pattern = pattern
        self.example = example

    def read(self, text: str) -> Value | None:
        """Return the text as it is."""
        return text

    def check(self, value: Any) -> Value | None:
        """Return the canonical value."""
        return value if isinstance(value, str) and re.fullmatch(self.pattern, value) else None


class OneOf(Domain):
    """One of a few words."""

    kind = "enum"

    def __init__(self, default: str, *choices: str) -> None:
        """Allow these words."""
        super().__init__(default, "one of " + ", ".join(choices))
        self.choices = choices

    def check(self, value: Any) -> Value | None:
        """Return the word."""
        return value if isinstance(value, str) and value in self.choices else None


class Flag(Domain):
    """True or false."""

    kind = "bool"

    def __init__(self, default: str) -> None:
        super().__init__(default, "true or false")

    def read(self, text: str) -> Value | None:
        """Return the truth of the word."""
        word = text.strip().lower()
        return word in _TRUE if word in _TRUE | _FALSE else None

    def check(self, value: Any) -> Value | None:
        """Return true or false."""
        return value if isinstance(value, bool) else None


class Integer(Domain):
    """An integer: bytes or a count."""

    kind = "int"

    def __init__(self, default: str, minimum: int = 0, maximum: int = LARGEST_INTEGER) -> None:
        """Allow what lies within the bounds."""
        self.minimum = minimum
        self.maximum = maximum
        bounded = maximum < LARGEST_INTEGER
        self.bounds = f"{minimum} to {maximum}" if bounded else f"at least {minimum}"
        super().__init__(default, f"an integer, {self.bounds}")

    def read(self, text: str) -> int | None:
        """Return the number."""
        return int(text) if _INTEGER.fullmatch(text.strip()) else None

    def check(self, value: Any) -> int | None:
        """Return the number; that of bytes for a size such as "16 MiB"."""
        if isinstance(value, str) and not value.strip().isdigit():
            value = size_bytes(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if self.minimum <= value <= self.maximum else None


class Integers(Domain):
    """A list of integers."""

    kind = "ints"

    def __init__(self, default: str, *lengths: int, minimum: int = 0, maximum: int) -> None:
        """Allow lists of these lengths, whose elements lie within the bounds."""
        self.element = Integer("", minimum, maximum)
        self.lengths = lengths
        several = " or ".join(str(length) for length in lengths)
        super().__init__(default, f"{several} integers, each {self.element.bounds}")

    def read(self, text: str) -> Value | None:
        """Return the numbers between commas."""
        numbers = [self.element.read(word) for word in text.split(",")]
        return tuple(n for n in numbers if n is not None) if None not in numbers else None

    def check(self, value: Any) -> Value | None:
        """Return the numbers."""
        if not isinstance(value, list | tuple) or len(value) not in self.lengths:
            return None
        numbers = [self.element.check(element) for element in value]
        return tuple(n for n in numbers if n is not None) if None not in numbers else None


class Number(Domain):
    """A number with decimals."""

    kind = "float"

    def __init__(self, default: str, low: float, high: float) -> None:
        """Allow what lies within the bounds."""
        self.low = low
        self.high = high
        super().__init__(default, f"a number, {low:g} to {high:g}")

    def read(self, text: str) -> Value | None:
        """Return the number."""
        return float(text) if _DECIMAL.fullmatch(text.strip()) else None

    def check(self, value: Any) -> Value | None:
        """Return the number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        inside = math.isfinite(value) and self.low <= value <= self.high
        return float(value) if inside else None
