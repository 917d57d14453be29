# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Options of a strategy: declared by it, given as text, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite

from stripewise.errors import UsageError

OptionValue = int | float | str


@dataclass(frozen=True)
class StrategyOption:
    """One option.

    Attributes:
        name: Words joined by `_`.
        default: Also tells its type.
        summary: One line.
        choices: Allowed texts; empty otherwise.
        minimum / maximum: Bounds of a number.
    """

    name: str
    default: OptionValue
    summary: str
    choices: tuple[str, ...] = ()
    minimum: float = 0.0
    maximum: float = 1e9

    @property
    def expected(self) -> str:
        """What a value must be, for people."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = "an integer" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.minimum:g} to {self.maximum:g}"

    def parse(self, text: str) -> OptionValue:
        """Read a value.

        Raises:
            UsageError: It is none.
        """
        wrong = UsageError(f"strategy option {self.name}={text!r}: give {self.expected}")
        if self.choices:
            if text not in self.choices:
                raise wrong
            return text
        try:
            value = int(text) if isinstance(self.default, int) else float(text)
        except ValueError:
            raise wrong from None
        if not isfinite(value) or not self.minimum <= value <= self.maximum:
            raise wrong
        return value


def parse_options(
    strategy: str, declared: Sequence[StrategyOption], given: Mapping[str, str]
) -> dict[str, OptionValue]:
    """Return every declared option's value.

    Raises:
        UsageError: The strategy has no such option, or that option no such value.
    """
    known = {option.name: option for option in declared}
    for name in given:
        if name not in known:
            raise UsageError(f"strategy {strategy} has no option {name!r}{_hint(name, known)}")
    return {
        name: option.parse(given[name]) if name in given else option.default
        for name, option in known.items()
    }


def _hint(name: str, known: Mapping[str, StrategyOption]) -> str:
    if not known:
        return "; it has none"
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has: {', '.join(known)}"
