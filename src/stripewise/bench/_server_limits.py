# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The metadata server: how long it needs for an operation, and how long the way to it takes.

One process alone waits for its way and the server; many together wait for the server alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from stripewise.bench._limit_cells import METADATA, Cell
from stripewise.bench._limits import Limit
from stripewise.bench._plateaus import GROWS, saturation
from stripewise.machines import Evidence, Figure
from stripewise.text import plural

_OPENS = ("metadata.create", "metadata.open")
_WORDS = {
    "metadata.create": "creates", "metadata.stat": "answers stat for",
    "metadata.open": "opens", "metadata.remove": "removes",
}  # fmt: skip
SOURCE = "told by the cases of metadata in a campaign"


@dataclass
class Server:
    """What a campaign tells of the metadata server.

    Attributes:
        figures: Name -> seconds, as a description has them.
        limits: Operations a second; of the way, seconds.
        untold: Figure -> why it is not told.
    """

    figures: dict[str, Figure] = field(default_factory=dict)
    limits: list[Limit] = field(default_factory=list)
    untold: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Service:
    """Seconds of one operation at the loaded server, for files of so many stripes."""

    stripes: int
    seconds: float
    low: float
    high: float
    evidence: tuple[str, ...]


def server_limits(cells: Sequence[Cell], stripes_of: Mapping[int, int]) -> Server:
    """Tell the server's limits and the way to it.

    Args:
        cells: Of a campaign.
        stripes_of: -1 (all targets) and 0 (not known) -> stripes of such files.
    """
    server, waits = Server(), list[tuple[float, str]]()
    for operation, figure in METADATA.items():
        mine = _plain([one for one in cells if one.operation == operation])
        if not mine:
            continue
        found = _services(mine, stripes_of)
        if not found:
            most = max(mine, key=lambda one: one.best)
            server.untold[figure] = (
                f"the server was not loaded: {plural(most.case.ranks, 'process', 'processes')} "
                f"reached {most.best:,.0f} a second, and more would still be faster"
            )
            continue
        _tell(server, figure, found)
        waits += _waits(mine, found, stripes_of)
    if waits:
        _tell_way(server, waits)
    return server


def _plain(cells: list[Cell]) -> list[Cell]:
    """Return the cells of empty files in directories of the processes' own, if there are any."""
    for test in (
        lambda one: not one.case.file_bytes,
        lambda one: one.case.sharing == "own",
        lambda one: not one.case.depth,
    ):
        cells = [one for one in cells if test(one)] or cells
    return cells


def _services(cells: Sequence[Cell], stripes_of: Mapping[int, int]) -> list[_Service]:
    """Return what a loaded server needs, by number of stripes."""
    groups: dict[int, list[Cell]] = {}
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


def _is_loaded(group: Sequence[Cell]) -> bool:
    """Whether the server is the limit of the most processes, and not their way to it."""
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
    cells: Sequence[Cell], found: Sequence[_Service], stripes_of: Mapping[int, int]
) -> list[tuple[float, str]]:
    """Return how much longer a process alone waits than the server works."""
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
        f"One process alone waits {value * 1e3:.2g} ms for the way to the metadata server and "
        f"back, so that it does at most {1 / value:,.0f} operations a second."
    )
    server.limits.append(Limit("metadata.latency", value, low, high, keys, text))


def _figure(value: float, low: float, high: float) -> Figure:
    numbers = (float(f"{one:.4g}") for one in (value, min(low, value), max(high, value)))
    middle, least, most = numbers
    return Figure(middle, Evidence.MEASURED, SOURCE, least, most)
