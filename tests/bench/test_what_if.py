# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Surveyed applications on candidate systems."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.bench.campaign import parse_suite
from stripewise.bench.comparison import (
    answer_json,
    find_survey,
    parse_survey,
    survey_names,
    what_if,
)
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.storage.machines import Storage, find_storage

SURVEY = find_survey("jamstec-2018")
NAMES = ("jamstec-da", "earth-simulator", "archer2-hdd", "archer2-nvme")


@pytest.fixture(scope="module")
def found():
    return what_if(SURVEY, [find_storage(one) for one in NAMES], draws=60)


def test_what_was_measured_on_the_data_analyzer_is_within_the_interval(found) -> None:
    """Three of the four; of the ocean model the interval has no doubt about its one writer."""
    here = next(one for one in found.candidates if one.storage.name == "jamstec-da")
    for answer in here.answers:
        measured = answer.application.io_seconds
        if answer.application.name == "ocean":
            assert answer.seconds == pytest.approx(measured, rel=0.1)
        else:
            assert answer.low < measured < answer.high


def test_the_ranking_has_factors_with_intervals(found) -> None:
    order = [one.storage.name for one in found.ranking]
    assert order[0] == "archer2-nvme"
    assert order[-1] == "earth-simulator"
    assert sum(one.best for one in found.candidates) == pytest.approx(1)
    for one in found.candidates:
        assert one.factor_low <= one.factor <= one.factor_high
        assert one.low <= one.seconds <= one.high


def test_limits_say_what_a_job_waits_for(found) -> None:
    here = {one.application.name: one for one in found.candidates[0].answers}
    assert here["ocean"].bottleneck.startswith("1 writer")
    assert here["sequences"].bottleneck.startswith("metadata server")
    assert here["sequences"].busiest == "metadata"
    assert answer_json(here["ocean"])["measured_seconds"] == 42.6


def test_intervals_of_a_description_widen_the_answer() -> None:
    one = find_storage("archer2-hdd")
    sure = replace(
        one, figures={key: replace(f, low=None, high=None) for key, f in one.figures.items()}
    )
    big = parse_survey(
        '[[application]]\nname = "a"\nranks = 512\nwrite = "10 TB"\nfiles_written = 512\n',
        "a.toml",
    )
    wide = what_if(big, [one], draws=60).candidates[0]
    narrow = what_if(big, [sure], draws=60).candidates[0]
    assert narrow.high - narrow.low < 1e-6 * narrow.seconds
    assert wide.high / wide.low > 1.05


def test_a_job_that_is_too_large_is_said_not_to_run() -> None:
    one = find_storage("jamstec-da")
    small: Storage = replace(
        one,
        name="small",
        figures={**one.figures, "machine.nodes": replace(one.figures["machine.nodes"], value=4)},
    )
    answer = what_if(SURVEY, [small], draws=3).candidates[0].answers[0]
    assert answer.why_not == "it needs 26 nodes, and small has 4"


def test_csv_and_toml_are_the_same(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("name,ranks,write,files_written,run_time\na,4,1 GiB,4,10 s\nb,1,2 GB,1,\n")
    found = find_survey(str(table))
    assert [one.name for one in found.applications] == ["a", "b"]
    assert found.applications[0].write_bytes == 1 << 30
    text = (
        '[[application]]\nname = "a"\nranks = 4\nwrite = "1 GiB"\nfiles_written = 4\n'
        'run_time = "10 s"\n[[application]]\nname = "b"\nranks = 1\nwrite = "2 GB"\n'
        "files_written = 1\n"
    )
    assert parse_survey(text, "x.toml").applications == found.applications


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("version = 2\n[[application]]\nname = 'a'\nfiles_read = 1\n", "x.toml", "version"),
        ("[[application]]\nname = 'a'\n", "x.toml", "no I/O"),
        ("[[application]]\nname = 'a'\nwrite = '1 GB'\n", "x.toml", "without files_written"),
        ("[[application]]\nname = 'a'\ncolour = 1\n", "x.toml", "colour"),
        ("[[application]]\nname = 'a'\nwrite = '1 parsec'\n", "x.toml", "write"),
        ("[[application]]\nname = 'a'\nfiles_read = 1\n" * 2, "x.toml", "two applications"),
        ("= 1", "x.toml", "no survey"),
        ("", "x.csv", "application"),
        ("name,ranks\na,1,2,3\n", "x.csv", "more cells"),
        ("name,ranks\na,many\n", "x.csv", "ranks"),
        ("\0", "x.csv", "x.csv"),
    ],
)
def test_other_surveys_are_refused_in_one_line(text: str, name: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        parse_survey(text, name)
    assert "\n" not in str(caught.value)


def test_the_survey_and_the_suite_that_are_shown_are_valid() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/compare-systems.md").read_text("utf-8")
    suite, survey = re.findall(r"```toml\n(.*?)```", page, flags=re.S)
    assert parse_survey(survey, "ours.toml").applications[0].writers == 1
    head = 'version = 1\nname = "targets"\ntitle = "Each target"\n'
    assert len(parse_suite(head + suite, "targets.toml").cases) == 3


def test_a_survey_that_is_not_there_names_those_that_are() -> None:
    assert survey_names() == ("jamstec-2018",)
    with pytest.raises(UsageError, match="jamstec-2018"):
        find_survey("jamstec")


def test_candidates_have_different_names() -> None:
    one = find_storage("archer")
    with pytest.raises(UsageError, match="one name"):
        what_if(SURVEY, [one, one])
    with pytest.raises(UsageError, match="candidate"):
        what_if(SURVEY, [])
