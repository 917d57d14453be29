# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reasons to doubt a campaign's figures, each in a sentence with its figures and the remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from stripewise.bench._beside import partly_alone
from stripewise.bench._campaign import Campaign
from stripewise.bench._doubts_of_caches import Memory, caching
from stripewise.bench._figures import CaseFigures, Flag
from stripewise.bench._interference import has_figure, jobs_of
from stripewise.bench._robust import coverage_of
from stripewise.bench._sample import CaseRun
from stripewise.text import plural, printable

FEW = 5
"""Runs below which outliers cannot be told, and the interval is no interval of 95 %."""
_WIDE = 4.0
_WIDE_AT_LEAST = 0.20
"""A spread that many times the usual one, and of at least that, is worth a word.  Assumed: cases
that meet different limits spread by 2 to 15 % on quiet systems."""
_CASES_TO_COMPARE = 5
_BAD = ("failed", "timeout", "no-space", "no-nodes")


@dataclass(frozen=True)
class Ceiling:
    """What no bandwidth can exceed.

    Attributes:
        node_bytes_per_second: Of one node: its network.
        whole_bytes_per_second: Of the storage.
    """

    node_bytes_per_second: float = inf
    whole_bytes_per_second: float = inf


def flags_of_cases(
    campaign: Campaign, figures: Sequence[CaseFigures], ceiling: Ceiling | None = None
) -> list[tuple[Flag, ...]]:
    """Return the reasons to doubt each of a campaign's figures.

    Args:
        campaign: With its runs.
        figures: All of it, without flags.
        ceiling: What no bandwidth can exceed; None: "node_bytes_per_second" and
            "whole_bytes_per_second" of what is known about the campaign, if they are.
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
        found += [Flag(name, text) for name, text in _of_runs(one, runs)]
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


def _of_runs(one: CaseFigures, runs: Sequence[CaseRun]) -> Iterator[tuple[str, str]]:
    number = len(one.rates)
    if number == 1:
        yield (
            "few-repeats",
            "One run does not tell how much runs differ: repeat it at least 5 times.",
        )
    elif number < FEW:
        yield (
            "few-repeats",
            f"The range of {plural(number, 'run')} holds the median with "
            f"{coverage_of(number):.0%} only, and outliers cannot be told: repeat "
            "it at least 5 times.",
        )
    if one.outliers:
        yield "outlier", _outlier_text(one, runs)
    bad = [run for run in runs if run.status in _BAD]
    if bad:
        why = f"{bad[0].status}: {bad[0].message}" if bad[0].message else bad[0].status
        yield (
            "failed-runs",
            f"{len(bad)} of {plural(len(runs), 'run')} did not end well ({printable(why)}): the "
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
    """Return the median spread of cases, of data (True) and of metadata."""
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
