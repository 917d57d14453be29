# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a campaign whose failure says nothing about their case are made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from stripewise.bench import CaseRun, RunFigure
from stripewise.bench.campaign import parse_suite
from stripewise.bench.running import CampaignObserver, CampaignOptions
from stripewise.bench.running._maker import Maker
from stripewise.bench.running._plan import CampaignLedger, OpenRun
from stripewise.bench.running._run import CampaignRuns
from stripewise.core.errors import ProgramError
from stripewise.run.launch import Handle

SUITE = """
version = 1
name = "one"
title = "One case"
repeats = 2
[[case]]
series = "shared"
rank_size = "1 MiB"
"""
SLOW = "the host was the limit"


class Ended:
    """Runs that end at once, as they are told to: whether well, and if not, whether outside."""

    def __init__(self, ends: Iterator[str]) -> None:
        self.ends = ends
        self.launcher = self

    def wait(self, handle: Handle, seconds: float) -> bool:
        return True

    def no_room(self, planned: Any) -> str:
        return ""

    def submit(self, planned: Any, run_id: str, number: int, seconds: float) -> Handle:
        return Handle("local", run_id, {})

    def ended(self, run: OpenRun, case: Any, handle: Handle) -> tuple[CaseRun, bool]:
        end = next(self.ends)
        if end == "ok":
            return CaseRun(run.key, run.repeat, "ok", (RunFigure("write", 1.0, 1.0),)), False
        return CaseRun(run.key, run.repeat, "failed", message=end), end == SLOW

    def release(self, run: OpenRun, case: Any) -> None:
        pass

    def checkpoint(self) -> None:
        pass


Carry = Callable[..., list[str]]


@pytest.fixture
def carry_out(tmp_path: Path) -> Carry:
    """Carry a campaign out whose runs end so; the statuses of those that are kept."""

    def made(*ends: str) -> list[str]:
        suite = parse_suite(SUITE, "one.toml")
        options = CampaignOptions(suite, tmp_path / "one.campaign", tmp_path)
        ledger = CampaignLedger.opened(tmp_path / "journal.jsonl")
        fake = Ended(iter(ends))
        try:
            ledger.begin(suite, {}, {})
            observer, maker = CampaignObserver(), cast(Maker, fake)
            CampaignRuns(options, ledger, observer, fake, maker).carry_out()
            return [run.status for run in ledger.runs]
        finally:
            ledger.close()

    return made


def test_a_first_run_that_the_host_disturbed_ends_no_campaign(carry_out: Carry) -> None:
    assert carry_out(SLOW, SLOW, "ok", "ok") == ["ok", "ok"]


def test_a_later_one_is_kept_as_failed_where_the_host_stays_slow(carry_out: Carry) -> None:
    assert carry_out("ok", SLOW, SLOW, SLOW) == ["ok", "failed"]


@pytest.mark.parametrize("ends", [(SLOW, SLOW, SLOW), ("it crashed",)])
def test_what_never_works_ends_a_campaign(carry_out: Carry, ends: tuple[str, ...]) -> None:
    with pytest.raises(ProgramError, match=ends[-1]):
        carry_out(*ends)
