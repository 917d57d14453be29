# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every software stack must do; subclass it and name one.

class TestRomio(StackSuite):
    stack_name = "romio"
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.settings.tunables import all_tunables
from stripewise.storage.stacks import Layout, Phase, Requests, Setup, Stack, Workload, find_stack

MIB = 1 << 20


def block_pattern(
    grid: tuple[int, ...], block: tuple[int, ...], kind: str = "BLOCK", **other: object
) -> Pattern:
    """Return an array of doubles that a grid of processes writes together."""
    ranks = math.prod(grid)
    plain: dict[str, object] = {"writing": True, "collective": 1.0, "element_bytes": 8}
    return Pattern(
        "suite.dat", "array", kind=PatternKind.DISTRIBUTED,
        distributions=tuple(Distribution(kind, int(kind == "CYCLIC")) for _ in grid), block=block,
        grid=grid, extents=tuple(n * m for n, m in zip(grid, block, strict=True)),
        n_ranks=ranks, active_ranks=ranks, **{**plain, **other},  # type: ignore[arg-type]
    )  # fmt: skip


def small_workloads() -> Iterable[Workload]:
    """Return workloads of 8 ranks on 4 nodes: in and out, together and alone, several shapes."""
    shapes = [((8,), (1000,)), ((4, 2), (30, 50)), ((2, 2, 2), (8, 8, 8))]
    for grid, block in shapes:
        for kind in ("BLOCK", "CYCLIC"):
            for writing in (True, False):
                for collective in (1.0, 0.0):
                    pattern = block_pattern(
                        grid, block, kind, writing=writing, collective=collective, source="view"
                    )
                    yield Workload((pattern,), 4, 2)


def sums(phases: Iterable[Phase], writing: bool) -> tuple[float, float]:
    """Return how many requests phases have in one direction, and their bytes."""
    count = size = 0.0
    for phase in phases:
        for flow in phase.flows:
            if flow.writing == writing:
                number = phase.repeats * flow.processes * flow.count
                count, size = count + number, size + number * flow.size
    return count, size


class StackSuite:
    """Conformance suite; set `stack_name`.

    Attributes:
        settings: Under which the stack is looked at.
        tolerance: How far the sums of classes may be from those of the requests, relatively.
    """

    stack_name: str
    settings: Mapping[str, Value] = {}
    tolerance = 1e-6

    @property
    def stack(self) -> Stack:
        """The stack."""
        return find_stack(self.stack_name)

    def setup(self, nodes: int = 4) -> Setup:
        """Return stripes smaller than the data, so that there are several rounds."""
        return Setup(Layout(3, 4096, 8), self.settings, nodes)

    def requests(self, work: Workload) -> Requests | None:
        """Return all requests; None if the stack cannot tell them."""
        try:
            return self.stack.requests(work, self.setup(work.nodes))
        except UsageError:
            return None

    def test_says_what_it_is(self) -> None:
        """It has a name, a line for people, and looks at tunables that exist."""
        known = {tunable.name for tunable in all_tunables()}
        assert self.stack.name == self.stack_name
        assert self.stack.summary
        assert "\n" not in self.stack.summary
        assert self.stack.tunables <= known, self.stack.tunables - known

    def test_classes_have_the_sums_of_the_requests(self) -> None:
        """Both answers agree on how many requests there are, and on their bytes."""
        for work in small_workloads():
            single = self.requests(work)
            if single is None:
                continue
            phases = self.stack.phases(work, self.setup())
            for writing in (True, False):
                mine = single["size"][single["writing"] == writing]
                expected = np.array([mine.size, mine.sum()], float)
                found = np.array(sums(phases, writing))
                assert np.allclose(found, expected, rtol=self.tolerance), work.patterns[0]

    def test_what_is_written_reaches_the_file(self) -> None:
        """Requests write at least what the program does, and say it in order."""
        for work in small_workloads():
            found = self.requests(work)
            if found is None or not found.size:
                continue
            pattern = work.patterns[0]
            asked = math.prod(pattern.extents) * pattern.element_bytes
            ways = found["writing"] == pattern.writing
            assert found["size"][ways].sum() >= asked
            assert (found["size"] >= 0).all()
            assert (found["offset"] >= 0).all()
            assert set(np.unique(found["rank"])) <= set(range(work.ranks))
            rank, order = found["rank"], found["order"]
            assert (np.diff(rank) >= 0).all()
            assert (order == np.arange(order.size) - np.searchsorted(rank, rank)).all()

    def test_shares_and_numbers_are_possible(self) -> None:
        """No flow has more processes, nodes or objects than there are."""
        for work in small_workloads():
            layout = self.setup().layout
            for phase in self.stack.phases(work, self.setup()):
                assert phase.repeats > 0
                for flow in phase.flows:
                    assert 0 < flow.processes <= work.ranks, flow
                    assert 0 < flow.nodes <= min(work.nodes, flow.processes), flow
                    assert 0 < flow.objects <= layout.stripe_count, flow
                    assert 0 <= flow.handovers <= 1, flow
                    assert 0 <= flow.shared_pages <= 1, flow
                    assert flow.writer_nodes <= work.nodes, flow

    def test_more_steps_make_more_of_the_same(self) -> None:
        """A pattern of 200 steps moves 200 times the bytes of one."""
        for collective in (1.0, 0.0):
            one = block_pattern((8,), (512,), collective=collective)
            many = replace(one, steps=200)
            single, several = (
                sums(self.stack.phases(Workload((p,), 4, 2), self.setup()), True)[1]
                for p in (one, many)
            )
            extra = 64 << 10  # of headers
            assert abs(several - 200 * single) <= 200 * extra
            assert several >= 200 * math.prod(one.extents) * 8 * (1 - self.tolerance)

    def test_nothing_to_do(self) -> None:
        """An empty pattern makes no requests for data."""
        empty = replace(
            block_pattern((8,), (512,)),
            kind=PatternKind.EMPTY,
            distributions=(),
            grid=(),
            extents=(),
        )
        phases = self.stack.phases(Workload((empty,), 4, 2), self.setup())
        assert sums(phases, True)[1] <= 4096

    def test_irregular_patterns_are_refused(self) -> None:
        """One line says what cannot be simulated."""
        odd = replace(block_pattern((8,), (512,)), kind=PatternKind.IRREGULAR, distributions=())
        said = ""
        try:
            self.stack.phases(Workload((odd,), 4, 2), self.setup())
        except UsageError as error:
            said = str(error)
        assert said
        assert "\n" not in said

    def test_100000_ranks_take_milliseconds(self) -> None:
        """The cost of a call does not grow with the number of ranks."""
        for nodes in (10, 6250):
            work = Workload((block_pattern((nodes, 4, 4), (64, 64, 64)),), nodes, 16)
            self.stack.phases(work, self.setup(nodes))
            begin = time.process_time()  # what others do on the host is not counted
            self.stack.phases(work, self.setup(nodes))
            assert time.process_time() - begin < 0.1
