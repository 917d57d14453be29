# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a tunable and the kinds of values that it can have."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import ConfigurationError

# Values of tunables: a class per kind.

_TRUE = frozenset({"true", "1", "yes", "enable", "enabled", "on"})
_FALSE = frozenset({"false", "0", "no", "disable", "disabled", "off"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([KMGTPE]i?)?B?\s*", re.IGNORECASE)
_POWERS = "KMGTPE"
LARGEST_INTEGER = 2**63 - 1
INT_MAX = 2**31 - 1


def size_bytes(text: str) -> int | None:
    """Parse "16 MiB", "16MiB" or "100 GB" (decimal) into bytes; return None for anything else."""
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
    """Base class of the kinds of values.

    Attributes:
        kind: Name of the kind: "bool", "int" (bytes or a count), "float", "enum", "text", "ints".
        words: Name of the kind for people, or the values of an enum.
        default: Default behaviour of the stack, as text for people.
        choices: Allowed values of an enum; empty otherwise.
        expected: Description of a valid value, for people.
    """

    kind: ClassVar[str]
    words: str
    choices: tuple[str, ...] = ()

    def __init__(self, default: str, expected: str) -> None:
        self.default = default
        self.expected = expected

    def read(self, text: str) -> Value | None:
        """Return the value in a text; None if it contains no such value."""
        return text.strip()

    @abstractmethod
    def check(self, value: Any) -> Value | None:
        """Return the value in its canonical type; None if it is not allowed."""


class Text(Domain):
    """A text that fully matches a pattern."""

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
    """An integer within bounds, bytes or a count, also written as a size such as "16 MiB"."""

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
    """A list of integers within bounds, with one of a few lengths."""

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


# The interface of a tunable.


class SafetyClass(StrEnum):
    """Effect that a tunable can have on the output, the most dangerous last."""

    SAFE = "safe"
    """The tunable cannot change what is written."""
    LAYOUT = "layout"
    """The content stays the same, but other bytes of the file may differ."""
    CONTRACT = "contract"
    """Correct only if the program meets a condition; searched only on request."""


class Layer(StrEnum):
    """The layer at which a tunable acts, which is the key of its table in the canonical TOML.

    Attributes:
        settings: Name of its settings for people, in the plural.
    """

    MPIIO = "mpiio", "MPI-IO hints"
    MCA = "mca", "Open MPI parameters"
    HDF5 = "hdf5", "HDF5 properties"
    PNETCDF = "pnetcdf", "PnetCDF hints"
    ADIOS2 = "adios2", "ADIOS2 engine parameters"
    JOB = "job", "The job's resources"
    ENVIRONMENT = "environment", "Environment variables"

    settings: str

    def __new__(cls, key: str, settings: str = "") -> Layer:
        """Create a member whose value is only the key."""
        member = str.__new__(cls, key)
        member._value_ = key
        member.settings = settings
        return member


class ActsAt(StrEnum):
    """The time at which a tunable acts."""

    JOB = "job start"
    CREATE = "file creation"
    OPEN = "file open"
    DATASET = "dataset creation"
    TRANSFER = "data transfer"


Rungs = Callable[[ProgramFacts], tuple[Value, ...]]
Condition = Callable[[ProgramFacts], str]


class SearchRange:
    """When and with which values a tunable is searched.

    Attributes:
        effect_order: Position in the order of likely effect; smaller is tried earlier.
        by_name: Why it is searched only if the user names it (no counter shows that its conditions
            are met or that it can act); empty if it is searched by default.
        from_trials: Whether strategies choose its values from the results of trials instead of a
            ladder. It is part of a space only on request, with or without given values.
        ladder: Function that returns the values worth trying for a program.
    """

    def __init__(
        self,
        effect_order: int,
        *rungs: Value,
        by: Rungs | None = None,
        by_name: str = "",
        from_trials: bool = False,
    ) -> None:
        """Set the values to try: fixed ones for every program, or those that `by` returns."""
        self.effect_order = effect_order
        self.by_name = by_name
        self.from_trials = from_trials
        self.ladder: Rungs = by or (lambda facts: rungs)


NOT_SEARCHED = SearchRange(100)


@dataclass(eq=False)
class Tunable:
    """One tunable, as listed in the tables of the layers.

    Attributes:
        key: Name in the layer's table, spelled as in the layer's own documentation.
        domain: Possible values, and the default behaviour of the stack.
        summary: Summary in one line.
        layer: Layer, which is its table in the configuration.
        safety: Safety class.
        acts_at: Time at which it acts.
        stacks: Stacks that support it: any of "romio", "ompio", "cray", "openmpi", "hdf5".
        source: Source of default and meaning, and whether they were read, measured or assumed.
        search: How it is searched; without values it can only be set by hand.
        also: The same setting in other interfaces, such as "netCDF-4: nc_set_alignment".
        applies: Conditions on the program; each returns why it is not met, or an empty text.
        implies: Function of the value and the program's facts (or None) that returns other
            settings (tunable name to value) without which the value has no effect.
        requires: Function that returns the values that other tunables must have, set or by
            default, for this one to act on a program.
        name: Unique name `<layer>.<key>`, e.g. "mpiio.cb_nodes".
    """

    key: str
    domain: Domain
    summary: str
    layer: Layer
    acts_at: ActsAt
    stacks: tuple[str, ...]
    source: str
    safety: SafetyClass = SafetyClass.SAFE
    search: SearchRange = NOT_SEARCHED
    also: str = ""
    applies: tuple[Condition, ...] = ()
    implies: Callable[[Value, ProgramFacts | None], Mapping[str, Value]] = lambda *_: {}
    requires: Callable[[ProgramFacts], Mapping[str, Value]] = lambda _: {}
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"{self.layer.value}.{self.key}"

    def why_not(self, facts: ProgramFacts) -> str:
        """Return the first reason why the tunable cannot act on a program; empty if it can."""
        return next((why for condition in self.applies if (why := condition(facts))), "")

    def check(self, value: Value) -> Value:
        """Return the value in its canonical type.

        Raises:
            ConfigurationError: The value has a wrong type or is out of range.
        """
        checked = self.domain.check(value)
        if checked is None:
            raise self._wrong(list(value) if isinstance(value, tuple) else value)
        return checked

    def parse(self, text: str) -> Value:
        """Parse the value from text, as in hint strings and XML.

        Raises:
            ConfigurationError: The text is not a valid value.
        """
        value = self.domain.read(text)
        if value is None:
            raise self._wrong(text.strip())
        return self.check(value)

    def _wrong(self, value: object) -> ConfigurationError:
        return ConfigurationError(f"{self.name} = {value!r}: give {self.domain.expected}")
