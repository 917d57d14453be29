# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import monitor_texts
import pytest


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("version", monitor_texts.VERSIONS)
def test_the_texts_are_read_as_they_are_meant(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor_texts, "REPEATS", 1)  # each collects the garbage of all tests
    text, line = monitor_texts.rates(version, 40)
    assert text.count(b"- job_id:") == 40
    assert line.startswith(f"| {version} |")


def test_the_large_text_and_the_growth(capsys: pytest.CaptureFixture[str]) -> None:
    monitor_texts.large(2, 100_000)
    monitor_texts.growth(40)
    said = capsys.readouterr().out
    assert "unchanged: " in said
    assert " 0 given" in said
    assert "growth, all changed: " in said
