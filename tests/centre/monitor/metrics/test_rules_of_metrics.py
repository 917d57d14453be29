# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.centre.monitor import METRICS, Kind, counter
from stripewise.centre.monitor.collectors._registry import why_not

GOOD = counter("mine_read_bytes", "bytes", "Read.", ("fs", "target"))


def test_a_good_one_has_nothing_wrong() -> None:
    assert why_not(GOOD) == ""


def test_ours_keep_the_rules() -> None:
    """Of the endings that Prometheus has, two of Lustre's sums use one."""
    for metric in METRICS:
        assert why_not(metric) == "" or metric.name.endswith("_sum"), metric.name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "mine read"}, "has an invalid name"),
        ({"name": "1mine"}, "has an invalid name"),
        ({"name": "mine_bytes_bucket"}, "leave the ending out"),
        ({"unit": "KiB", "name": "mine"}, "unit kib"),
        ({"unit": "%", "name": "mine"}, "unit '%'"),
        ({"unit": "", "name": "mine"}, "unit ''"),
        ({"name": "mine_read_ms", "unit": "seconds"}, "unit ms"),
        ({"labels": ("path",)}, "not bounded"),
        ({"labels": ("le",)}, "another name"),
        ({"labels": ("A",)}, "another name"),
        ({"labels": tuple("abcdef")}, "at most 5"),
        ({"summary": "one\ntwo"}, "one line"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], said: str) -> None:
    assert said in why_not(replace(GOOD, **change))
    assert ": " in why_not(replace(GOOD, **change))


def test_a_name_that_is_taken() -> None:
    assert "is there already" in why_not(GOOD, {"mine_read_bytes"})
    assert why_not(replace(GOOD, kind=Kind.LEVEL), {"mine_write_bytes"}) == ""
