# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Limits read off the figures themselves, without a model: where a rate stops growing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stripewise.bench._limit_cells import Cell

GROWS = 1.15
"""A rate that grows by less with half as many again of what drives it has reached a limit."""
STEP = 1.5
BOUND = 0.85
"""Of what the limit below would allow: below that, another one binds."""
Seconds = tuple[float, float, float]
"""Value, and the least and the most of what was seen."""
_UNTOLD: Seconds = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Plateau:
    """Where a rate stops growing.

    Attributes:
        figure: Name in a description.
        value: Bytes or operations a second.
        low / high: Range of what was seen there.
        evidence: Keys of the cases on it.
        reached: Whether the rate really stopped growing; otherwise the limit is higher.
        direct: Nothing else can have been the limit.
    """

    figure: str
    value: float
    low: float
    high: float
    evidence: tuple[str, ...]
    reached: bool
    direct: bool = False


def plateaus(cells: Sequence[Cell], way: str) -> Iterator[Plateau]:
    """Yield what one process, one node, one target and all of it do in one direction.

    Args:
        cells: Of data; those in doubt are left out.
        way: "write" or "read".
    """
    chosen = [one for one in cells if one.operation == way and not one.doubt]
    direct = [one for one in chosen if one.case.backend == "posix"] or chosen
    process = _highest(f"client.process_{way}", _single(direct), reached=True)
    if process:
        yield process
    on_node = [one for one in direct if one.case.nodes == 1 and one.case.ranks_per_node > 1
               and one.case.mode != "serial"]  # fmt: skip
    into_one = [one for one in on_node if not one.is_alone and one.stripe_count != 1]
    alone = [one for one in on_node if one.is_alone and not one.pinned]
    for figure, group in ((f"client.file_{way}", into_one), (f"client.node_{way}", alone)):
        found = _highest(figure, group, reached=_below(group, process))
        if found:
            yield found
    # Files of their own on one chosen target wait for nothing else: they count before others.
    on_chosen = chosen_target(chosen, way)
    if on_chosen:
        yield on_chosen[0]
    else:
        onto_one = [one for one in direct if _on_one_target(one)]
        yield from _saturated(f"servers.target_{way}", onto_one)
    yield from _saturated(f"servers.whole_{way}", [one for one in direct if one.is_alone])


def saturation(points: Iterable[tuple[float, float]]) -> float | None:
    """Return from where a rate no longer grows; None: it grows to the end, or nobody knows.

    Args:
        points: What drives it (nodes, processes), and the rate.
    """
    best: dict[float, float] = {}
    for place, rate in points:
        best[place] = max(rate, best.get(place, 0.0))
    if len(best) < 2:
        return None
    most, last = max(best.values()), max(best)
    first = min(place for place, rate in best.items() if rate * GROWS >= most)
    return first if last >= STEP * first else None


def chosen_target(cells: Sequence[Cell], way: str) -> tuple[Plateau, Seconds] | None:
    """Return what a chosen target does, and the seconds that a request costs it; 0: untold.

    Its seconds for a byte are 1 / rate + seconds of a request / bytes of a request: transfers of
    two sizes tell both.

    Args:
        cells: Of data.
        way: "write" or "read".
    """
    pinned = [
        one for one in cells
        if one.pinned and one.operation == way and one.case.backend == "posix" and not one.doubt
    ]  # fmt: skip
    sizes = sorted({_request_bytes(one) for one in pinned})
    if not sizes:
        return None
    large = [one for one in pinned if _request_bytes(one) == sizes[-1]]
    first = saturation((one.case.ranks, one.best) for one in large)
    seen = _highest(f"servers.target_{way}", large, reached=first is not None)
    if seen is None or first is None:
        return (seen, _UNTOLD) if seen else None
    there = _at_the_top(large, first)
    small = _at_the_top([one for one in pinned if _request_bytes(one) == sizes[0]], first)
    by_byte, asked = _seconds_of_byte(there), _UNTOLD
    if len(sizes) > 1 and small:
        by_small, apart = _seconds_of_byte(small), 1 / sizes[0] - 1 / sizes[-1]
        pairs = zip(by_small, (by_byte[0], by_byte[2], by_byte[1]), strict=True)
        value, low, high = (max((more - less) / apart, 0.0) for more, less in pairs)
        asked = (value, low, high)
    rate = 1 / max(by_byte[0] - asked[0] / sizes[-1], by_byte[0] / 2)
    low, high = (rate * by_byte[0] / seconds for seconds in (by_byte[2], by_byte[1]))
    keys = tuple(one.key for one in (*there, *(small if asked[0] else ())))
    return Plateau(seen.figure, rate, low, high, keys, reached=True, direct=True), asked


def _at_the_top(cells: Sequence[Cell], ranks: float) -> list[Cell]:
    """Return cells of enough ranks, without those in which too many files contend."""
    enough = [one for one in cells if one.case.ranks >= ranks]
    most = max((one.best for one in enough), default=0.0)
    return [one for one in enough if one.best * GROWS >= most]


def _seconds_of_byte(cells: Sequence[Cell]) -> Seconds:
    """Return the mean over all that was moved, without what others on the storage cost."""
    parts = [(one.case.ranks, 1 / rate) for one in cells for rate in one.undisturbed]
    mean = sum(ranks * seconds for ranks, seconds in parts) / sum(ranks for ranks, _ in parts)
    return mean, min(seconds for _, seconds in parts), max(seconds for _, seconds in parts)


def _request_bytes(cell: Cell) -> int:
    return cell.case.transfer_bytes or sys.maxsize


def _single(cells: Sequence[Cell]) -> list[Cell]:
    by_one = [one for one in cells if one.case.ranks == 1]
    return by_one or [one for one in cells if one.case.mode == "serial"]


def _on_one_target(cell: Cell) -> bool:
    shared = not cell.is_alone and cell.stripe_count == 1 and cell.case.mode != "serial"
    return shared or cell.pinned


def _below(group: Sequence[Cell], process: Plateau | None) -> bool:
    """Whether the processes of a node together do less than each by itself would let them."""
    if not group:
        return False
    best = max(group, key=lambda one: one.best)
    if process and best.best < BOUND * process.value * best.case.ranks_per_node:
        return True
    return saturation((one.case.ranks_per_node, one.best) for one in group) is not None


def _highest(figure: str, group: Sequence[Cell], *, reached: bool) -> Plateau | None:
    if not group:
        return None
    most = max(one.best for one in group)
    there = [one for one in group if one.best * GROWS >= most]
    rates = [rate for one in there for rate in one.undisturbed]
    keys = tuple(one.key for one in there)
    return Plateau(figure, most, min(rates), max(rates), keys, reached)


def _saturated(figure: str, group: Sequence[Cell]) -> Iterator[Plateau]:
    """Yield the highest rate over nodes; it is the limit if more nodes do not get more."""
    reached = saturation((one.case.nodes, one.best) for one in group) is not None
    found = _highest(figure, group, reached=reached)
    if found:
        yield found
