# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from click.testing import CliRunner

from stripewise.centre import monitor
from stripewise.centre.monitor import agent, collectors
from stripewise.centre.monitor._records import Round
from stripewise.cli import main


def warnings_of(monkeypatch: pytest.MonkeyPatch, problems: int) -> list[str]:
    texts = tuple(f"line {number} is none" for number in range(1, problems + 1))
    rounds = [Round("disks", 1.0, 1.0, problems=texts), Round("monitor", 1.0, 1.0)]
    monkeypatch.setattr(agent, "read_once", lambda *_: rounds)
    monkeypatch.setattr(monitor, "give_up_root", lambda *_: None)
    return CliRunner().invoke(main, ["centre", "monitor", "once"]).stderr.splitlines()


def test_once_says_how_much_more_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = warnings_of(monkeypatch, 7)
    assert len(found) == 6
    assert "disks: line 5 is none" in found[4]
    assert "disks: and 2 more (see --format json)" in found[5]


def test_once_names_plug_ins_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "the collector 'bad' of the package bad-one: lacks collect"
    monkeypatch.setattr(collectors, "collector_problems", lambda: (why,))
    found = warnings_of(monkeypatch, 0)
    assert [line.endswith(why) for line in found] == [True]


def test_once_says_nothing_more_where_all_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(warnings_of(monkeypatch, 5)) == 5
