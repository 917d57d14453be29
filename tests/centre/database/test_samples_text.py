# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database._records import EventRecord, SampleRecord
from stripewise.centre.database.ingest._samples import is_samples, parse_samples

AT = 1_767_225_600


def line(**given: Any) -> str:
    found = {"file_system": "scratch", "server": "oss1", "target": "OST0000",
             "metric": "read_bytes", "unit": "bytes", "counter": True, "at": AT, "seconds": 60,
             "value": 4096, **given}  # fmt: skip
    return json.dumps({name: value for name, value in found.items() if value is not ...})


def test_samples_of_one_series_come_together_in_order() -> None:
    text = parse_samples([line(at=AT + 60, value=2), "", line(value=1), line(target="OST1")])
    assert text.problems == ()
    assert text.records == (
        SampleRecord("scratch", "oss1", "OST0000", "read_bytes", "bytes", True,
                     ((AT, 60.0, 1.0), (AT + 60, 60.0, 2.0))),
        SampleRecord("scratch", "oss1", "OST1", "read_bytes", "bytes", True,
                     ((AT, 60.0, 4096.0),)),
    )  # fmt: skip


def test_a_series_of_the_whole_names_no_server() -> None:
    (record,) = parse_samples([line(server=..., target=...)]).records
    assert isinstance(record, SampleRecord)
    assert (record.server, record.target) == ("", "")


def test_events() -> None:
    event = {"event": "maintenance", "file_system": "scratch", "at": AT, "until": AT + 5,
             "text": "New\n firmware."}  # fmt: skip
    of_all = {"event": "advice", "at": AT, "text": "Be kind."}
    lines = [json.dumps(event), json.dumps(event), json.dumps(of_all)]
    assert parse_samples(lines).records == (
        EventRecord("scratch", AT, AT + 5, "maintenance", "New firmware."),
        EventRecord("", AT, None, "advice", "Be kind."),
    )


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "line 2"),
        ("[1]", "not a JSON object"),
        (line(tag="x"), "'tag' is not known"),
        (line(metric="Read Bytes"), "not a name such as read_bytes"),
        (line(metric=...), "not a name such as read_bytes"),
        (line(file_system="/scratch"), "without a slash"),
        (line(file_system=""), "file_system: give a text"),
        (line(file_system="a" * 256), "1 to 255"),
        (line(server="a\u0000b"), "cannot be shown"),
        (line(target="\u202eTSO"), "cannot be shown"),
        (line(unit=...), "unit: give a text"),
        (line(counter="yes"), "true for a counter"),
        (line(at=AT + 0.5), "whole seconds"),
        (line(at=60), "from 2000 to 2100"),
        (line(at="now"), "at: give a number"),
        (line(seconds=0), "more than 0"),
        (line(seconds=1e6), "at most 86400"),
        (line(value=True), "value: give a number"),
        (line(value=-1), "not negative"),
        (line(value=10**400), "too large"),
        (line(at=AT).replace("4096", "NaN"), "not a number of JSON"),
        (line(unit="KiB", at=AT + 60), "another unit"),
        (line(value=9), "another sample of the same moment"),
        (f'{{"event": "x", "at": {AT}, "text": "t", "until": 5}}', "from 2000"),
        (json.dumps({"event": "x", "at": AT + 9, "text": "t", "until": AT}), "is before at"),
        (json.dumps({"event": "x", "at": AT}), "text: give a text"),
        ("[" * 100_000, "line 2"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_the_others_are_kept(bad: str, why: str) -> None:
    found = parse_samples([line(), bad, line(at=AT + 120)])
    assert len(found.problems) == 1
    assert found.problems[0].startswith("line 2: ")
    assert why in found.problems[0]
    (record,) = found.records
    assert isinstance(record, SampleRecord)
    assert [at for at, _, _ in record.values] == [AT, AT + 120]


def test_problems_are_bounded() -> None:
    found = parse_samples(["x"] * 5000)
    assert len(found.problems) == 101
    assert found.problems[-1] == "4900 more could not be used"


def test_levels_may_be_negative() -> None:
    assert parse_samples([line(counter=False, value=-4.5)]).problems == ()


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    found = parse_samples(text.splitlines())
    assert all(problem.isprintable() for problem in found.problems)
    is_samples(text)


def test_what_samples_look_like() -> None:
    assert is_samples("\n" + line() + "\n")
    assert is_samples('{"event": "x", "at": 1}')
    assert not is_samples('{"format": "stripewise-campaign", "at": 1}')
    assert not is_samples("")
    assert not is_samples("[1]")
