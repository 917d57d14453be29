# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math

import pytest

from stripewise.present import printable
from stripewise.present.numbers import rate_text, ratio_text, seconds_text, size_text
from stripewise.settings.tunables import format_settings


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (41.234, "41.2 s"),
        (412.34, "412 s"),
        (7.94, "7.94 s"),
        (9.996, "10 s"),
        (0.0123, "12.3 ms"),
        (0.00001, "10 µs"),
        (math.nan, "?"),
    ],
)
def test_seconds(value, text):
    assert seconds_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(312 * 2**20, "312 MiB/s"), (1.6 * 2**30, "1.6 GiB/s"), (0, "no bandwidth")],
)
def test_bandwidth(value, text):
    assert rate_text(value) == text


def test_sizes():
    assert size_text(2**20) == "1 MiB"
    assert size_text(1.5 * 2**20) == "1.5 MiB"
    assert size_text(100) == "100 B"


def test_ratios_keep_what_matters_near_one():
    assert [ratio_text(v) for v in (1.04, 1.8, 5.23, 18.3, math.inf)] == [
        "1.04",
        "1.80",
        "5.2",
        "18",
        "?",
    ]


def test_settings_show_sizes_in_units_and_counts_as_they_are():
    settings = {"mpiio.cb_nodes": 4, "hdf5.alignment": (2**20, 512), "hdf5.x": True}
    assert format_settings(settings) == "cb_nodes=4 alignment=1 MiB,512 x=true"


def test_any_name_becomes_one_printable_line():
    assert printable("a\nb\x1b[31m\udcff\ud800é") == "a\\x0ab\\x1b[31m\\xff\\ud800é"
