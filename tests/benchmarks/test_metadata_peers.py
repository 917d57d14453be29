# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison with mdtest: its intervals and its table."""

from __future__ import annotations

import metadata_peers as peers
import numpy as np
import pytest

ROW = {
    "storage": "tmpfs", "ranks": 2, "sharing": "own", "operation": "stat", "ours": 110_000.0,
    "theirs": 100_000.0, "ratio": 1.1, "low": 1.04, "high": 1.2, "pairs": 20,
}  # fmt: skip


def test_an_interval_holds_the_median_as_often_as_it_says():
    random = np.random.default_rng(1)
    found = [peers.median_interval(random.lognormal(0, 0.3, 20)) for _ in range(2000)]
    assert np.mean([low <= 1 <= high for _, low, high in found]) >= 0.95
    assert all(low <= middle <= high for middle, low, high in found)


def test_few_pairs_have_all_of_them_as_their_interval():
    assert peers.median_interval(np.array([1.0, 3.0, 2.0])) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "faster"),
        ({"low": 0.9}, "yes"),
        ({"ratio": 0.94, "low": 0.9}, "open"),
        ({"ratio": 0.94, "low": 0.9, "high": 0.99}, "no"),
    ],
)
def test_the_table_says_who_is_faster(changes, verdict):
    rows = [{**ROW, **changes}]
    document = {"processors": 2, "files": 10, "pairs": 20, "minutes": 3.0, "rows": rows}
    text = peers.markdown(document)
    assert f"| {verdict} |" in text
    assert "| 100,000/s | 110,000/s |" in text
    assert f"{int(verdict in ('faster', 'yes'))} of 1 medians" in text
