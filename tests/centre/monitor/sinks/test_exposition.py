# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Prometheus reads: read again by the parsers of prometheus-client."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_plain

from stripewise.centre.monitor import Histogram, Reading, Round, counter, histogram, level
from stripewise.centre.monitor.agent import render_openmetrics, render_prometheus
from stripewise.centre.monitor.sinks._exposition import Exposition, Form, bound_text
from support.monitor_rounds import (
    FREE,
    READ,
    SIZES,
    STRANGE,
    STRANGE_COUNT,
    WRITE,
    made_round,
    whole_round,
)

BOTH = pytest.mark.parametrize(
    ("render", "parse"), [(render_prometheus, parse_plain), (render_openmetrics, parse_open)]
)
Render = Callable[[Iterable[Round], str], str]
RPC = histogram("lustre_target_rpc_pages", "pages", "Pages.", ("fs",))


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def samples(parse: Any, text: str) -> dict[tuple[str, frozenset[Any]], float]:
    """Every sample, and that there are no two of one series."""
    found: dict[tuple[str, frozenset[Any]], float] = {}
    for family in parse(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, key
            assert sample.timestamp is None
            found[key] = sample.value
    return found


def of(name: str, **labels: str) -> tuple[str, frozenset[Any]]:
    return name, frozenset({"server": "oss1", **labels}.items())


@BOTH
def test_every_metric_is_read_again(render: Render, parse: Any):
    text = render([whole_round()], "oss1")
    families = list(parse(text))
    assert all(family.documentation for family in families)
    assert all(sample.labels["server"] == "oss1" for f in families for sample in f.samples)
    kinds = {family.type for family in families}
    assert kinds == {"counter", "gauge", "histogram"}


def test_the_texts_are_as_the_formats_say():
    readings = (Reading(READ, ("a", "OST0000"), 2**53 + 1), Reading(FREE, ("a", "OST0000"), 1.5))
    plain = render_prometheus([made_round(readings)], "oss1")
    assert plain == (
        "# HELP lustre_target_free_bytes Free.\n# TYPE lustre_target_free_bytes gauge\n"
        'lustre_target_free_bytes{server="oss1",fs="a",target="OST0000"} 1.5\n'
        "# HELP lustre_target_read_bytes_total Read.\n"
        "# TYPE lustre_target_read_bytes_total counter\n"
        'lustre_target_read_bytes_total{server="oss1",fs="a",target="OST0000"} 9007199254740993\n'
    )
    opened = render_openmetrics([made_round(readings[:1])], "oss1")
    assert opened == (
        "# HELP lustre_target_read_bytes Read.\n# TYPE lustre_target_read_bytes counter\n"
        "# UNIT lustre_target_read_bytes bytes\n"
        'lustre_target_read_bytes_total{server="oss1",fs="a",target="OST0000"} 9007199254740993\n'
        "# EOF\n"
    )


@BOTH
def test_a_histogram_adds_up(render: Render, parse: Any):
    found = samples(parse, render([made_round([Reading(RPC, ("a",), SIZES)])], "oss1"))
    name = "lustre_target_rpc_pages"
    assert found == {
        of(f"{name}_bucket", fs="a", le="4096.0"): 3,
        of(f"{name}_bucket", fs="a", le="1.048576e+06"): 7,
        of(f"{name}_bucket", fs="a", le="+Inf"): 8,
        of(f"{name}_count", fs="a"): 8,
        of(f"{name}_sum", fs="a"): 5.5e6,
    }


@BOTH
@pytest.mark.parametrize("counts", [(), ((1.0, 2),), ((math.inf, 2),)])
def test_a_histogram_without_a_sum_has_none(render: Render, parse: Any, counts: Any):
    found = samples(parse, render([made_round([Reading(RPC, ("a",), Histogram(counts))])], "oss1"))
    assert {name for name, _ in found} == {"lustre_target_rpc_pages_bucket"}
    assert found[of("lustre_target_rpc_pages_bucket", fs="a", le="+Inf")] == 2 * bool(counts)


@pytest.mark.parametrize(
    "value",
    [
        Histogram(((2.0, 1), (1.0, 1))), Histogram(((1.0, 1), (1.0, 1))),
        Histogram(((math.nan, 1),)), Histogram(((1.0, -1),)), Histogram(((1.0, 2), (2.0, -1))),
        Histogram(((1.0, math.nan),)), Histogram(((1.0, 1),), math.inf),  # type: ignore[arg-type]
        3,
    ],
)  # fmt: skip
def test_a_histogram_that_is_none_is_left_out(value: Any):
    exposition = Exposition("oss1")
    exposition.take(made_round([Reading(RPC, ("a",), value)]))
    assert (exposition.text(Form.TEXT), exposition.problems) == ("", 1)


@pytest.mark.extended(keep=1)
@BOTH
@given(
    labels=st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5, unique=True),
    server=st.text(),
)
@example(labels=[("\\", '"'), ("\\n", "\n"), ("a\\", '{,="'), ("\ud800", "é")], server='\\"\n')
@example(labels=[("a\x00", "\r"), ("\x85", "\u2028")], server="")
def test_any_label_survives(
    render: Render, parse: Any, labels: list[tuple[str, str]], server: str
):
    clean = {pair: tuple(one.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                         for one in pair) for pair in labels}  # fmt: skip
    readings = [Reading(READ, pair, index) for index, pair in enumerate(labels)]
    text = render([made_round(readings)], server)
    assert text.encode()
    first = {found: labels.index(pair) for pair, found in reversed(clean.items())}
    got = {
        (dict(key)["fs"], dict(key)["target"]): value
        for (_, key), value in samples(parse, text).items()
    }
    assert got.keys() == first.keys()
    assert all(
        value in {labels.index(p) for p in labels if clean[p] == k} for k, value in got.items()
    )


@given(value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70))
def test_any_number_survives(value: float):
    for render, parse in ((render_prometheus, parse_plain), (render_openmetrics, parse_open)):
        text = render([made_round([Reading(FREE, ("a", "b"), value)])], "oss1")
        assert samples(parse, text) == {of(FREE.name, fs="a", target="b"): value}


@BOTH
def test_strange_readings_are_left_out_and_counted(render: Render, parse: Any):
    found = samples(parse, render([STRANGE], "oss1"))
    assert found == {
        of("lustre_target_read_bytes_total", fs="fs", target="twice"): 1,
        of("lustre_target_read_bytes_total", fs="fs", target="good"): 8,
    }
    exposition = Exposition("oss1")
    for _ in range(2):
        exposition.take(STRANGE)
    assert exposition.problems == 2 * STRANGE_COUNT


def test_what_is_no_longer_reported_is_gone():
    exposition = Exposition("oss1")
    exposition.take(made_round([Reading(READ, ("a", "x"), 1), Reading(WRITE, ("a", "x"), 1)]))
    exposition.take(made_round([Reading(READ, ("a", "y"), 2)], 1, reason="slow"))
    assert samples(parse_plain, exposition.text(Form.TEXT)) == {
        of("lustre_target_read_bytes_total", fs="a", target="y"): 2
    }
    exposition.take(made_round([], 2, reason="missing"))
    assert exposition.text(Form.OPENMETRICS) == "# EOF\n"


@pytest.mark.parametrize(
    "begins",
    [
        [0, 15, 30, 45],
        [0, 15, 30, 60],  # one was skipped
        [0, 15, 30, 44, 45],  # one was late
        [0, 15, 1000, 1015, 1030],  # the host was asleep
    ],
)
def test_what_is_not_renewed_is_dropped_after_five_intervals(begins: list[float]):
    clock = Clock()
    exposition = Exposition("oss1", clock)
    for begin in begins:
        clock.now = 100.0 + begin
        made = made_round([Reading(READ, ("a", "x"), 1)])
        exposition.take(replace(made, monotonic=clock.now))
    clock.now += 74.0
    assert exposition.text(Form.TEXT)
    clock.now += 2.0
    assert exposition.text(Form.TEXT) == ""
    exposition.take(made_round([Reading(READ, ("a", "x"), 1)]))
    assert exposition.text(Form.TEXT)


def test_a_single_round_counts_for_five_minutes():
    clock = Clock()
    exposition = Exposition("oss1", clock)
    exposition.take(made_round([Reading(READ, ("a", "x"), 1)]))
    clock.now += 299
    assert exposition.text(Form.TEXT)
    clock.now += 2
    assert exposition.text(Form.TEXT) == ""


@BOTH
def test_two_collectors_share_a_metric(render: Render, parse: Any):
    rounds = [
        made_round([Reading(READ, ("a", "x"), 1), Reading(READ, ("a", "y"), 1)], 0, "one"),
        made_round([Reading(READ, ("a", "y"), 2), Reading(READ, ("a", "z"), 2)], 0, "two"),
    ]
    text = render(rounds, "oss1")
    name = "lustre_target_read_bytes_total"
    assert samples(parse, text) == {
        of(name, fs="a", target="x"): 1, of(name, fs="a", target="y"): 1,
        of(name, fs="a", target="z"): 2,
    }  # fmt: skip
    assert text.count("# TYPE") == 1


@BOTH
def test_two_collectors_never_make_one_histogram(render: Render, parse: Any):
    other = Histogram(((8192.0, 100), (math.inf, 1)), 2.0)
    rounds = [
        made_round([Reading(RPC, (',le="',), SIZES)], 0, "one"),
        made_round([Reading(RPC, (',le="',), other), Reading(RPC, ("b",), other)], 0, "two"),
    ]
    found = samples(parse, render(rounds, "oss1"))
    alone = samples(parse, render(rounds[:1], "oss1"))
    assert {key: value for key, value in found.items() if ("fs", "b") not in key[1]} == alone
    assert len(found) == len(alone) + 4


def test_two_collectors_that_disagree_are_counted():
    exposition = Exposition("oss1")
    same, other = level("version_info", "flag", "V."), level("version_info", "flag", "Other.")
    exposition.take(made_round([Reading(same, (), 1)], 0, "one"))
    exposition.take(made_round([Reading(same, (), 1)], 0, "two"))
    assert exposition.problems == 0  # they say the same
    exposition.take(made_round([Reading(same, (), 2)], 1, "two"))
    exposition.take(made_round([Reading(other, (), 1)], 1, "three"))
    assert exposition.problems == 2
    assert exposition.text(Form.TEXT).count("version_info") == 3


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (0, "0.0"), (1, "1.0"), (4096, "4096.0"), (999999, "999999.0"), (1e6, "1e+06"),
        (1 << 20, "1.048576e+06"), (1 << 40, "1.099511627776e+12"), (1e21, "1e+21"),
        (0.001, "0.001"), (0.0001, "0.0001"), (0.00001, "1e-05"), (1.5e-7, "1.5e-07"),
        (math.inf, "+Inf"), (-math.inf, "-Inf"), (-5, "-5.0"),
    ],
)  # fmt: skip
def test_bounds_are_written_as_by_prometheus(bound: float, text: str):
    assert bound_text(bound) == text


def test_help_is_one_line():
    made = counter("odd_bytes", "bytes", 'A "quoted"\\ text\nin two lines.')
    text = render_openmetrics([made_round([Reading(made, (), 1)])], "oss1")
    assert next(iter(parse_open(text))).documentation == made.summary
    plain = render_prometheus([made_round([Reading(made, (), 1)])], "oss1")
    assert next(iter(parse_plain(plain))).documentation == made.summary
