# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long it takes to find the pattern of 10^4, 10^5 and 10^6 ranks.

    python benchmarks/pattern_analysis.py [--repeats N]

For each pattern it prints the seconds (the least of N), and the exponent between the smallest and
the largest number of ranks (1 is linear).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np

from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.trace import Pieces, Selections

RANKS = (10_000, 100_000, 1_000_000)
Maker = Callable[[int], Selections | Pieces]


def selections(start: np.ndarray, count: np.ndarray, extents: tuple[int, ...]) -> Selections:
    """Return plain blocks, one per rank."""
    n = len(start)
    ones = np.ones_like(start)
    return Selections(
        file="out.h5", dataset="/data", extents=extents, element_bytes=8, writing=True,
        rank=np.arange(n), start=start, stride=ones, count=np.broadcast_to(count, start.shape),
        block=ones, order=np.zeros(n, np.int64), collective=np.ones(n, bool), n_ranks=n,
    )  # fmt: skip


def pieces(
    offset: np.ndarray, size: int, times: tuple[int, int], steps: tuple[int, int]
) -> Pieces:
    """Return the rows of a 3-D block, folded, one record per rank."""
    n = len(offset)
    full = np.ones(n, np.int64)
    return Pieces(
        file="out.dat", writing=True, rank=np.arange(n), offset=offset, size=full * size,
        repeat=full * times[0] * times[1], inner=np.tile((times[0], 0), (n, 1)),
        stride=np.tile((steps[0], steps[1], 0), (n, 1)), order=0 * full,
        collective=np.ones(n, bool), call=np.arange(n), n_ranks=n, source="view",
    )  # fmt: skip


def grid_of(n: int) -> tuple[int, int, int]:
    """Return three factors, close to each other, whose product is n."""
    a = max(d for d in range(1, round(n ** (1 / 3)) + 1) if n % d == 0)
    b = max(d for d in range(1, math.isqrt(n // a) + 1) if n // a % d == 0)
    return n // a // b, b, a


def places(n: int) -> np.ndarray:
    """Return the coordinates of ranks in a 3-D grid."""
    return np.stack(np.unravel_index(np.arange(n), grid_of(n)), axis=1)


def block_1d(n: int) -> Selections:
    """Return the pattern of VPIC."""
    return selections(np.arange(n)[:, None] * 8388608, np.array([8388608]), (n * 8388608,))


def block_3d(n: int) -> Selections:
    """Return the pattern of VORPAL."""
    block = np.array((60, 100, 300))
    return selections(places(n) * block, block, tuple((np.array(grid_of(n)) * block).tolist()))


def uneven_3d(n: int) -> Selections:
    """Return blocks whose lengths differ by one."""
    grid, where = np.array(grid_of(n)), places(n)
    extents = grid * 61 - grid // 2
    low, rest = extents // grid, extents % grid
    start = where * low + np.minimum(where, rest)
    return selections(start, low + (where < rest), tuple(extents.tolist()))


def one_deviates(n: int) -> Selections:
    """Return the pattern of VPIC with one rank that deviates."""
    access = block_1d(n)
    access.start[n // 2] += 12345
    return access


def two_steps(n: int) -> Selections:
    """Return a pattern in which every rank writes its block in two parts."""
    one = block_3d(n)
    start = np.repeat(one.start, 2, axis=0)
    start[1::2, 0] += 30
    count = np.array((30, 100, 300))
    found = selections(start, count, one.extents)
    return Selections(**{**vars(found), "rank": np.repeat(one.rank, 2), "n_ranks": n})


def view_3d(n: int) -> Pieces:
    """Return the pattern of VORPAL through file views."""
    block = np.array((60, 100, 300))
    _, n1, n2 = (np.array(grid_of(n)) * block).tolist()
    start = places(n) * block
    offset = ((start[:, 0] * n1 + start[:, 1]) * n2 + start[:, 2]) * 8
    return pieces(offset, 300 * 8, (100, 60), (n2 * 8, n1 * n2 * 8))


def scattered(n: int) -> Selections:
    """Return accesses without a pattern."""
    start = np.random.default_rng(1).integers(0, n * 1000, (n, 2))
    return selections(start, np.array([3, 5]), (n * 1000 + 9,) * 2)


MAKERS: dict[str, Maker] = {
    "1-D blocks": block_1d,
    "3-D blocks": block_3d,
    "3-D, uneven": uneven_3d,
    "1-D, one deviates": one_deviates,
    "3-D, two steps": two_steps,
    "3-D, file views": view_3d,
    "scattered": scattered,
}


def seconds_of(access: Selections | Pieces, repeats: int) -> tuple[float, str]:
    """Return the least time to find the pattern, and the pattern."""
    times, notation = [], ""
    for _ in range(repeats):
        begin = time.perf_counter()
        (pattern,) = find_patterns([access])
        times.append(time.perf_counter() - begin)
        notation = pattern.notation
    return min(times), notation


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(f"{'pattern':20}" + "".join(f"{n:>12,}" for n in RANKS) + "  exponent  found")
    for name, make in MAKERS.items():
        found = [seconds_of(make(n), repeats) for n in RANKS]
        times = [seconds for seconds, _ in found]
        exponent = math.log(times[-1] / times[0]) / math.log(RANKS[-1] / RANKS[0])
        row = "".join(f"{seconds:>10.3f} s" for seconds in times)
        print(f"{name:20}{row}  {exponent:8.2f}  {found[-1][1]}")


if __name__ == "__main__":
    main()
