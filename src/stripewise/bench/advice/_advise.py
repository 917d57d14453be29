# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists all rules, and collects their advice for a storage and what more advice would need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stripewise.bench.advice.rules._adios2 import Adios2
from stripewise.bench.advice.rules._aggregators import AggregatorNumber, CollectiveCalls
from stripewise.bench.advice.rules._base import Advice, Basis, Rule
from stripewise.bench.advice.rules._burst_buffer import BurstBuffer
from stripewise.bench.advice.rules._locks import LockModes
from stripewise.bench.advice.rules._metadata import Metadata
from stripewise.bench.advice.rules._shared_or_own import SerialOutput, SharedOrOwn
from stripewise.bench.advice.rules._striping import Striping
from stripewise.bench.advice.rules._transfer import TransferSize
from stripewise.bench.advice.rules._transport import TransportChoice


@dataclass(frozen=True)
class AdviceBook:
    """Advice for the users of a storage.

    Attributes:
        basis: Data on which the advice is based.
        advice: All advice in the order of the rules.
        missing: Name of a rule to what its advice would need.
        aside: Names of rules that do not concern the program.
        silent: Names of rules for which no choice makes a difference here.
    """

    basis: Basis
    advice: tuple[Advice, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def topics(self) -> dict[str, tuple[Advice, ...]]:
        """Topic to its advice."""
        found: dict[str, list[Advice]] = {}
        for one in self.advice:
            found.setdefault(one.topic, []).append(one)
        return {topic: tuple(group) for topic, group in found.items()}

    @property
    def defaults(self) -> dict[str, tuple[str, Advice]]:
        """Environment variable to the value that a site can set for all users, with its advice."""
        found: dict[str, tuple[str, Advice]] = {}
        for one in self.advice:
            for name, value in one.defaults.items():
                found.setdefault(name, (value, one))
        return found


def advise(basis: Basis, rules: Iterable[Rule] | None = None) -> AdviceBook:
    """Return the advice that follows from a storage, campaigns and a program.

    Args:
        basis: Data on which the advice is based.
        rules: Rules to apply; None for all.
    """
    advice, missing = list[Advice](), dict[str, str]()
    aside, silent = list[str](), list[str]()
    chosen: Sequence[Rule] = RULES if rules is None else tuple(rules)
    for rule in chosen:
        lacking = rule.missing(basis)
        if lacking:
            missing[rule.name] = lacking
        elif basis.program is not None and not rule.concerns(basis.program):
            aside.append(rule.name)
        else:
            found = list(rule.advise(basis))
            advice += found
            silent += [] if found else [rule.name]
    return AdviceBook(basis, tuple(advice), missing, tuple(aside), tuple(silent))


# All rules in the order in which users read their advice.

RULES: tuple[Rule, ...] = (
    Striping(),
    SharedOrOwn(),
    SerialOutput(),
    CollectiveCalls(),
    AggregatorNumber(),
    LockModes(),
    TransportChoice(),
    Adios2(),
    TransferSize(),
    Metadata(),
    BurstBuffer(),
)


def rule_names() -> tuple[str, ...]:
    """Return the names of all rules."""
    return tuple(one.name for one in RULES)
