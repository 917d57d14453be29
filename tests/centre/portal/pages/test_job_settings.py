# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from sqlalchemy import Engine

from stripewise.centre.portal.pages._jobs import finding_words
from stripewise.evidence.diagnosis import RULES
from stripewise.settings import formats
from support.portal_jobs import (
    data_of,
    document,
    finding,
    job,
    page_of,
    pair,
    portal,
    profile,
    store,
)


def test_settings_that_findings_advise_load_and_need_no_stripewise(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=document(1, [finding()])), job(2), profile(2)])
    client = portal(engine, "ada")
    answer = client.get(f"/jobs/{ids[1]}/settings.toml")
    assert answer.headers["content-disposition"] == 'attachment; filename="settings-1.toml"'
    loaded = formats.get("toml").read(answer.text).configuration
    assert dict(loaded.files[0].mpiio) == {"romio_cb_write": "enable"}
    assert "not proved yet: shredded-collective" in answer.text
    shell = client.get(f"/jobs/{ids[1]}/settings.sh").text
    assert "export OMPI_MCA_io='^ompio'" in shell
    assert "stripewise" not in shell
    assert f"/jobs/{ids[1]}/settings.toml" in page_of(engine, ids[1])
    for form in ("toml", "sh"):
        assert client.get(f"/jobs/{ids[2]}/settings.{form}").status_code == 404
    assert "settings." not in page_of(engine, ids[2])


def test_proved_settings_go_first_and_are_said_to_be_proved(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=document(1, [finding()])), pair()])
    client = portal(engine, "ada")
    text = client.get(f"/jobs/{ids[1]}/settings.toml").text
    assert "cb_nodes = 4" in text
    assert "3.8x as fast (3.5x to 4.1x, 95 %) in 12 pairs of runs" in text
    assert formats.get("toml").read(text).configuration.files[0].match == "*.h5"
    assert client.get(f"/jobs/{ids[1]}/settings.sh").text.endswith(
        "export MPICH_MPIIO_HINTS='*.h5:cb_nodes=4'\n"
    )
    (told,) = data_of(engine, ids[1])["findings"]
    assert "12 pairs" in told["proof"]


def test_a_proof_is_not_offered_for_another_pattern_or_another_remedy(engine: Engine) -> None:
    by_source = finding(code="small-requests", lines=[], tune="")
    other = pair(pattern="<1D, (CYCLIC)>")
    ids = store(engine, [
        job(1), profile(1, made=document(1, [finding()])), other,
        job(2, user="bea"), profile(2, user="bea", made=document(2, [by_source])), pair("bea"),
    ])  # fmt: skip
    assert data_of(engine, ids[1])["findings"][0]["proof"] == ""
    assert "cb_nodes" not in portal(engine, "ada").get(f"/jobs/{ids[1]}/settings.toml").text
    assert data_of(engine, ids[2], "bea")["findings"][0]["proof"] == ""


def test_settings_that_cannot_be_said_in_a_shell_are_not_offered_there(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1), pair(hints="")])
    client = portal(engine, "ada")
    assert client.get(f"/jobs/{ids[1]}/settings.toml").status_code == 200
    assert client.get(f"/jobs/{ids[1]}/settings.sh").status_code == 404
    assert "settings.sh" not in page_of(engine, ids[1])


def test_every_finding_has_general_words() -> None:
    for rule in RULES:
        words = finding_words(rule.code)
        assert words == (rule.title, rule.general_remedy, rule.tunes)
        assert words.remedy.endswith(".")
    assert finding_words("new-one").title == "New one"
