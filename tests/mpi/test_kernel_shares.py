# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who owns which element, against maps that are computed here by other means."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_drivers import Drivers
from numpy.typing import NDArray

Owners: TypeAlias = NDArray[np.int64]

pytestmark = pytest.mark.mpi

# A pattern for each number of dimensions, and the dimensions of each of its shapes.
PATTERNS = {
    1: ("vpic", [(0,)]),
    3: ("array3d", [(0, 1, 2)]),
    4: ("flash", [(0, 1, 2, 3)]),
    2: ("wrf", [(0, 1, 2), (1, 2)]),  # its second shape has two dimensions
}


class Oracle:
    """The running program: a line in, a line out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, n_ranks: int, words: str) -> list[str]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{n_ranks} {words}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n").split("|")


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def oracle(
    request: pytest.FixtureRequest, drivers_of: Callable[[str], Drivers]
) -> Iterator[Oracle]:
    program = drivers_of(request.param).program("share_owners.c")
    with subprocess.Popen(
        [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Oracle(process)


@dataclass(frozen=True)
class Cut:
    """How one dimension is dealt out."""

    extent: int
    parts: int
    kind: str  # as in --distribution, without the number
    length: int  # 0: no number

    def __str__(self) -> str:
        return f"{self.kind}({self.length})" if self.length else self.kind

    def owners(self) -> Owners:
        """The part of each index, (extent,) int."""
        index = np.arange(self.extent)
        if self.kind == "*":
            return np.zeros_like(index)
        if self.kind.upper() == "CYCLIC":
            return index // (self.length or 1) % self.parts
        if self.length:
            return index // self.length
        parts = np.array_split(index, self.parts)
        return np.repeat(np.arange(self.parts), [len(part) for part in parts])


def owner_map(cuts: Sequence[Cut], dims: Sequence[int]) -> Owners:
    """The rank of each element of the shape with these dimensions, in C order."""
    places = [
        cut.owners() if d in dims else np.zeros(1, dtype=np.int64) for d, cut in enumerate(cuts)
    ]
    grid = np.meshgrid(*places, indexing="ij")
    ranks: Owners = np.ravel_multi_index(
        tuple(part.ravel() for part in grid), tuple(cut.parts for cut in cuts)
    )
    return ranks


@st.composite
def cut_of(draw: st.DrawFn, longest: int) -> Cut:
    extent = draw(st.integers(1, longest))
    kind = draw(st.sampled_from(["BLOCK", "block", "CYCLIC", "Cyclic", "*"]))
    if kind == "*":
        return Cut(extent, 1, kind, 0)
    parts = draw(st.integers(1, 4))
    least = -(-extent // parts) if kind.upper() == "BLOCK" else 1
    return Cut(extent, parts, kind, draw(st.just(0) | st.integers(least, least + 4)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[Cut]]:
    key = draw(st.sampled_from(sorted(PATTERNS)))
    n_dims = {2: 3}.get(key, key)
    longest = {1: 60, 3: 13, 4: 7}[n_dims]
    return key, [draw(cut_of(longest)) for _ in range(n_dims)]


@pytest.mark.extended(keep=1)
@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(case=cases(), halo=st.integers(0, 2))
def test_every_element_has_the_right_owner(
    oracle: Oracle, case: tuple[int, list[Cut]], halo: int
) -> None:
    key, cuts = case
    pattern, shapes = PATTERNS[key]
    words = f"--pattern {pattern} --type int64 --halo {halo}"
    words += " --size " + ",".join(str(cut.extent) for cut in cuts)
    words += " --grid " + ",".join(str(cut.parts) for cut in cuts)
    words += " --distribution " + ",".join(str(cut) for cut in cuts)
    verdict, *answers = oracle.ask(int(np.prod([cut.parts for cut in cuts])), words)
    assert verdict == "ok", answers
    assert len(answers) == len(shapes)
    for answer, dims in zip(answers, shapes, strict=True):
        np.testing.assert_array_equal(np.array(answer.split(), dtype=int), owner_map(cuts, dims))


@pytest.mark.extended(keep=2)
@pytest.mark.parametrize("pattern", ["vpic", "vorpal", "gcrm", "wrf", "array3d", "flash", "btio"])
def test_a_grid_is_found_for_any_number_of_ranks(oracle: Oracle, pattern: str) -> None:
    local = {"vpic": "7", "flash": "2,2,1,2"}.get(pattern, "2,3,2")
    for n_ranks in range(1, 25):
        verdict, *answers = oracle.ask(
            n_ranks, f"--pattern {pattern} --local {local} --type int64 --halo 0"
        )
        assert verdict == "ok", answers
        counts = np.bincount(np.array(answers[0].split(), dtype=int), minlength=n_ranks)
        assert counts.min() == counts.max() if pattern != "btio" else counts.min() > 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_btio_is_even_and_large_extents_have_right_views(
    family: str, drivers_of: Callable[[str], Drivers]
) -> None:
    program = drivers_of(family).program("check_domains.c")
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "every element has one owner\n"


@pytest.mark.extended(keep=1)
def test_a_part_that_an_int_cannot_count_is_refused(oracle: Oracle) -> None:
    verdict, reason = oracle.ask(2, "--pattern vpic --size 8589934592")
    assert verdict == "no"
    assert "too large" in reason


@pytest.mark.extended(keep=1)
def test_what_cannot_be_dealt_out_is_told(oracle: Oracle) -> None:
    for n_ranks, words, said in [
        (2, "--distribution *,*,*", "gives everything to one of 2 ranks"),
        (2, "--grid 2,1,1 --distribution *,BLOCK,BLOCK", "does not cut dimension 1 (*)"),
        (2, "--size 9,1,1 --distribution BLOCK(4),*,*", "BLOCK(4) has room for 8 of the 9"),
        (1, "--distribution BLOCK,BLOCK", "--distribution has 2 number(s)"),
        (1, "--distribution BLOCK,ROUND,*", "--distribution 'BLOCK,ROUND,*': give BLOCK"),
        (1, "--distribution BLOCK(0),*,*", "--distribution 'BLOCK(0),*,*': give BLOCK"),
        (1, "--distribution CYCLIC(2,*,*", "--distribution 'CYCLIC(2,*,*': give BLOCK"),
        (1, "--distribution *,*,*,*,*", "--distribution '*,*,*,*,*': give BLOCK"),
        (1, "--pattern btio --distribution *,*,BLOCK", "pattern btio makes its own"),
        (1, "--type short", "--type 'short': give int64, double or float"),
        (1, "--node-ranks 2", "it needs --layout per-node"),
        (1, "--backend mpiio --mode serial", "leave out --mode serial, or use posix"),
        (1, "--backend hdf5 --layout per-node", "leave out --layout per-node, or use posix"),
        (1, "--backend posix --mode serial --layout per-node", "leave out --layout"),
    ]:
        verdict, reason = oracle.ask(n_ranks, words)
        assert verdict == "no"
        assert said in reason
