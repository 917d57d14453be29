# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The exchange format: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from random import Random

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import (
    Campaign,
    DirectoryStriping,
    Suite,
    anonymised,
    campaign_json,
    campaign_text,
    exchange_schema,
    find_suite,
    parse_campaign,
    parse_suite,
    suite_names,
    write_campaign,
)
from stripewise.bench.campaign._exchange import CaseForm, PlaceForm, RunForm, SampleForm
from stripewise.bench.campaign._suite import suite_text
from stripewise.bench.running import read_campaign
from stripewise.core.errors import StripewiseError, UsageError
from support.campaigns import made_campaign, usual_cases, usual_rate
from support.mutations import mutate

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "campaign.schema.json"
SECRET = "Zqxsecret"
PLAIN = made_campaign(usual_cases(2), usual_rate)


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (CaseForm, Case),
        (RunForm, CaseRun),
        (SampleForm, RunFigure),
        (PlaceForm, DirectoryStriping),
    ],
)
def test_the_form_has_every_field(form, kind) -> None:
    assert set(form.model_fields) - {"key"} == {one.name for one in fields(kind)} - {"key"}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    runs = (
        *PLAIN.runs,
        CaseRun(PLAIN.suite.cases[0].key, 9, "no-space", message="the quota is used up"),
    )
    told = replace(PLAIN, runs=runs, about={"versions": {"mpi": "4.1.2"}, "memory_bytes": 1})
    write_campaign(told, tmp_path / "a.json")
    assert read_campaign(tmp_path / "a.json") == told


@pytest.mark.parametrize("name", suite_names())
def test_each_suite_survives_as_a_campaign_and_as_text(name: str) -> None:
    suite = replace(find_suite(name), quick=(), own={})  # those are of campaigns to come
    campaign = Campaign("c", suite, ())
    assert parse_campaign(campaign_text(campaign), "c") == campaign
    assert parse_suite(suite_text(suite), "again").cases == suite.cases


def test_documents_follow_the_schema_of_the_reference() -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert schema == exchange_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(campaign_json(PLAIN), schema)
    jsonschema.validate(campaign_json(anonymised(PLAIN), anonymised=True), schema)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 2"),
        ({"version": "1"}, "version '1'"),
        ({"format": "other"}, "bench export"),
        ({"colour": 1}, "no key is called 'colour'"),
        ({"runs": 3}, "runs"),
        ({"started_unix_seconds": -1}, "started_unix_seconds"),
    ],
)
def test_other_documents_are_refused_in_one_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse_campaign(json.dumps({**campaign_json(PLAIN), **change}), "theirs.json")
    assert "theirs.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_runs_and_cases_stand_once() -> None:
    document = campaign_json(PLAIN)
    for table in ("cases", "runs"):
        with pytest.raises(UsageError, match=r"same|twice"):
            parse_campaign(
                json.dumps({**document, table: [*document[table], document[table][0]]}), "x"
            )


def test_no_mutation_crashes_the_reader() -> None:
    chance, lines = Random(5), set()
    small = replace(
        PLAIN, runs=PLAIN.runs[:4], suite=replace(PLAIN.suite, cases=PLAIN.suite.cases[:2])
    )
    data = campaign_text(small).encode()
    for _ in range(3000):
        try:
            text = mutate(data, chance).decode("utf-8")
            parse_campaign(text, "m.json")
        except (StripewiseError, UnicodeDecodeError) as error:
            lines.update(str(error).splitlines()[1:])
    assert not lines


# ---- without names ---------------------------------------------------------------------------


def _salted_run(key: str, repeat: int, word: str) -> CaseRun:
    sample = RunFigure(word, 1.0, 2.0, {word: 1.0, "open": 1.0}, {word: 1.0, "50": 1.0})
    return CaseRun(
        key, repeat, word, (sample,), word,
        hints={word: "1", "cb_nodes": word, "cb_buffer_size": "4"},
        layout={"targets": [3], "pool": word, "stripe_count": word, word: 1},
        circumstances={"load": 0.5, "node_list": word, "other_jobs": [word], word: 2},
    )  # fmt: skip


def salted(word: str) -> Campaign:
    """A campaign with a word in each place where a text can stand."""
    case = Case(
        word, word, word, word, 1, 2, word, word, word, word, word, word,
        settings=(("mpiio.cb_config_list", word), (word, word)),
        cache=word, sharing=word, beside=word,
    )  # fmt: skip
    plain = Case("MPI-IO", directory="striped")
    suite = Suite(
        word,
        word,
        word,
        {word: DirectoryStriping(), "striped": DirectoryStriping(4)},
        (case, plain),
        word,
    )
    runs = (*(_salted_run(one.key, 1, word) for one in (case, plain)), _salted_run(word, 1, word))
    about = {
        "launcher": word, "system": word, "memory_bytes": 7, "stack": word, "targets": 12,
        "stripewise": f"0.1 {word}", word: word,
        "versions": {word: "1.2", "mpi": f"{word} 4.1.2", "os": word},
    }  # fmt: skip
    return Campaign(word, suite, runs, word, word, 1.0, word, about)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzöß/@:- 7", max_size=12))
def test_no_word_of_a_user_leaves(around: str) -> None:
    text = campaign_text(anonymised(salted(around + SECRET + around)), anonymised=True)
    assert SECRET.lower() not in text.lower()
    assert parse_campaign(text, "x").suite.cases[1].series == "MPI-IO"


def test_versions_facts_and_figures_stay() -> None:
    found = anonymised(salted(SECRET))
    assert found.about == {
        "memory_bytes": 7, "targets": 12, "versions": {"mpi": "4.1.2"}, "stripewise": "0.1",
    }  # fmt: skip
    run = found.runs[1]
    assert (run.layout, run.circumstances) == ({"targets": [3]}, {"load": 0.5})
    assert run.hints == {"cb_buffer_size": "4"}
    assert run.samples[0].rate == 0.5


def test_cells_stay_apart_without_their_names() -> None:
    cases = tuple(
        Case(series, settings=(("mpiio.cb_config_list", value),))
        for series in ("Anna's", "series no.1", "Bob's")
        for value in ("host1:1", "host2:1")
    )
    suite = Suite("mine", "t", "", {"default": DirectoryStriping()}, cases)
    found = anonymised(Campaign("c", suite, ()))
    assert len({one.key for one in found.suite.cases}) == len(cases)
    assert len(parse_campaign(campaign_text(found), "x").suite.cases) == len(cases)


def test_suites_that_come_with_stripewise_keep_their_text() -> None:
    suite = find_suite("array3d").narrowed(nodes=[1, 2])
    assert anonymised(Campaign("c", suite, ())).suite == suite


def test_what_is_without_names_stays_as_it_is() -> None:
    once = anonymised(salted(SECRET))
    assert anonymised(once) == once
