# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from click.testing import CliRunner

from stripewise.centre import monitor
from stripewise.centre.monitor import agent
from stripewise.centre.monitor.agent import CollectorCheck
from stripewise.cli import main


def test_check_writes_one_line_whatever_a_plug_in_says(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"fs": ["a\nb", "c\x1b[2J"]}
    strange = CollectorCheck("mine", "part", readings=2, found=names, problems=("x\ny",))
    monkeypatch.setattr(monitor, "give_up_root", lambda *_: "runs as nobody")
    monkeypatch.setattr(agent, "check_collectors", lambda *_: (strange,))
    monkeypatch.setattr(agent, "check_sinks", lambda *_: ())
    lines = CliRunner().invoke(main, ["doctor", "monitor"]).stdout.splitlines()
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)
