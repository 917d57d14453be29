# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which calls of a trace are the program's own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from stripewise.evidence.figures._usage import count_weights
from stripewise.evidence.trace import COUNTER_ROW, TRACE_ROW, Op


@pytest.mark.parametrize(
    ("parent", "weight", "share"),
    [
        (-1, 1.0, 1.0),
        (7, 1.0, 0.0),  # of a library
        (3, 1.0, 1.0),  # of a list of the program's
        (3, 0.0, 0.0),  # of a list of a library's
    ],
)
def test_requests_of_a_list_are_those_of_who_made_it(
    parent: int, weight: float, share: float
) -> None:
    rows, calls = np.zeros(1, COUNTER_ROW), np.zeros(10, TRACE_ROW)
    rows["count"][0, Op.WRITE] = 10
    calls["op"], calls["count"], calls["name"], calls["parent"] = Op.WRITE, 1, 3, parent
    found = count_weights(rows, np.full((1, len(Op)), weight), SimpleNamespace(rows=calls))
    assert found[0, Op.WRITE] == share
