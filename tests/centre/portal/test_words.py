# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.present.blocks._values import written


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0.0"), (1.0, "<0.001"), (144.0, "0.04"), (341.0, "0.095"), (360.0, "0.1"),
     (3600.0, "1.0"), (4e6, "1,111.1")],
)  # fmt: skip
def test_few_hours_are_not_written_as_none(seconds: float, words: str) -> None:
    assert written(seconds, "node-hours") == words
    assert written(seconds, "hours") == f"{words} h"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.05, "50 ms"), (36.07, "36 s"), (1800.0, "30 min"), (43_200.0, "12 h")],
)
def test_long_times_have_a_unit_that_people_use(seconds: float, words: str) -> None:
    assert written(seconds, "duration") == words
