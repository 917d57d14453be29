# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every search strategy must do; subclass it and say how to make one.

class TestRandom(StrategySuite):
strategy_name = "random"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from random import Random
from zlib import crc32

from stripewise.core import Configuration, ProgramFacts, Proposal, Trial, TrialState, Value
from stripewise.settings.tunables import Space, find_space, get
from stripewise.study.strategies import Strategy, create

Answer = Callable[[Mapping[str, Value]], float]
_MOST_POINTS = 300


def romio_facts() -> ProgramFacts:
    """Return facts of a program on which many tunables act."""
    return ProgramFacts(
        n_ranks=8,
        mpi_family="mpich",
        mpi_version="MPICH Version: 4.0.2",
        mpiio_implementation="romio",
        independent_bytes=1 << 26,
        noncontiguous=True,
        write_bytes=1 << 26,
        shared_files=1,
        write_calls=1 << 14,
        io_seconds=4.0,
        elapsed_seconds=6.0,
    )


def play(strategy: Strategy, answer: Answer, most: int = _MOST_POINTS) -> list[Proposal]:
    """Ask and tell until the strategy has finished; return what it proposed."""
    proposals: list[Proposal] = []
    while len(proposals) < most and (asked := strategy.ask(1)):
        proposals += asked
        ratio = answer(asked[0].settings)
        state = TrialState.FAILED if ratio == inf else TrialState.COMPLETE
        strategy.tell(
            Trial(
                len(proposals), asked[0].settings, Configuration(), state,
                io_ratio=ratio, elapsed_ratio=ratio,
            )
        )  # fmt: skip
    return proposals


class StrategySuite:
    """Conformance suite; set `strategy_name`, or override `make`."""

    strategy_name: str

    def facts(self) -> ProgramFacts:
        """Return the program to search for."""
        return romio_facts()

    def space(self) -> Space:
        """Return the space to search."""
        return find_space(self.facts())

    def make(self, seed: int = 1) -> Strategy:
        """Make a fresh strategy."""
        return create(self.strategy_name, self.space(), self.facts(), seed)

    def test_proposes_points_of_the_space(self) -> None:
        """Every setting is a tunable of the space with a value of its ladder."""
        strategy = self.make()
        ladders = {d.tunable.name: d.values for d in strategy.space.dimensions}
        assert [d.tunable for d in self.space().dimensions] == [
            d.tunable for d in strategy.space.dimensions
        ]
        proposals = play(strategy, _bowl, most=40)
        assert proposals
        for proposal in proposals:
            assert proposal.settings, "the default point is the baseline, not a proposal"
            for name, value in proposal.settings.items():
                assert value in ladders[name] or get(name).search.from_trials
            assert proposal.reason

    def test_never_repeats_a_point(self) -> None:
        """No point is proposed twice."""
        proposals = play(self.make(), _bowl)
        keys = {frozenset((n, repr(v)) for n, v in p.settings.items()) for p in proposals}
        assert len(keys) == len(proposals)

    def test_is_deterministic(self) -> None:
        """The same seed and answers give the same proposals."""
        assert play(self.make(7), _bowl, 40) == play(self.make(7), _bowl, 40)

    def test_survives_failures(self) -> None:
        """It goes on when every configuration fails, and ends."""
        strategy = self.make()
        play(strategy, lambda _: inf, most=40)

    def test_several_in_flight(self) -> None:
        """Points in flight are not asked again, and their outcomes come in any order."""
        strategy, random = self.make(), Random(3)
        in_flight: list[Proposal] = []
        asked: list[Proposal] = []
        while len(asked) < _MOST_POINTS:
            new = strategy.ask(4 - len(in_flight))
            asked += new
            in_flight += new
            if not in_flight:
                break
            proposal = in_flight.pop(random.randrange(len(in_flight)))
            ratio = _bowl(proposal.settings)
            strategy.tell(
                Trial(1, proposal.settings, Configuration(), io_ratio=ratio, elapsed_ratio=ratio)
            )
        assert len({repr(sorted(p.settings.items())) for p in asked}) == len(asked)
        assert len(asked) == _MOST_POINTS or strategy.finished_because

    def test_to_ask_for_several_is_to_ask_several_times(self) -> None:
        """A study that goes on may ask for other numbers at a time."""
        one, several = self.make(), self.make()
        assert [p for _ in range(3) for p in one.ask(1)] == several.ask(3)

    def test_says_why_it_ends(self) -> None:
        """`finished_because` is empty while there is more, and said at the end."""
        strategy = self.make()
        assert strategy.finished_because == ""
        proposals = play(strategy, lambda _: 1.0)
        if len(proposals) < _MOST_POINTS:
            assert strategy.finished_because
            assert strategy.ask(1) == []

    def test_empty_space(self) -> None:
        """Without tunables there is nothing to ask, and it says so."""
        strategy = create(self.strategy_name, Space((), {}), self.facts(), 1)
        assert strategy.ask(1) == []
        assert strategy.finished_because


def _bowl(settings: Mapping[str, Value]) -> float:
    """Answer by a fixed pseudo-random but smooth function of the settings."""
    ratio = 1.0
    for name, value in settings.items():
        ratio *= 0.8 + 0.4 * (crc32(f"{name}={value}".encode()) % 100) / 100
    return ratio
