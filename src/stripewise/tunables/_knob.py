# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One declarative class for every tunable: the members are tables of these."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stripewise.errors import ConfigurationError
from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import ActsAt, Layer, SafetyClass, Tunable
from stripewise.tunables._sizes import size_bytes

Rungs = Callable[[ProgramFacts], tuple[Value, ...]]
Condition = Callable[[ProgramFacts], str]
Implied = Callable[[Value, ProgramFacts | None], Mapping[str, Value]]
Required = Callable[[ProgramFacts], Mapping[str, Value]]

_TRUE = frozenset({"true", "1", "yes", "enable", "enabled", "on"})
_FALSE = frozenset({"false", "0", "no", "disable", "disabled", "off"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
LARGEST_INTEGER = 2**63 - 1


def _no_rungs(facts: ProgramFacts) -> tuple[Value, ...]:
    del facts
    return ()


def _always(facts: ProgramFacts) -> str:
    del facts
    return ""


def _nothing_implied(value: Value, facts: ProgramFacts | None) -> Mapping[str, Value]:
    del value, facts
    return {}


def _nothing_required(facts: ProgramFacts) -> Mapping[str, Value]:
    del facts
    return {}


@dataclass(eq=False)
class Knob(Tunable):
    """A tunable given by data.

    Attributes:
        minimum / maximum: Bounds of an int, and of each element of ints.
        low / high: Bounds of a float.
        lengths: Allowed numbers of elements of ints.
        pattern: What a text must match in full.
        example: A valid value, for messages.
        rungs / applies / implied / required: What the methods of the contract answer.
    """

    layer: Layer
    key: str
    kind: str
    default: str
    safety: SafetyClass
    acts_at: ActsAt
    stacks: tuple[str, ...]
    summary: str
    source: str
    choices: tuple[str, ...] = ()
    effect_order: int = 100
    by_name: str = ""
    also: str = ""
    minimum: int = 0
    maximum: int = LARGEST_INTEGER
    low: float = 0.0
    high: float = math.inf
    lengths: tuple[int, ...] = ()
    pattern: str = ""
    example: str = ""
    rungs: Rungs = _no_rungs
    applies: Condition = _always
    implied: Implied = _nothing_implied
    required: Required = _nothing_required
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive the name."""
        self.name = f"{self.layer.value}.{self.key}"

    def ladder(self, facts: ProgramFacts) -> tuple[Value, ...]:
        """Return the rungs for such a program."""
        return self.rungs(facts)

    def why_not(self, facts: ProgramFacts) -> str:
        """Return why the tunable cannot act; "" if it can."""
        return self.applies(facts)

    def implies(self, value: Value, facts: ProgramFacts | None = None) -> Mapping[str, Value]:
        """Return what must be set beside this value."""
        return self.implied(value, facts)

    def requires(self, facts: ProgramFacts) -> Mapping[str, Value]:
        """Return what other tunables must be at."""
        return self.required(facts)

    def check(self, value: Value) -> Value:
        """Return the value in its canonical type."""
        if self.kind == "bool":
            return self._check_bool(value)
        if self.kind == "int":
            return self._check_int(value)
        if self.kind == "float":
            return self._check_float(value)
        if self.kind == "ints":
            return self._check_ints(value)
        return self._check_text(value)

    def parse(self, text: str) -> Value:
        """Read the value from text."""
        word = text.strip()
        if self.kind == "bool":
            if word.lower() in _TRUE | _FALSE:
                return word.lower() in _TRUE
            raise self._wrong(word)
        if self.kind == "int":
            return self._check_int(self._integer(word, word))
        if self.kind == "float":
            if not _DECIMAL.fullmatch(word):
                raise self._wrong(word)
            return self._check_float(float(word))
        if self.kind == "ints":
            elements = word.split(",")
            return self._check_ints(tuple(self._integer(e.strip(), word) for e in elements))
        return self._check_text(word if self.kind == "enum" else text)

    @property
    def expected(self) -> str:
        """What a value must be, for people."""
        if self.kind == "enum":
            return "one of " + ", ".join(self.choices)
        if self.kind == "bool":
            return "true or false"
        if self.kind == "int":
            return f"an integer, {self._bounds}"
        if self.kind == "float":
            return f"a number, {self.low:g} to {self.high:g}"
        if self.kind == "ints":
            several = " or ".join(str(n) for n in self.lengths) or "one or more"
            return f"{several} integers, each {self._bounds}"
        return "a text" + (f" such as {self.example}" if self.example else "")

    @property
    def _bounds(self) -> str:
        if self.maximum == LARGEST_INTEGER:
            return f"at least {self.minimum}"
        return f"{self.minimum} to {self.maximum}"

    def _wrong(self, value: object) -> ConfigurationError:
        return ConfigurationError(f"{self.name} = {value!r}: give {self.expected}")

    def _integer(self, word: str, whole: str) -> int:
        if not _INTEGER.fullmatch(word):
            raise self._wrong(whole)
        return int(word)

    def _check_bool(self, value: Value) -> bool:
        if not isinstance(value, bool):
            raise self._wrong(value)
        return value

    def _check_int(self, value: Value) -> int:
        value = _in_bytes(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(value)
        if not self.minimum <= value <= self.maximum:
            raise self._wrong(value)
        return value

    def _check_float(self, value: Value) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(value)
        if not self.low <= value <= self.high or not math.isfinite(value):
            raise self._wrong(value)
        return float(value)

    def _check_ints(self, value: Value) -> tuple[int, ...]:
        if not isinstance(value, list | tuple) or not value:
            raise self._wrong(value)
        value = tuple(_in_bytes(element) for element in value)
        if self.lengths and len(value) not in self.lengths:
            raise self._wrong(list(value))
        for element in value:
            if isinstance(element, bool) or not isinstance(element, int):
                raise self._wrong(list(value))
            if not self.minimum <= element <= self.maximum:
                raise self._wrong(list(value))
        return tuple(value)

    def _check_text(self, value: Value) -> str:
        if not isinstance(value, str):
            raise self._wrong(value)
        if self.choices and value not in self.choices:
            raise self._wrong(value)
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise self._wrong(value)
        return value


def _in_bytes(value: Any) -> Any:
    """Return the number of bytes of a size such as "16 MiB"; anything else as it is."""
    size = size_bytes(value) if isinstance(value, str) and not value.strip().isdigit() else None
    return value if size is None else size
