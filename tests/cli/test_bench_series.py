# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`bench run --series`: names of series, which may hold commas."""

from __future__ import annotations

from stripewise.bench.campaign import find_suite, suite_names
from stripewise.cli._bench_run import joined_names
from stripewise.cli._options import NameList


def test_every_series_of_every_suite_can_be_named() -> None:
    for name in suite_names():
        known = find_suite(name).series
        words = NameList().convert(",".join(known), None, None)
        assert joined_names(words, known) == known
        for one in known:
            assert joined_names(NameList().convert(one, None, None), known) == (one,)


def test_what_is_not_known_stays_for_the_message() -> None:
    assert joined_names(("one process", "nonsense"), ("one process",)) == (
        "one process",
        "nonsense",
    )
