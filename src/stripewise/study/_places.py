# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Units of runs side by side: a loop that gives each a place and its runs one after another.

A unit is a generator that yields the runs it wants and is sent what they gave.  The two runs of
a pair are in one unit, so they follow one another in one place, however many places there are.
With one place the units are carried out as if they were called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from stripewise.model import Measurement
from stripewise.study._executor import Executor, Running
from stripewise.study._slot import Steps

T = TypeVar("T")
MakeUnit = Callable[[int], Steps[T]]
"""Makes a unit for the place that it gets."""


@dataclass
class _Unit(Generic[T]):
    """A unit that was begun; its `result` is there when it ended."""

    place: int
    steps: Steps[T]
    running: Running | None = None
    result: list[T] | None = None


class Places(Generic[T]):
    """As many units at a time as a launcher has places."""

    def __init__(self, executor: Executor, places: int) -> None:
        self._executor = executor
        self._places = range(places)
        self._units: dict[int, _Unit[T]] = {}

    @property
    def busy(self) -> int:
        """How many units were begun and not taken."""
        return len(self._units)

    @property
    def free(self) -> int:
        """How many more may begin."""
        return max(0, len(self._places) - self.busy)

    def start(self, key: int, make: MakeUnit[T]) -> None:
        """Begin a unit, up to its first run that is not known yet."""
        taken = {unit.place for unit in self._units.values()}
        place = next((p for p in self._places if p not in taken), len(taken))
        self._units[key] = _Unit(place, make(place))
        self._advance(self._units[key], None)

    def take(self, key: int | None = None) -> tuple[int, T]:
        """Wait for a unit to end, for that of a key if one is given; return key and result."""
        while True:
            for found, unit in self._units.items():
                if unit.result is not None and key in (None, found):
                    del self._units[found]
                    return found, unit.result[0]
            self._wait()

    def each(self, units: Iterable[MakeUnit[T]]) -> Iterator[T]:
        """Carry out units; yield their results in the order of the units.

        The next one is asked for when a place is free.  If the caller breaks off, those in flight
        end before this returns, and none begins any more.
        """
        waiting, results = enumerate(units), dict[int, T]()
        try:
            for number in count():
                while number not in results:
                    while self.free and (following := next(waiting, None)):
                        self.start(*following)
                    if not self.busy:
                        return
                    key, results[key] = self.take()
                yield results.pop(number)
        except GeneratorExit:
            while self.busy:
                self.take()
            raise

    def _advance(self, unit: _Unit[T], given: Measurement | None) -> None:
        unit.running = None
        try:
            while unit.running is None:
                slot = next(unit.steps) if given is None else unit.steps.send(given)
                begun = self._executor.begin(slot, unit.place)
                if isinstance(begun, Measurement):
                    given = begun
                else:
                    unit.running = begun
        except StopIteration as stop:
            unit.result = [stop.value]

    def _wait(self) -> None:
        """Wait until at least one run has ended, and let its unit go on."""
        runs = [unit.running for unit in self._units.values() if unit.running]
        ended = self._executor.wait(runs)
        for unit in list(self._units.values()):
            if unit.running in ended and unit.running is not None:
                self._advance(unit, self._executor.end(unit.running))
