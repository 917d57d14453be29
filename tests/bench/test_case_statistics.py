# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of cases: what holds of them whatever the rates are, and when they are doubted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.bench import Case, CaseRun
from stripewise.bench.campaign import (
    CaseFigures,
    Ceiling,
    Flag,
    coverage_of,
    figures_of,
    flags_of_campaign,
)
from support.bench_campaigns import GIB, campaign, with_circumstances
from support.work import calls_and_peak

WRITE = Case("w", nodes=4, ranks_per_node=2)
READ = Case("r", operation="write-read", nodes=4, ranks_per_node=2)
RATES = st.lists(st.floats(1e3, 1e13), min_size=1, max_size=40)
GB = 1e9


def one(rates: list[float], case: Case = WRITE, **more: object) -> CaseFigures:
    return figures_of(campaign([(case, {"write": rates})], **more))[0]  # type: ignore[arg-type]


def texts(flags: tuple[Flag, ...], name: str) -> list[str]:
    return [flag.text for flag in flags if flag.name == name]


# ---- what always holds -----------------------------------------------------------------------


@pytest.mark.extended
@given(RATES)
def test_no_rate_is_ever_dropped(rates: list[float]) -> None:
    found = one(rates)
    assert np.allclose(found.rates, rates, rtol=1e-12)
    assert found.low <= found.median <= found.high
    assert min(found.rates) <= found.low
    assert found.high <= found.best
    assert all(0 <= place < len(rates) for place in found.outliers)
    assert len(found.outliers) < max(len(rates) / 2, 1)


@pytest.mark.extended
@given(st.lists(st.integers(1000, 10**12).map(float), min_size=1, max_size=30), st.randoms())
def test_the_order_of_runs_does_not_matter(rates: list[float], random: object) -> None:
    mixed = list(rates)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = one(rates), one(mixed)
    assert (first.low, first.median, first.high) == (second.low, second.median, second.high)
    assert first.spread == pytest.approx(second.spread, abs=1e-12)
    assert sorted(first.rates[n] for n in first.outliers) == sorted(
        second.rates[n] for n in second.outliers
    )


@given(st.lists(st.floats(1e6, 1e10), min_size=1, max_size=30), st.integers(-10, 10))
def test_the_unit_does_not_matter(rates: list[float], power: int) -> None:
    """Outliers, relative spread and interval are those of the same rates in other units."""
    first, second = one(rates), one([rate * 2.0**power for rate in rates])
    assert first.outliers == second.outliers
    assert second.spread == pytest.approx(first.spread, abs=1e-12)
    assert second.low == pytest.approx(first.low * 2.0**power)
    assert second.high == pytest.approx(first.high * 2.0**power)


def test_intervals_of_a_case_do_not_depend_on_the_others() -> None:
    random = np.random.default_rng(0)
    cells = [
        (replace(WRITE, nodes=n), {"write": list(random.uniform(1e9, 2e9, 3 + n % 9))})
        for n in range(1, 30)
    ]
    for cell, found in zip(cells, figures_of(campaign(cells)), strict=True):
        alone = figures_of(campaign([cell]))[0]
        assert (alone.low, alone.high, alone.rates) == (found.low, found.high, found.rates)


@pytest.mark.parametrize(
    ("number", "coverage"),
    [(1, 0.0), (2, 0.5), (5, 0.9375), (6, 0.96875), (9, 0.9609), (10, 0.9785), (1000, 0.9537)],
)
def test_the_interval_says_what_it_holds(number: int, coverage: float) -> None:
    """Source: tables of the sign test; from 6 runs on at least 95 %."""
    assert coverage_of(number) == pytest.approx(coverage, abs=1e-4)


def test_intervals_hold_the_median_as_often_as_they_say() -> None:
    """10 runs of skewed noise: 97.9 %, within what 2,000 draws can tell."""
    random = np.random.default_rng(4)
    cells = [
        (replace(WRITE, nodes=n + 1), {"write": list(np.exp(random.gumbel(0, 0.3, 10)) * GB)})
        for n in range(2000)
    ]
    true = np.exp(-0.3 * np.log(np.log(2))) * GB
    held = np.mean([f.low <= true <= f.high for f in figures_of(campaign(cells))])
    assert 0.965 <= held <= 0.99


def test_what_figures_take_is_linear_in_their_number() -> None:
    random = np.random.default_rng(0)
    cells = [
        (replace(WRITE, nodes=n + 1), {"write": list(random.uniform(1e9, 2e9, 10))})
        for n in range(400)
    ]
    few, many = (
        calls_and_peak(lambda found=found: figures_of(found))[0]
        for found in (campaign(cells[:50]), campaign(cells))
    )
    assert many < 8.5 * few


# ---- outliers --------------------------------------------------------------------------------


def test_an_outlier_is_shown_with_its_run() -> None:
    found = one([1.00 * GB, 1.02 * GB, 0.2 * GB, 0.99 * GB, 1.01 * GB, 0.98 * GB])
    assert found.outliers == (2,)
    (text,) = texts(found.flags, "outlier")
    assert "191 MiB/s in run 3" in text
    assert "part of the figures" in text


def test_few_runs_have_no_outliers() -> None:
    assert one([GB, GB, GB, GB / 10]).outliers == ()
    assert one([GB, GB, GB, GB, GB / 10]).outliers == (4,)


def test_differences_below_ten_percent_are_none() -> None:
    assert one([GB, GB, GB, GB, GB, 1.09 * GB]).outliers == ()


def test_what_is_usual_in_the_campaign_is_none() -> None:
    """A sharp upper edge with a long tail: half of the runs are the same; far below is far."""
    tails = np.random.default_rng(5).normal(0, 0.2, (40, 6))
    cells = [
        (replace(WRITE, nodes=n + 1), {"write": list(GB * np.exp(np.minimum(row, 0)))})
        for n, row in enumerate(tails)
    ]
    found = figures_of(campaign(cells))
    assert sum(bool(f.outliers) for f in found) <= 2
    far = (replace(WRITE, series="far"), {"write": [GB, GB, GB / 9, GB, GB, GB]})
    assert figures_of(campaign([*cells, far]))[-1].outliers == (2,)


@pytest.mark.extended
def test_normal_noise_has_few() -> None:
    """In 1 of 100 cases, whatever the number of repeats."""
    random = np.random.default_rng(1)
    for number in (5, 6, 8, 10, 25):
        cells = [
            (
                replace(WRITE, nodes=n + 1),
                {"write": list(GB * np.exp(random.normal(0, 0.1, number)))},
            )
            for n in range(1000)
        ]
        share = sum(bool(f.outliers) for f in figures_of(campaign(cells))) / 1000
        assert share < 0.02, number


# ---- reasons to doubt ------------------------------------------------------------------------


def test_clean_figures_have_no_flag() -> None:
    found = figures_of(campaign([(READ, {"write": [GB] * 6, "read": [1.4 * GB] * 6})]))
    assert [one.flags for one in found] == [(), ()]


def test_few_repeats() -> None:
    assert "holds the median with 75% only" in texts(one([GB] * 3).flags, "few-repeats")[0]
    assert "One run" in texts(one([GB]).flags, "few-repeats")[0]
    assert not texts(one([GB] * 5).flags, "few-repeats")


def test_failed_runs() -> None:
    found = campaign([(WRITE, {"write": [GB] * 6})])
    bad = CaseRun(WRITE.key, 7, "no-space", message="write: No space left\non device")
    skipped = CaseRun(WRITE.key, 8, "skipped", message="the budget is used up")
    (flags,) = [f.flags for f in figures_of(replace(found, runs=(*found.runs, bad, skipped)))]
    (text,) = texts(flags, "failed-runs")
    assert text.startswith("1 of 8 runs did not succeed (no-space: write: No space left")
    assert "\n" not in text


def test_stonewalled_runs() -> None:
    case = replace(WRITE, stonewall_seconds=20.0)
    found = campaign([(case, {"write": [GB] * 6})])
    runs = [
        replace(run, samples=tuple(replace(s, worn_out=run.repeat < 4) for s in run.samples))
        for run in found.runs
    ]
    (flags,) = [f.flags for f in figures_of(replace(found, runs=tuple(runs)))]
    assert texts(flags, "stonewall")[0].startswith("3 of 6 runs were stopped after 20 s")


def test_writes_without_sync() -> None:
    loose = replace(WRITE, sync=False)
    assert "set sync = true" in texts(one([GB] * 6, loose).flags, "caching")[0]
    assert not texts(one([GB] * 6).flags, "caching")
    enough = one([GB] * 6, loose, amount=8 * GIB, memory_bytes=GIB)
    assert not texts(enough.flags, "caching")
    small = one([GB] * 6, loose, amount=7 * GIB, memory_bytes=GIB)
    assert "7 GiB, with a memory of 4 GiB in 4 nodes" in texts(small.flags, "caching")[0]


@pytest.mark.parametrize(
    ("changes", "doubted"),
    [
        ({"nodes": 1}, "The node that wrote the data read it"),
        ({"nodes": 1, "ranks_per_node": 1}, "The ranks that wrote the data read it"),
        ({"cache": "none"}, "The ranks that wrote the data read it"),
        ({"nodes": 1, "cache": "drop"}, ""),
        ({"nodes": 1, "cache": "direct"}, ""),
        ({}, ""),
    ],
)
def test_reads_of_what_is_in_memory(changes: dict[str, object], doubted: str) -> None:
    case = replace(READ, **changes)  # type: ignore[arg-type]
    cells = [(case, {"write": [GB] * 6, "read": [1.2 * GB] * 6})]
    found = texts(figures_of(campaign(cells))[1].flags, "caching")
    assert [doubted in text for text in found] == ([True] if doubted else [])
    large = figures_of(campaign(cells, amount=100 * GIB, memory_bytes=GIB))[1]
    assert not texts(large.flags, "caching")
    emulated = figures_of(campaign(cells, machine="archer2-hdd@1/64"))[1]
    assert not texts(emulated.flags, "caching")


def test_reads_that_grow_beyond_the_writes() -> None:
    """The seed's 'difficult to interpret (caching?)': from a node on, no limit is seen."""
    cells = [
        (
            replace(READ, nodes=n),
            {"write": [min(n, 4) * GB] * 6, "read": [12.0 * n * GB] * 6},
        )
        for n in (2, 4, 8, 16)
    ]
    found = figures_of(campaign(cells))
    said = [texts(f.flags, "caching") for f in found if f.operation == "read"]
    assert all(len(each) == 1 for each in said)
    assert "48 times as fast as the writes" in said[3][0]
    assert "(from 8 to 16)" in said[3][0]
    assert not any(texts(f.flags, "caching") for f in found if f.operation == "write")


def test_fast_reads_with_a_limit_are_believed() -> None:
    """Flash reads faster than it writes; a curve that becomes flat has a limit behind it."""
    cells = [
        (replace(READ, nodes=n), {"write": [GB] * 6, "read": [min(5.0 * n, 11.0) * GB] * 6})
        for n in (2, 4, 8)
    ]
    found = figures_of(campaign(cells))
    assert not any(texts(f.flags, "caching") for f in found)


def test_rates_above_the_network_or_the_storage() -> None:
    found = campaign([(WRITE, {"write": [500 * GIB] * 6})])
    (flags,) = [f.flags for f in figures_of(found, Ceiling(25 * GIB))]
    assert "more than the 100 GiB/s of the network of 4 nodes" in texts(flags, "caching")[0]
    (flags,) = [f.flags for f in figures_of(found, Ceiling(whole_bytes_per_second=132 * GIB))]
    assert "more than the 132 GiB/s of the storage" in texts(flags, "caching")[0]
    known = replace(found, about={"node_bytes_per_second": 25 * GIB})
    assert texts(figures_of(known)[0].flags, "caching")


def test_a_cold_start() -> None:
    flags = one([0.1 * GB, GB, GB, GB, GB, GB]).flags
    assert "The first run had 95.4 MiB/s" in texts(flags, "caching")[0]
    cells = [(replace(WRITE, nodes=n), {"write": [GB] * 6}) for n in range(1, 9)]
    alone = [*cells, (replace(WRITE, series="x"), {"write": [0.1 * GB, *[GB] * 5]})]
    last = figures_of(campaign(alone))[-1]
    assert not texts(last.flags, "caching"), "one case of nine says nothing of caches"
    assert texts(last.flags, "outlier")


def test_a_case_that_spreads_more_than_others() -> None:
    random = np.random.default_rng(2)
    cells = [
        (replace(WRITE, nodes=n), {"write": list(GB * np.exp(random.normal(0, 0.03, 10)))})
        for n in range(1, 12)
    ]
    wild = replace(WRITE, series="wild")
    cells.append((wild, {"write": list(GB * np.exp(random.normal(0, 0.6, 10)))}))
    found = figures_of(campaign(cells))
    assert "spread by" in texts(found[-1].flags, "interference")[0]
    assert not any(texts(f.flags, "interference") for f in found[:-1])
    shared = with_circumstances(campaign(cells), other_jobs=[["a", "b"]] * 120)
    text = texts(figures_of(shared)[-1].flags, "interference")[0]
    assert "up to 2 other jobs at the time" in text


# ---- of a whole campaign ---------------------------------------------------------------------


def many(seed: int, shape: np.ndarray, sigma: float = 0.05) -> tuple[Flag, ...]:
    """Flags of 20 cases in 6 rounds, with a factor for each round."""
    random = np.random.default_rng(seed)
    cells = [
        (
            replace(WRITE, nodes=n + 1),
            {"write": list(GB * (n + 1) * shape * np.exp(random.normal(0, sigma, 6)))},
        )
        for n in range(20)
    ]
    found = campaign(cells)
    return flags_of_campaign(found, figures_of(found))


def test_a_slow_round_is_named() -> None:
    flags = many(0, np.array([1, 1, 0.7, 1, 1, 1]))
    (text,) = texts(flags, "interference")
    assert "In round 3, 20 of 20 runs" in text


def test_drift_is_named() -> None:
    flags = many(0, np.linspace(1.2, 0.8, 6))
    assert any("rates fell by" in text for text in texts(flags, "interference"))


@pytest.mark.parametrize("sigma", [0.0, 0.03, 0.2, 0.5])
def test_quiet_campaigns_are_believed(sigma: float) -> None:
    """At most 1 in 50 of those whose noise is nobody's fault."""
    alarms = sum(bool(many(seed, np.ones(6), sigma)) for seed in range(100))
    assert alarms <= 2


def test_other_jobs_are_told() -> None:
    found = campaign([(WRITE, {"write": [GB] * 6})])
    busy = with_circumstances(found, other_jobs=[0, 0, 3, 1, 0, 0])
    (flag,) = flags_of_campaign(busy, figures_of(busy))
    assert flag.text.startswith("Other jobs ran during 2 of 6 runs, up to 3 at a time")
    assert not flags_of_campaign(found, figures_of(found))


def test_flags_are_sentences_with_a_remedy() -> None:
    loose = replace(WRITE, sync=False, stonewall_seconds=5.0)
    for flags in (one([GB, GB / 10], loose).flags, one([0.1 * GB] + [GB] * 6, loose).flags):
        for flag in flags:
            assert flag.text[0].isupper() or flag.text[0].isdigit()
            assert flag.text.endswith(".")
            assert any(letter.isdigit() for letter in flag.text)
