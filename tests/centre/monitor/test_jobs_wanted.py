# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What jobs did is parsed as often as somebody wants it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stripewise.centre.monitor.agent import make_collectors, make_sinks, read_settings
from stripewise.centre.monitor.agent._agent import ask_for_jobs


@pytest.mark.parametrize(
    ("sinks", "seconds"),
    [
        ("", math.inf),
        ("[sinks.prometheus]\n", math.inf),
        ("[sinks.prometheus]\n[sinks.store]\ndatabase = 'a.sqlite'\n", 300.0),
        ("[sinks.store]\ndatabase = 'a.sqlite'\njob_interval_seconds = 60\n", 60.0),
    ],
)
def test_all_that_jobs_did_is_given_as_often_as_a_sink_wants_it(
    tmp_path: Path, sinks: str, seconds: float
) -> None:
    path = tmp_path / "monitor.toml"
    path.write_text(sinks)
    found = read_settings(path)
    chosen = make_collectors(found)
    ask_for_jobs(chosen, make_sinks(found))
    assert {one.collector.settled_seconds for one in chosen} == {seconds}
