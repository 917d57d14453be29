# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nights in a row: seldom a false alarm, and what is slower is found, named and dated.

One simulated history is a year of 365 nights with ten series that have independent noise; it has a
false alarm if any series has one in any night.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stripewise.bench.campaign import Campaign, campaign_text
from stripewise.bench.comparison import History, add_night
from stripewise.bench.comparison._changes import changes
from stripewise.bench.comparison._history import read_nights
from stripewise.core.errors import UsageError
from support.campaigns import made_campaign, target_campaign, usual_cases, usual_rate

NIGHTS, HISTORIES, SERIES = 365, 200, 10
DAYS = np.arange(NIGHTS) % 7
BEGIN = 1.778e9  # 2026-05-05
DAY = 86400.0


def _correlated(chance: np.random.Generator, shape: tuple[int, int], correlation: float):
    steps = chance.normal(0, 0.03 * np.sqrt(1 - correlation**2), shape)
    found = np.empty(shape)
    found[0] = chance.normal(0, 0.03, shape[1])
    for night in range(1, shape[0]):
        found[night] = correlation * found[night - 1] + steps[night]
    return found


def _noise(kind: str, seed: int, series: int):
    chance, shape = np.random.default_rng(seed), (NIGHTS, series)
    if kind == "heavy tails":
        return 0.03 * chance.standard_t(3, shape)
    if kind == "bad nights":
        bad = np.where(chance.random(shape) < 0.05, 0.3, 0.0)
        return chance.normal(0, 0.03, shape) - bad
    if kind == "weekend":
        free = np.where(DAYS >= 5, 0.12, 0.0)[:, None]
        return chance.normal(0, 0.03, shape) + free
    return _correlated(chance, shape, 0.5 if kind == "correlated" else 0.0)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("kind", ["white", "correlated", "heavy tails", "bad nights", "weekend"])
def test_at_most_one_history_in_twenty_has_a_false_alarm(kind: str) -> None:
    values = _noise(kind, 3, HISTORIES * SERIES)
    # The level is that of ten series; all histories are searched at once.
    found = changes(values, DAYS, level=0.05 * HISTORIES)
    alarmed = {change.series // SERIES for change in found}
    assert len(alarmed) <= 0.05 * HISTORIES


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("kind", "nights"),
    [("white", 8), ("correlated", 22), ("heavy tails", 12), ("bad nights", 10), ("weekend", 8)],
)
def test_a_tenth_is_found_and_dated(kind: str, nights: int) -> None:
    values = _noise(kind, 4, 60)
    values[200:] += np.log(0.9)
    found = changes(values, DAYS, level=0.05 * 6)
    real = [one for one in found if one.found >= 200]
    assert len({one.series for one in real}) >= 58
    assert np.quantile([one.found - 199 for one in real], 0.9) <= nights
    assert np.mean([one.earliest <= 200 <= one.latest for one in real]) >= 0.9
    assert np.mean([abs(one.since - 200) <= 2 for one in real]) >= 0.85
    assert np.mean([one.low <= 0.9 <= one.high for one in real]) >= 0.85


def test_what_comes_back_is_found_too() -> None:
    values = _noise("white", 5, 1)
    values[100:200] -= 0.2
    down, up = changes(values, DAYS)
    assert (down.ratio < 1) & (up.ratio > 1)
    assert abs(down.since - 100) <= 1 >= abs(up.since - 200)


def test_missing_nights_and_missing_figures_are_no_change() -> None:
    values = _noise("white", 6, 20)
    values[np.random.default_rng(0).random(values.shape) < 0.2] = np.nan
    values[100:140, 3] = np.nan
    values[:, 4] = np.nan
    assert changes(values, DAYS) == []


def test_a_constant_series_is_no_trouble() -> None:
    assert changes(np.zeros((100, 2)), DAYS[:100]) == []


# ---- on disk ---------------------------------------------------------------------------------


def night(number: int, slow: dict[int, float] | None = None, version: str = "2.15.3") -> Campaign:
    one = target_campaign(number, slow, repeats=3, targets=6, started=BEGIN + number * DAY)
    return replace(one, about={"versions": {"lustre": version}})


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty nights; in the last twelve target 4 is slower."""
    directory = tmp_path_factory.mktemp("nights") / "history"
    for number in range(60):
        late = number >= 48
        add_night(
            directory, night(number, {4: 0.15} if late else {}, "2.15.5" if late else "2.15.3")
        )
    return directory


def test_the_target_is_named_with_its_date_and_what_changed(nights: Path) -> None:
    history = History.read(nights)
    assert history.verdict == "slower"
    first = history.open_findings[0]
    assert (first.series.target, first.series.operation) == (4, "write")
    assert abs(first.since - 48) <= 1
    assert first.low < 0.85 < first.high < 1
    assert "write on target 4 is 1" in first.sentence
    assert "lustre from 2.15.3 to 2.15.5" in first.sentence
    assert {one.series.target for one in history.open_findings} <= {4, -1}


def test_lines_are_made_anew_where_they_are_lost_or_cut_off(nights: Path, tmp_path: Path) -> None:
    whole = read_nights(nights)
    lines = (nights / "nights.jsonl").read_text().splitlines(keepends=True)
    other = tmp_path / "history"
    other.mkdir()
    (other / "campaigns").symlink_to(nights / "campaigns")
    for text in ("", "".join(lines[:7]) + lines[7][:50], "{}\nnull\n[1]\n" + lines[3], "\0"):
        (other / "nights.jsonl").write_text(text)
        assert read_nights(other) == whole
        assert read_nights(other) == whole


def test_a_night_is_added_once(tmp_path: Path) -> None:
    names = {add_night(tmp_path / "h", night(1)) for _ in range(3)}
    assert names == {"2026-05-06T165320Z.json"}
    assert len(History.read(tmp_path / "h").nights) == 1
    other = replace(night(1), storage="other")
    assert add_night(tmp_path / "h", other) == "2026-05-06T165320Z-2.json"
    assert (tmp_path / "h/campaigns/2026-05-06T165320Z.json").read_text() == campaign_text(
        night(1)
    )


def test_a_history_is_of_one_suite(tmp_path: Path) -> None:
    add_night(tmp_path, night(1))
    other = replace(night(2), suite=replace(night(2).suite, name="other"))
    with pytest.raises(UsageError, match="of the suite made"):
        add_night(tmp_path, other)
    empty = Campaign("c", night(1).suite, ())
    with pytest.raises(UsageError, match="nothing to add"):
        add_night(tmp_path, empty)


def test_what_is_no_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--add"):
        History.read(tmp_path)


def test_first_nights_are_learned_from(tmp_path: Path) -> None:
    for number in range(3):
        add_night(
            tmp_path, made_campaign(usual_cases(2), usual_rate, started=BEGIN + number * DAY)
        )
    history = History.read(tmp_path)
    assert history.verdict == "learning"
    assert history.sentences == ("3 nights so far: the first verdict needs 19 more",)


def test_the_last_nights_gaps_are_told(tmp_path: Path) -> None:
    whole = made_campaign(usual_cases(2), usual_rate, started=BEGIN)
    add_night(tmp_path, whole)
    fewer = replace(whole, started_unix_seconds=BEGIN + DAY, runs=whole.runs[2:])
    broken = replace(fewer.runs[0], status="timeout", samples=())
    add_night(tmp_path, replace(fewer, runs=(broken, *fewer.runs[1:])))
    said = " ".join(History.read(tmp_path).sentences)
    assert "1 run of the last night did not succeed" in said
    assert "no figure of file per process" in said


def test_three_years_are_read_at_once(tmp_path: Path) -> None:
    """The figures of a night are one line; its campaign is not opened again."""
    add_night(tmp_path, night(0))
    line = json.loads((tmp_path / "nights.jsonl").read_text())
    lines = []
    for number in range(1, 1000):
        name = f"{number}.json"
        (tmp_path / "campaigns" / name).write_text("never read")
        lines.append(
            json.dumps({**line, "file": name, "started_unix_seconds": BEGIN + number * DAY})
        )
    with (tmp_path / "nights.jsonl").open("a") as file:
        file.write("\n".join(lines) + "\n")
    assert len(History.read(tmp_path).nights) == 1000
