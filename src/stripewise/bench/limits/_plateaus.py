# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads limits from the figures without a model: plateaus of rates, and metadata times."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from stripewise.bench.limits._cells import Limit, LimitCell
from stripewise.present import plural
from stripewise.storage.machines import Figure, FigureOrigin
from stripewise.storage.results import FIGURES

GROWS = 1.15
"""Growth with half as many nodes again below which a rate has reached a limit."""
STEP = 1.5
BOUND = 0.85
"""Share of the rate allowed by the lower limit below which another limit applies."""
Seconds = tuple[float, float, float]
"""Value, and the least and largest observed value."""
_UNKNOWN: Seconds = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Plateau:
    """Rate at which growth stops.

    Attributes:
        figure: Name in a description.
        value: Bytes or operations per second.
        low / high: Range of the observed rates.
        evidence: Keys of the cases on the plateau.
        reached: Whether the rate really stopped growing; otherwise the limit is higher.
        direct: Whether nothing else can have been the limit.
    """

    figure: str
    value: float
    low: float
    high: float
    evidence: tuple[str, ...]
    reached: bool
    direct: bool = False


def plateaus(cells: Sequence[LimitCell], way: str) -> Iterator[Plateau]:
    """Yield the rates of one process, one node, one target and the whole in one direction.

    Args:
        cells: Cells of data; those in doubt are left out.
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
    # Separate files on one selected target wait for nothing else, so they take precedence.
    on_chosen = chosen_target(chosen, way)
    if on_chosen:
        yield on_chosen[0]
    else:
        onto_one = [one for one in direct if _on_one_target(one)]
        yield from _saturated(f"servers.target_{way}", onto_one)
    yield from _saturated(f"servers.whole_{way}", [one for one in direct if one.is_alone])


def saturation(points: Iterable[tuple[float, float]]) -> float | None:
    """Return from where a rate no longer grows; None if it grows to the end, or is unknown.

    Args:
        points: Driving quantity (nodes, processes) and rate.
    """
    best: dict[float, float] = {}
    for place, rate in points:
        best[place] = max(rate, best.get(place, 0.0))
    if len(best) < 2:
        return None
    most, last = max(best.values()), max(best)
    first = min(place for place, rate in best.items() if rate * GROWS >= most)
    return first if last >= STEP * first else None


def chosen_target(cells: Sequence[LimitCell], way: str) -> tuple[Plateau, Seconds] | None:
    """Return the rate of a selected target, and the seconds of a request; 0 if unknown.

    The seconds per byte are 1 / rate + seconds of a request / bytes of a request: transfers of two
    sizes determine both.

    Args:
        cells: Cells of data.
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
        return (seen, _UNKNOWN) if seen else None
    there = _at_the_top(large, first)
    small = _at_the_top([one for one in pinned if _request_bytes(one) == sizes[0]], first)
    by_byte, request_seconds = _seconds_of_byte(there), _UNKNOWN
    if len(sizes) > 1 and small:
        by_small, apart = _seconds_of_byte(small), 1 / sizes[0] - 1 / sizes[-1]
        pairs = zip(by_small, (by_byte[0], by_byte[2], by_byte[1]), strict=True)
        value, low, high = (max((more - less) / apart, 0.0) for more, less in pairs)
        request_seconds = (value, low, high)
    rate = 1 / max(by_byte[0] - request_seconds[0] / sizes[-1], by_byte[0] / 2)
    low, high = (rate * by_byte[0] / seconds for seconds in (by_byte[2], by_byte[1]))
    keys = tuple(one.key for one in (*there, *(small if request_seconds[0] else ())))
    return Plateau(seen.figure, rate, low, high, keys, reached=True, direct=True), request_seconds


def _at_the_top(cells: Sequence[LimitCell], ranks: float) -> list[LimitCell]:
    """Return cells with enough ranks, without those in which too many files contend."""
    enough = [one for one in cells if one.case.ranks >= ranks]
    most = max((one.best for one in enough), default=0.0)
    return [one for one in enough if one.best * GROWS >= most]


def _seconds_of_byte(cells: Sequence[LimitCell]) -> Seconds:
    """Return the mean over all data, without delays by other users of the storage."""
    parts = [(one.case.ranks, 1 / rate) for one in cells for rate in one.undisturbed]
    mean = sum(ranks * seconds for ranks, seconds in parts) / sum(ranks for ranks, _ in parts)
    return mean, min(seconds for _, seconds in parts), max(seconds for _, seconds in parts)


def _request_bytes(cell: LimitCell) -> int:
    return cell.case.transfer_bytes or sys.maxsize


def _single(cells: Sequence[LimitCell]) -> list[LimitCell]:
    by_one = [one for one in cells if one.case.ranks == 1]
    return by_one or [one for one in cells if one.case.mode == "serial"]


def _on_one_target(cell: LimitCell) -> bool:
    shared = not cell.is_alone and cell.stripe_count == 1 and cell.case.mode != "serial"
    return shared or cell.pinned


def _below(group: Sequence[LimitCell], process: Plateau | None) -> bool:
    """Return whether the processes of a node together do less than their individual limits."""
    if not group:
        return False
    best = max(group, key=lambda one: one.best)
    if process and best.best < BOUND * process.value * best.case.ranks_per_node:
        return True
    return saturation((one.case.ranks_per_node, one.best) for one in group) is not None


def _highest(figure: str, group: Sequence[LimitCell], *, reached: bool) -> Plateau | None:
    if not group:
        return None
    most = max(one.best for one in group)
    there = [one for one in group if one.best * GROWS >= most]
    rates = [rate for one in there for rate in one.undisturbed]
    keys = tuple(one.key for one in there)
    return Plateau(figure, most, min(rates), max(rates), keys, reached)


def _saturated(figure: str, group: Sequence[LimitCell]) -> Iterator[Plateau]:
    """Yield the highest rate over nodes; it is the limit if more nodes do not increase it."""
    reached = saturation((one.case.nodes, one.best) for one in group) is not None
    found = _highest(figure, group, reached=reached)
    if found:
        yield found


# The metadata server: the time that it needs for an operation, and the latency to reach it.
#
# A single process waits for the latency and the server; many together wait only for the server.

_OPENS = ("metadata.create", "metadata.open")
_WORDS = {
    "metadata.create": "creates", "metadata.stat": "answers stat for",
    "metadata.open": "opens", "metadata.remove": "removes",
}  # fmt: skip
SOURCE = "told by the cases of metadata in a campaign"


@dataclass
class Server:
    """Limits of the metadata server from a campaign.

    Attributes:
        figures: Name to seconds, as in a description.
        limits: Operations per second; for the latency, seconds.
        undetermined: Figure to why it is unknown.
    """

    figures: dict[str, Figure] = field(default_factory=dict)
    limits: list[Limit] = field(default_factory=list)
    undetermined: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Service:
    """Seconds of one operation at the loaded server, for files with a number of stripes."""

    stripes: int
    seconds: float
    low: float
    high: float
    evidence: tuple[str, ...]


def server_limits(cells: Sequence[LimitCell], stripes_of: Mapping[int, int]) -> Server:
    """Infer the server's limits and the latency to reach it.

    Args:
        cells: Cells of a campaign.
        stripes_of: Number of stripes of files whose count is -1 (all targets) or 0 (unknown).
    """
    server, waits = Server(), list[tuple[float, str]]()
    for operation, figure in FIGURES.items():
        mine = _plain([one for one in cells if one.operation == operation])
        if not mine:
            continue
        found = _services(mine, stripes_of)
        if not found:
            most = max(mine, key=lambda one: one.best)
            server.undetermined[figure] = (
                f"the server was not loaded: {plural(most.case.ranks, 'process', 'processes')} "
                f"reached {most.best:,.0f} a second, and more would still be faster"
            )
            continue
        _tell(server, figure, found)
        waits += _waits(mine, found, stripes_of)
    if waits:
        _tell_way(server, waits)
    return server


def _plain(cells: list[LimitCell]) -> list[LimitCell]:
    """Return the cells of empty files in the processes' own directories, if there are any."""
    for test in (
        lambda one: not one.case.file_bytes,
        lambda one: one.case.sharing == "own",
        lambda one: not one.case.depth,
    ):
        cells = [one for one in cells if test(one)] or cells
    return cells


def _services(cells: Sequence[LimitCell], stripes_of: Mapping[int, int]) -> list[_Service]:
    """Return the times of a loaded server, by number of stripes."""
    groups: dict[int, list[LimitCell]] = {}
    for one in cells:
        stripes = stripes_of.get(one.stripe_count, one.stripe_count)
        groups.setdefault(stripes, []).append(one)
    found = []
    for stripes, group in sorted(groups.items()):
        if not _is_loaded(group):
            continue
        most = max(one.best for one in group)
        there = [one for one in group if one.best * GROWS >= most]
        rates = [rate for one in there for rate in one.undisturbed]
        keys = tuple(one.key for one in there)
        middle = median(one.best for one in there)
        found.append(_Service(stripes, 1 / middle, 1 / max(rates), 1 / min(rates), keys))
    return found


def _is_loaded(group: Sequence[LimitCell]) -> bool:
    """Return whether the server limits most processes, not the latency to reach it."""
    points = {one.case.ranks: 0.0 for one in group}
    for one in group:
        points[one.case.ranks] = max(points[one.case.ranks], one.best)
    if saturation(points.items()) is not None:
        return True
    if 1 not in points or len(points) < 3:
        return False
    *_, before, last = sorted(points)
    waits = points[last] < 0.5 * last * points[1]
    return waits and points[last] / points[before] < 1 + 0.5 * (last / before - 1)


def _tell(server: Server, figure: str, found: Sequence[_Service]) -> None:
    first, last = found[0], found[-1]
    own = 0.0
    if figure in _OPENS and last.stripes > first.stripes:
        own = max((last.seconds - first.seconds) / (last.stripes - first.stripes), 0.0)
        if figure == _OPENS[0] and own > 0:
            _tell_object(server, own, first, last)
    service = max(first.seconds - own * first.stripes, first.seconds / 10)
    factor = service / first.seconds
    low, high = first.low * factor, first.high * factor
    server.figures[figure] = _figure(service, low, high)
    of = f"files of {plural(first.stripes, 'stripe')}" if figure in _OPENS else "files"
    text = f"The metadata server {_WORDS[figure]} at most {1 / first.seconds:,.0f} {of} a second"
    if own > 0:
        text += f", and {1 / last.seconds:,.0f} of {plural(last.stripes, 'stripe')}"
    rates = (1 / service, 1 / high, 1 / low)
    server.limits.append(Limit(figure, *rates, evidence=first.evidence, sentence=f"{text}."))


def _tell_object(server: Server, own: float, first: _Service, last: _Service) -> None:
    apart = last.stripes - first.stripes
    low = max((last.low - first.high) / apart, 0.0)
    server.figures["metadata.object"] = _figure(own, low, (last.high - first.low) / apart)


def _waits(
    cells: Sequence[LimitCell], found: Sequence[_Service], stripes_of: Mapping[int, int]
) -> list[tuple[float, str]]:
    """Return how much longer a single process waits than the server works."""
    served = {one.stripes: one.seconds for one in found}
    return [
        (1 / one.best - served[stripes], one.key)
        for one in cells
        for stripes in [stripes_of.get(one.stripe_count, one.stripe_count)]
        if one.case.ranks == 1 and stripes in served
    ]


def _tell_way(server: Server, waits: Sequence[tuple[float, str]]) -> None:
    seconds = [one for one, _ in waits]
    value = median(seconds)
    if value <= 0:
        return
    low, high = max(min(seconds), 0.0), max(seconds)
    server.figures["metadata.latency"] = _figure(value, low, high)
    keys = tuple(dict.fromkeys(key for _, key in waits))
    text = (
        f"One process alone waits {value * 1e3:.2g} ms for each round trip to the metadata "
        f"server, so it makes at most {1 / value:,.0f} operations a second."
    )
    server.limits.append(Limit("metadata.latency", value, low, high, keys, text))


def _figure(value: float, low: float, high: float) -> Figure:
    numbers = (float(f"{one:.4g}") for one in (value, min(low, value), max(high, value)))
    middle, least, most = numbers
    return Figure(middle, FigureOrigin.MEASURED, SOURCE, least, most)
