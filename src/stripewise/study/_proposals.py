# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is tried next: what the journal says was begun, then what the strategy proposes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from stripewise.errors import StudyError, UsageError
from stripewise.model import Trial, Value, from_json
from stripewise.strategies import Proposal, Strategy
from stripewise.tunables import key_of, tunable_of


class Proposals:
    """Asks and tells a strategy, and follows recorded trials that it does not ask for.

    A later version of a strategy may propose other points than those that a study has tried.
    Those are kept, and are the answer when it comes to ask for them.
    """

    def __init__(self, strategy: Strategy, recall: Callable[[str], Any]) -> None:
        """Take the strategy and what returns a recorded value, None if there is none."""
        self._strategy = strategy
        self._recall = recall
        self._waiting: list[Proposal] = []
        self._followed: dict[Hashable, Trial | None] = {}

    def ask(self, first: int, n: int) -> list[Proposal]:
        """Return what the trials with the numbers from `first` on try, `n` at most.

        Raises:
            StudyError: A recorded trial sets what this Stripewise does not know.
        """
        found: list[Proposal] = []
        for number in range(first, first + n):
            recorded = self._recall(f"proposal/{number}")
            proposal = self._next() if recorded is None else self._follow(number, recorded)
            if proposal is None:
                break
            found.append(proposal)
        return found

    def tell(self, trial: Trial, noise: float) -> None:
        """Pass an outcome to the strategy, at once or when it asks for that point."""
        key = key_of(trial.settings)
        if key in self._followed:
            self._followed[key] = trial
            return
        self._strategy.noise = noise
        self._strategy.tell(trial)

    def _follow(self, number: int, recorded: Mapping[str, Any]) -> Proposal:
        """Return a recorded point, as the strategy's own if it asks for it now."""
        found = from_json(Proposal, recorded)
        settings = _known(number, found.settings)
        self._waiting = self._waiting or self._strategy.ask(1)
        if self._waiting and key_of(self._waiting[0].settings) == key_of(settings):
            self._waiting = []
        else:
            self._followed[key_of(settings)] = None
        return found

    def _next(self) -> Proposal | None:
        """Return a point of the strategy that has not been tried; None if it has none now."""
        while waiting := self._waiting or self._strategy.ask(1):
            self._waiting = []
            key = key_of(waiting[0].settings)
            if key not in self._followed:
                return waiting[0]
            known = self._followed[key]
            if known is None:  # in flight
                self._waiting = waiting
                return None
            self._strategy.tell(replace(known, settings=waiting[0].settings))
        return None


def _known(number: int, settings: Mapping[str, Value]) -> Mapping[str, Value]:
    try:
        for name, value in settings.items():
            tunable_of(name).check(value)
    except UsageError as error:
        raise StudyError(
            f"trial {number} of the journal cannot be followed ({error}); end the study with the "
            "Stripewise that began it, or begin anew with --force"
        ) from error
    return settings
