# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions: what is read, what is refused and how that is said, what is written back."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.machines.descriptions import WHOLE, changed
from stripewise.core.errors import ConfigurationError
from stripewise.storage.machines import (
    FIGURES,
    KINDS,
    Dimension,
    Figure,
    FigureOrigin,
    Storage,
    Transport,
    description_text,
    load_description,
    quantity,
    quantity_text,
)


def test_figures_are_in_base_units_and_the_rest_has_defaults():
    site = load_description(WHOLE)
    assert site.value("client.process_write") == 1.5 * 2**30
    assert site.value("servers.target_write") == 3e9
    assert site.value("client.request") == 5e-5
    assert site.value("layout.stripe_size") == 4 << 20
    assert site.value("client.node_write") == inf
    assert site.value("locks.page_size") == 4096
    figure = site.figures["client.process_write"]
    assert (figure.kind, figure.source) == (FigureOrigin.MEASURED, "IOR")
    assert (figure.low, figure.high) == (2**30, 2**31)


def test_the_environment_chooses_the_transport():
    site = load_description(WHOLE)
    slow, fast = site.transports
    assert site.transport({}) is slow
    assert site.transport({"NET": "fast", "OTHER": "1"}) is fast
    assert site.over(slow, 1).value("exchange.bandwidth") == 10 * 2**20
    assert site.over(fast, 1).value("exchange.bandwidth") == inf
    assert fast.hangs_from_nodes == 32


def test_a_transport_does_not_act_within_a_node():
    site = load_description(changed("[transport.slow]", "[transport.slow]\nfrom_nodes = 2"))
    rates = [site.over(site.transports[0], nodes).value("exchange.bandwidth") for nodes in (1, 2)]
    assert rates == [inf, 10 * 2**20]


def test_dotted_figures_of_a_transport_need_no_quotes():
    unquoted = changed('"exchange.bandwidth" =', "exchange.bandwidth =")
    assert load_description(unquoted) == load_description(WHOLE)


TARGET = 'target_write = { value = "3000 MB/s", kind = "documented", source = "guide" }'
JITTER = 'jitter = { value = 1.5, kind = "assumed", source = "x" }'
REFUSED = {
    "required": (
        f"{TARGET}\n",
        "",
        "servers.target_write is missing",
        "add target_write to [serv",
    ),
    "table": ("[machine]\n", "[machines]\n", "no key is called 'machines'", "mean machine?"),
    "negative": ('"50 us"', '"-50 us"', "client.request = '-50 us' is negative", "give"),
    "zero": ('"1.5 GiB/s"', '"0 GiB/s"', "client.process_write = '0 GiB/s' is 0", "leave it out"),
    "zero stripe": ('"4 MiB"', '"0 B"', "layout.stripe_size = '0 B' is 0", "give"),
    "no unit": ('"1.5 GiB/s"', '"1.5"', "process_write = '1.5' has no unit", '"1.1 GiB/s"'),
    "no text": ('"1.5 GiB/s"', "1.5", "process_write = 1.5 has no unit", '"1.1 GiB/s"'),
    "other unit": ('"1.5 GiB/s"', '"1.5 Gb/s"', "is not a bandwidth", "GiB/s, MiB/s"),
    "a size": ('"4 MiB"', '"4 MiB/s"', "layout.stripe_size = '4 MiB/s' is not a size", '"4 MiB"'),
    "a time": ('"50 us"', '"50 MiB"', "client.request = '50 MiB' is not a time", '"0.5 ms"'),
    "nan": ("value = 0.1", "value = nan", "noise.cv = nan is not a number", "give"),
    "infinite": ("value = 100", "value = inf", "machine.nodes = inf is too large", "check"),
    "huge": ("value = 100", "value = 1" + "0" * 400, "is too large", "check"),
    "fraction": ("value = 12", "value = 12.5", "servers.targets = 12.5 is not a whole", "give"),
    "text": ("value = 12", 'value = "12"', "servers.targets = '12' is not a plain", "write 12"),
    "true": ("value = 12", "value = true", "servers.targets = True is not a plain", "write 12"),
    "figure": (
        "client.request",
        "client.requests",
        "client: no key is called 'requests'",
        "mean request",
    ),
    "key": ("interval =", "intervall =", "no key is called 'intervall'", "mean interval?"),
    "evidence": ('"measured"', '"seen"', "process_write.kind = 'seen'", "'assumed'"),
    "source": (
        'source = "IOR"',
        'source = " "',
        "client.process_write: source is empty",
        "name who",
    ),
    "no source": ('source = "IOR"', "", "client.process_write.source is missing", "add it"),
    "bare": (TARGET, 'target_write = "3 GB/s"', "servers.target_write = '3 GB/s'", "write { val"),
    "chance": (TARGET, f"{JITTER}\n{TARGET}", "servers.jitter = 1.5 is more than 1", "from 0"),
    "stripes": ("value = 4,", "value = 13,", "layout.stripe_count = 13 is more", "at most"),
    "interval": ('"2 GiB/s"', '"1.2 GiB/s"', "does not hold the value '1.5 GiB/s'", "correct"),
    "ends": (', "2 GiB/s"', "", "interval = ['1 GiB/s']", "[lowest, highest]"),
    "version": ("version = 1", "version = 2", "version = 2 is not known", "version = 1"),
    "kind": ('"lustre"', '"luster"', "kind = 'luster'", "did you mean lustre?"),
    "name": ('"site"', '"a/b@1"', "name = 'a/b@1'", "use at most"),
    "title": ('"Scratch of a site"', '""', "title = ''", "in one line"),
    "toml": ("[noise]", "[noise", "not TOML", "line"),
    "transport": (
        '"exchange.band',
        '"exchange.bend',
        "transport.slow: no figure",
        "mean exchange.bandwidth",
    ),
    "transport unit": ('"10 MiB/s"', '"10"', "exchange.bandwidth = '10' has no unit", "write it"),
    "same when": ('{ NET = "fast" }', "{}", "transport.fast: the same `when`", "its own"),
    "hangs": ("nodes = 32", "nodes = -1", "hangs_from_nodes = -1", "greater than"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_description_is_refused_in_one_line(case):
    old, new, what, remedy = REFUSED[case]
    with pytest.raises(ConfigurationError) as raised:
        load_description(changed(old, new))
    message = str(raised.value)
    assert message.startswith("description: ")
    assert what in message
    assert remedy in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("1.1 GiB/s", Dimension.BANDWIDTH, 1.1 * 2**30),
        ("2897 MB/s", Dimension.BANDWIDTH, 2.897e9),
        ("5 KB/s", Dimension.BANDWIDTH, 5000),
        ("64KiB", Dimension.SIZE, 65536),
        ("512 B", Dimension.SIZE, 512),
        ("1.1 ms", Dimension.TIME, 0.0011),
        ("3 µs", Dimension.TIME, 3e-6),
        ("1e-4 s", Dimension.TIME, 1e-4),
    ],
)
def test_quantities(text, dimension, value):
    assert quantity(text, dimension) == value
    assert quantity(quantity_text(value, dimension), dimension) == value


def test_quantities_are_written_shortly():
    assert quantity_text(1.1 * 2**30, Dimension.BANDWIDTH) == "1.1 GiB/s"
    assert quantity_text(0.0005, Dimension.TIME) == "0.5 ms"
    assert quantity_text(5e-5, Dimension.TIME) == "50 us"
    assert quantity_text(0, Dimension.TIME) == "0 s"
    assert quantity_text(3.044e9, Dimension.BANDWIDTH) == "3.044 GB/s"
    assert quantity_text(4096, Dimension.SIZE) == "4 KiB"
    assert quantity_text(12.0, Dimension.COUNT) == "12"


_RANGES = {
    Dimension.COUNT: st.integers(1, 10**6).map(float),
    Dimension.RATIO: st.floats(0, 9),
    Dimension.SIZE: st.floats(1, 2**50),
    Dimension.TIME: st.floats(0, 1e6),
    Dimension.BANDWIDTH: st.floats(1, 1e15),
}
_WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
_NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,9}", fullmatch=True)


@st.composite
def _figures(draw, only=()):
    chosen = draw(st.sets(st.sampled_from([spec.name for spec in FIGURES]))) if not only else only
    found = {}
    for spec in FIGURES:
        if spec.name in chosen or (not only and spec.default is None):
            drawn = draw(st.tuples(*[_RANGES[spec.dimension]] * 3))
            low, value, high = sorted(min(end, spec.most) for end in drawn)
            known = draw(st.booleans())
            kind = draw(st.sampled_from(list(FigureOrigin)))
            ends = (low, high) if known else (None, None)
            found[spec.name] = Figure(value, kind, draw(_WORDS), *ends)
    if found.get("layout.stripe_count"):
        found["servers.targets"] = found["layout.stripe_count"]
    return found


@st.composite
def _storages(draw):
    names = draw(st.lists(_NAMES, max_size=3, unique=True))
    when = {"NET": 'a\x7f"\n'}
    transports = tuple(
        Transport(
            name, {**when, str(place): name}, draw(_figures(("exchange.rank",))), place, place + 1
        )
        for place, name in enumerate(names)
    )
    title = draw(_WORDS.filter(str.isprintable))
    kind = draw(st.sampled_from(KINDS))
    slowdown = draw(st.floats(1, 1e6))
    return Storage(draw(_NAMES), title, kind, "cray", draw(_figures()), transports, slowdown)


@settings(max_examples=60, deadline=None)
@given(_storages())
def test_what_is_written_is_read_again(storage):
    text = description_text(storage)
    found = load_description(text)
    assert found == storage
    assert description_text(found) == text


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ("[locks]\nrevoke = [1]", "locks.revoke = [1]: a figure is a table: write { value ="),
        ("[transport]\nx = 3", "transport.x = 3: write a table"),
        ("[transport.x]\nwhen = { A = 1 }", "transport.x.when.A = 1: write text in quotes"),
        ("[transport.x.figures.client]\nrequest = 3", "transport.x.figures.client.request = 3"),
        ('[costs.sync]\n"1" = ["1 us", "2 us", "3 us"]', "costs.sync: '1' has no unit"),
        ('[costs.sync]\n"1 B" = ["1 us"]', "costs.sync: 1 B = ['1 us']: write three times"),
    ],
)
def test_what_does_not_fit_is_refused(tail, said):
    head = WHOLE[: WHOLE.index("[transport.slow]")]
    with pytest.raises(ConfigurationError) as raised:
        load_description(f"{head}\n{tail}\n")
    assert said in str(raised.value)
