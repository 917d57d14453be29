# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What values a tunable can have: a class per kind."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from stripewise.model import Value

_TRUE = frozenset({"true", "1", "yes", "enable", "enabled", "on"})
_FALSE = frozenset({"false", "0", "no", "disable", "disabled", "off"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([KMGTPE]i?)?B?\s*", re.IGNORECASE)
_POWERS = "KMGTPE"
LARGEST_INTEGER = 2**63 - 1
INT_MAX = 2**31 - 1


def size_bytes(text: str) -> int | None:
    """Return the bytes of "16 MiB", "16MiB" or "100 GB" (decimal); None for anything else."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    number, unit = match.groups()
    factor = 1
    if unit:
        base = 1024 if unit.lower().endswith("i") else 1000
        factor = base ** (_POWERS.index(unit[0].upper()) + 1)
    return int(float(number) * factor) if "." in number else int(number) * factor


class Domain(ABC):
    """What every kind says of itself.

    Attributes:
        kind: Name of the kind: "bool", "int" (bytes or a count), "float", "enum", "text", "ints".
        words: The same for people, of an enum its values.
        default: What the stack does unasked, as text for people.
        choices: Allowed values of an enum; empty otherwise.
        expected: What a value must be, for people.
    """

    kind: ClassVar[str]
    words: str
    choices: tuple[str, ...] = ()

    def __init__(self, default: str, expected: str) -> None:
        self.default = default
        self.expected = expected

    def read(self, text: str) -> Value | None:
        """Return what a text holds; None if it holds no such value."""
        return text.strip()

    @abstractmethod
    def check(self, value: Any) -> Value | None:
        """Return the value in its canonical type; None if it is none of the allowed ones."""


class Text(Domain):
    """A text that matches a pattern in full."""

    kind = words = "text"

    def __init__(self, default: str, pattern: str, example: str) -> None:
        super().__init__(default, f"a text such as {example}")
        self.pattern = pattern
        self.example = example

    def read(self, text: str) -> Value | None:
        return text

    def check(self, value: Any) -> Value | None:
        return value if isinstance(value, str) and re.fullmatch(self.pattern, value) else None


class OneOf(Domain):
    """One of a few words."""

    kind = "enum"

    def __init__(self, default: str, *choices: str) -> None:
        super().__init__(default, "one of " + ", ".join(choices))
        self.choices = choices
        self.words = ", ".join(choices)

    def check(self, value: Any) -> Value | None:
        return value if isinstance(value, str) and value in self.choices else None


class Flag(Domain):
    """True or false."""

    kind = "bool"
    words = "true, false"

    def __init__(self, default: str) -> None:
        super().__init__(default, "true or false")

    def read(self, text: str) -> Value | None:
        word = text.strip().lower()
        return word in _TRUE if word in _TRUE | _FALSE else None

    def check(self, value: Any) -> Value | None:
        return value if isinstance(value, bool) else None


class Integer(Domain):
    """An integer, bytes or a count, within bounds; also written as a size such as "16 MiB"."""

    kind = "int"
    words = "integer"

    def __init__(self, default: str, minimum: int = 0, maximum: int = LARGEST_INTEGER) -> None:
        self.minimum = minimum
        self.maximum = maximum
        bounded = maximum < LARGEST_INTEGER
        self.bounds = f"{minimum} to {maximum}" if bounded else f"at least {minimum}"
        super().__init__(default, f"an integer, {self.bounds}")

    def read(self, text: str) -> int | None:
        return int(text) if _INTEGER.fullmatch(text.strip()) else None

    def check(self, value: Any) -> int | None:
        if isinstance(value, str) and not value.strip().isdigit():
            value = size_bytes(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if self.minimum <= value <= self.maximum else None


class Integers(Domain):
    """A list of integers of one of a few lengths, whose elements lie within bounds."""

    kind = "ints"
    words = "list of integers"

    def __init__(self, default: str, *lengths: int, minimum: int = 0, maximum: int) -> None:
        self.element = Integer("", minimum, maximum)
        self.lengths = lengths
        several = " or ".join(str(length) for length in lengths)
        super().__init__(default, f"{several} integers, each {self.element.bounds}")

    def read(self, text: str) -> Value | None:
        numbers: list[Any] = [self.element.read(word) for word in text.split(",")]
        return None if None in numbers else tuple(numbers)

    def check(self, value: Any) -> Value | None:
        if not isinstance(value, list | tuple) or len(value) not in self.lengths:
            return None
        numbers: list[Any] = [self.element.check(element) for element in value]
        return None if None in numbers else tuple(numbers)


class Number(Domain):
    """A number with decimals, within bounds."""

    kind = words = "float"

    def __init__(self, default: str, low: float, high: float) -> None:
        self.low = low
        self.high = high
        super().__init__(default, f"a number, {low:g} to {high:g}")

    def read(self, text: str) -> Value | None:
        return float(text) if _DECIMAL.fullmatch(text.strip()) else None

    def check(self, value: Any) -> Value | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        inside = math.isfinite(value) and self.low <= value <= self.high
        return float(value) if inside else None
