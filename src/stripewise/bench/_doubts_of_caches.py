# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether memory answered instead of the storage: "difficult to interpret (caching?)"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stripewise.bench._case import Case
from stripewise.bench._figures import CaseFigures
from stripewise.bench._sample import CaseRun
from stripewise.text import format_ratio, plural, size_text

ENOUGH = 2.0
"""Times the memory of the nodes that a run has to move so that caches cannot hold it."""
_FASTER = 4.0
"""Reads that are as many times as fast as the writes are suspicious.  Assumed: of the tables of
published campaigns, reads are at most 1.4 times as fast."""
_GROWS = 0.8
"""Exponent of the rate over the nodes above which nothing but their number limits it."""
_COLD = 0.5
"""A first run with less than that share of all others was alone in finding things cold."""
_COLD_CASES = 5
"""It says something only where one case in so many has it: one alone is an outlier."""


@dataclass(frozen=True)
class Memory:
    """What is known of caches.

    Attributes:
        node_bytes: Memory of a node; 0: not known.
        none: The storage is emulated or simulated: memory does not answer for it.
    """

    node_bytes: float = 0.0
    none: bool = False


def caching(
    figures: Sequence[CaseFigures], memory: Memory, by_case: Mapping[str, Sequence[CaseRun]]
) -> list[list[str]]:
    """Return of each figure why caches may have made it."""
    lines = _lines(figures)
    cold = sum(one.of_data and _is_cold(one) for one in figures)
    several_cold = cold * _COLD_CASES >= len(figures)
    found: list[list[str]] = []
    for one in figures:
        if not one.of_data or memory.none:
            found.append([])
            continue
        moved = _moved(one, by_case[one.case.key])
        small = not (memory.node_bytes and moved >= ENOUGH * memory.node_bytes * one.case.nodes)
        texts = list(_unsynced(one, memory, moved) if small else ())
        texts += _own_cache(one, memory, moved) if small else ()
        texts += _reads_that_grow(one, lines)
        texts += [_cold_start(one)] if several_cold and _is_cold(one) else []
        found.append(texts)
    return found


def _moved(one: CaseFigures, runs: Sequence[CaseRun]) -> float:
    """Return the least bytes of a run."""
    return min(
        s.amount
        for run in runs
        for s in run.samples
        if s.operation == one.operation and run.status == "ok"
    )


def _against(one: CaseFigures, memory: Memory, moved: float) -> str:
    """Return how the bytes of a run compare with the memory, for people."""
    if not memory.node_bytes:
        return f"{size_text(round(moved))} (the memory of the nodes is not known)"
    whole = memory.node_bytes * one.case.nodes
    return (
        f"{size_text(round(moved))}, with a memory of {size_text(round(whole))} in "
        f"{plural(one.case.nodes, 'node')}"
    )


def _unsynced(one: CaseFigures, memory: Memory, moved: float) -> Iterator[str]:
    if one.operation == "write" and not one.case.sync:
        yield (
            f"It wrote {_against(one, memory, moved)}, without a sync: data may have been in "
            "memory when the clock stopped; set sync = true."
        )


def _own_cache(one: CaseFigures, memory: Memory, moved: float) -> Iterator[str]:
    case = one.case
    if one.operation != "read" or case.cache in ("drop", "direct"):
        return
    if case.cache == "none" or case.ranks == 1:
        who = "The ranks that wrote the data read it"
    elif case.nodes == 1:
        who = "The node that wrote the data read it"
    else:
        return
    yield (
        f"{who}, {_against(one, memory, moved)}: its memory may have answered; set cache = "
        '"drop", take more nodes, or move at least twice the memory.'
    )


def _lines(figures: Sequence[CaseFigures]) -> dict[tuple[Case, str], dict[int, CaseFigures]]:
    """Return the curves: of cases that differ in their nodes only, each number of nodes."""
    lines: dict[tuple[Case, str], dict[int, CaseFigures]] = {}
    for one in figures:
        if one.of_data:
            lines.setdefault(_line(one, one.operation), {})[one.case.nodes] = one
    return lines


def _line(one: CaseFigures, operation: str) -> tuple[Case, str]:
    return replace(one.case, nodes=1), operation


def _reads_that_grow(
    one: CaseFigures, lines: Mapping[tuple[Case, str], Mapping[int, CaseFigures]]
) -> Iterator[str]:
    """Reads far above the writes, which grow with the nodes as if nothing limited them."""
    if one.operation != "read":
        return
    writes = lines.get(_line(one, "write"), {}).get(one.case.nodes)
    if writes is None or one.median < _FASTER * writes.median:
        return
    growing = _growing(one, lines[_line(one, "read")])
    if growing is None:
        return
    yield (
        f"Reads are {format_ratio(one.median / writes.median)} times as fast as the writes of the "
        f"same data ({one.text(one.median)} against {one.text(writes.median)}){growing}: caches "
        'may have answered; set cache = "drop" or "direct".'
    )


def _growing(one: CaseFigures, curve: Mapping[int, CaseFigures]) -> str | None:
    """Return in words that a curve grows with the nodes; None: something limits it."""
    nodes = one.case.nodes
    fewer = max((other for other in curve if other < nodes), default=0)
    more = min((other for other in curve if other > nodes), default=0)
    if not (fewer or more):
        return ""
    first, last = (fewer, nodes) if fewer else (nodes, more)
    if curve[last].median < curve[first].median * (last / first) ** _GROWS:
        return None
    return f", and grow with the nodes (from {first} to {last})"


def _is_cold(one: CaseFigures) -> bool:
    """Whether the first run has less than half of what every later one has."""
    return len(one.rates) >= 3 and one.rates[0] < _COLD * min(one.rates[1:])


def _cold_start(one: CaseFigures) -> str:
    return (
        f"The first run had {one.text(one.rates[0])}, every later one at least "
        f"{one.text(min(one.rates[1:]))}: something stays warm "
        "from run to run; look at the first run of new files, or move more data."
    )
