# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds reasons to doubt a case's figures, and attaches them to the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from stripewise.bench._case import Case, CaseRun, RunFigure
from stripewise.bench.campaign._figures import Campaign, robust
from stripewise.bench.campaign._figures import CaseFigures as CaseFigures
from stripewise.bench.campaign._figures import Flag as Flag
from stripewise.bench.campaign._figures import coverage_of as coverage_of
from stripewise.bench.campaign._interference import has_figure, jobs_of, partly_alone
from stripewise.present import plural, printable, ratio_text, size_text


def figures_of(campaign: Campaign, ceiling: Ceiling | None = None) -> tuple[CaseFigures, ...]:
    """Return the figures of every case and operation with at least one good run.

    Args:
        campaign: Campaign with its runs.
        ceiling: Upper limits of bandwidth, if known; None for those in the campaign's facts.
    """
    found: list[CaseFigures] = []
    for case, runs in campaign.of_cases():
        good = good_of(runs)
        for operation in operations_of(good):
            rates = tuple(sample.rate for sample in samples_of(good, operation))
            found.append(CaseFigures(case, operation, rates, 0.0, 0.0))
    known = robust([one.rates for one in found], [one.of_data for one in found])
    found = [
        replace(one, low=float(low), high=float(high), outliers=outliers)
        for one, low, high, outliers in zip(
            found, known.low, known.high, known.outliers, strict=True
        )
    ]
    flags = flags_of_cases(campaign, found, ceiling)
    return tuple(replace(one, flags=each) for one, each in zip(found, flags, strict=True))


def good_of(runs: Iterable[CaseRun]) -> list[CaseRun]:
    """Return the runs that ended well."""
    return [run for run in runs if run.status == "ok"]


def operations_of(runs: Iterable[CaseRun]) -> list[str]:
    """Return the operations for which runs have figures, in their order."""
    return list(dict.fromkeys(sample.operation for run in runs for sample in run.samples))


def samples_of(runs: Iterable[CaseRun], operation: str) -> list[RunFigure]:
    """Return the figures of an operation, one for each run that has it."""
    return [one for run in runs for one in run.samples if one.operation == operation]


# Reasons to doubt a campaign's figures, each a sentence with its figures and the remedy.

FEW = 5
"""Number of runs below which outliers cannot be detected and the interval is not one of 95 %."""
_WIDE = 4.0
_WIDE_AT_LEAST = 0.20
"""Least spread that is mentioned, if it is also a multiple of the usual one.  Assumed: cases with
different limits spread by 2 to 15 % on quiet systems.
"""
_CASES_TO_COMPARE = 5
_BAD = ("failed", "timeout", "no-space", "no-nodes")


@dataclass(frozen=True)
class Ceiling:
    """Upper limits of any bandwidth.

    Attributes:
        node_bytes_per_second: Limit of one node: its network.
        whole_bytes_per_second: Limit of the storage.
    """

    node_bytes_per_second: float = inf
    whole_bytes_per_second: float = inf


def flags_of_cases(
    campaign: Campaign, figures: Sequence[CaseFigures], ceiling: Ceiling | None = None
) -> list[tuple[Flag, ...]]:
    """Return the reasons to doubt each of a campaign's figures.

    Args:
        campaign: Campaign with its runs.
        figures: All figures of the campaign, without flags.
        ceiling: Upper limits of bandwidth; None for "node_bytes_per_second" and
            "whole_bytes_per_second" in the campaign's facts, if present.
    """
    about = campaign.about
    ceiling = ceiling or Ceiling(
        float(about.get("node_bytes_per_second") or inf),
        float(about.get("whole_bytes_per_second") or inf),
    )
    memory = Memory(float(about.get("memory_bytes") or 0.0), bool(campaign.machine))
    caches = caching(figures, memory, campaign.by_case)
    usual = _usual_spread(figures)
    flags = []
    for one, seen in zip(figures, caches, strict=True):
        runs = campaign.by_case[one.case.key]
        found = [Flag("caching", text) for text in (*seen, *_too_fast(one, ceiling))]
        found += [Flag(name, text) for name, text in _doubts_of_runs(one, runs)]
        found += [Flag("interference", text) for text in _wide(one, usual, runs)]
        flags.append(tuple(found))
    return flags


def _too_fast(one: CaseFigures, ceiling: Ceiling) -> Iterator[str]:
    if not one.of_data:
        return
    nodes = one.case.nodes
    limits: tuple[tuple[float, str], ...] = (
        (ceiling.node_bytes_per_second * nodes, f"the network of {plural(nodes, 'node')}"),
        (ceiling.whole_bytes_per_second, "the storage"),
    )
    for limit, what in limits:
        if one.best > limit:
            yield (
                f"{one.text(one.best)} is more than the {one.text(limit)} of {what}: a part of it "
                "went to memory; sync, or move more than twice the memory of the nodes."
            )
            return


def _doubts_of_runs(one: CaseFigures, runs: Sequence[CaseRun]) -> Iterator[tuple[str, str]]:
    number = len(one.rates)
    if number == 1:
        yield (
            "few-repeats",
            "One run does not show how much runs vary: repeat it at least 5 times.",
        )
    elif number < FEW:
        yield (
            "few-repeats",
            f"The range of {plural(number, 'run')} holds the median with "
            f"{coverage_of(number):.0%} only, and outliers cannot be identified: repeat "
            "it at least 5 times.",
        )
    if one.outliers:
        yield "outlier", _outlier_text(one, runs)
    bad = [run for run in runs if run.status in _BAD]
    if bad:
        why = f"{bad[0].status}: {bad[0].message}" if bad[0].message else bad[0].status
        yield (
            "failed-runs",
            f"{len(bad)} of {plural(len(runs), 'run')} did not succeed ({printable(why)}): the "
            "figures are of the others.",
        )
    for text in partly_alone(one.operation, runs):
        yield "partly-alone", text
    worn_out = sum(
        any(s.operation == one.operation and s.worn_out for s in run.samples) for run in runs
    )
    if worn_out:
        yield (
            "stonewall",
            f"{worn_out} of {plural(number, 'run')} were stopped after "
            f"{one.case.stonewall_seconds:g} s, after which all ranks did as much as the fastest: "
            "compare them only with runs that were stopped too.",
        )


def _outlier_text(one: CaseFigures, runs: Sequence[CaseRun]) -> str:
    repeats = [run.repeat for run in runs if has_figure(run, one.operation)]
    shown = [f"{one.text(one.rates[n])} in run {repeats[n]}" for n in one.outliers[:3]]
    more = len(one.outliers) - len(shown)
    return (
        f"{', '.join(shown)}{f' and {more} more' if more else ''}, against a median of "
        f"{one.text(one.median)}: {'they are' if len(one.outliers) > 1 else 'it is'} part of the "
        "figures; look at what else ran then."
    )


def _usual_spread(figures: Sequence[CaseFigures]) -> dict[bool, float]:
    """Return the median spread of the cases of data (True) and of metadata (False)."""
    usual = {}
    for of_data in (True, False):
        spreads = [f.spread for f in figures if f.of_data == of_data and len(f.rates) >= FEW]
        if len(spreads) >= _CASES_TO_COMPARE:
            usual[of_data] = float(np.median(spreads))
    return usual


def _wide(one: CaseFigures, usual: dict[bool, float], runs: Sequence[CaseRun]) -> Iterator[str]:
    if len(one.rates) < FEW or one.of_data not in usual:
        return
    if one.spread <= max(_WIDE * usual[one.of_data], _WIDE_AT_LEAST):
        return
    jobs = [jobs_of(run) for run in runs if has_figure(run, one.operation)]
    seen = max((n for n in jobs if n is not None), default=0)
    others = f" (up to {plural(round(seen), 'other job')} at the time)" if seen else ""
    yield (
        f"Its runs spread by {one.spread:.0%}, those of other cases by {usual[one.of_data]:.1%}: "
        f"something else used the storage{others}, or this case is unstable; repeat it when the "
        "storage is quiet."
    )


# Whether memory answered instead of the storage: "difficult to interpret (caching?)".

ENOUGH = 2.0
"""Multiple of the nodes' memory that a run must move so that caches cannot hold it."""
_FASTER = 4.0
"""Ratio of read to write rate from which reads are suspicious.  Assumed: in the tables of
published campaigns, reads are at most 1.4 times as fast.
"""
_GROWS = 0.8
"""Exponent of the rate over the nodes above which only their number limits it."""
_COLD = 0.5
"""Rate relative to all later runs below which a first run counts as cold."""
_COLD_CASES = 5
"""Number of cases of which one must be cold to count; a single one is an outlier."""


@dataclass(frozen=True)
class Memory:
    """Facts about caches.

    Attributes:
        node_bytes: Memory of a node; 0 if unknown.
        none: Whether the storage is emulated or simulated, so that memory cannot answer for it.
    """

    node_bytes: float = 0.0
    none: bool = False


def caching(
    figures: Sequence[CaseFigures], memory: Memory, by_case: Mapping[str, Sequence[CaseRun]]
) -> list[list[str]]:
    """Return for each figure why caches may have produced it."""
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
    """Return the least number of bytes that a run moved."""
    return min(
        s.amount
        for run in runs
        for s in run.samples
        if s.operation == one.operation and run.status == "ok"
    )


def _against(one: CaseFigures, memory: Memory, moved: float) -> str:
    """Return a comparison of the bytes of a run with the memory, for users."""
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
    """Return curves of cases that differ only in their nodes, by number of nodes."""
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
    """Yield reads far above the writes that grow with the nodes as if nothing limited them."""
    if one.operation != "read":
        return
    writes = lines.get(_line(one, "write"), {}).get(one.case.nodes)
    if writes is None or one.median < _FASTER * writes.median:
        return
    growing = _growing(one, lines[_line(one, "read")])
    if growing is None:
        return
    yield (
        f"Reads are {ratio_text(one.median / writes.median)} times as fast as the writes of the "
        f"same data ({one.text(one.median)} against {one.text(writes.median)}){growing}: caches "
        'may have answered; set cache = "drop" or "direct".'
    )


def _growing(one: CaseFigures, curve: Mapping[int, CaseFigures]) -> str | None:
    """Return a text if a curve grows with the nodes; None if something limits it."""
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
    """Return whether the first run has less than half the rate of every later one."""
    return len(one.rates) >= 3 and one.rates[0] < _COLD * min(one.rates[1:])


def _cold_start(one: CaseFigures) -> str:
    return (
        f"The first run had {one.text(one.rates[0])}, every later one at least "
        f"{one.text(min(one.rates[1:]))}: something stays warm "
        "from run to run; look at the first run of new files, or move more data."
    )
