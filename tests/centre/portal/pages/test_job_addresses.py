# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Engine

from support.portal_jobs import (
    LINES,
    document,
    finding,
    job,
    page_of,
    portal,
    profile,
    store,
)


def test_names_are_no_html_and_lines_keep_their_breaks(engine: Engine) -> None:
    evil = "<script>alert(1)</script>\"'"
    made = document(1, [finding(title=evil, text=evil, remedy=evil, files=[evil], tune=evil,
                                evidence={evil: evil}, lines=[*LINES, evil])])  # fmt: skip
    made["files"][0]["path"] = f"/scratch/{evil}"
    made["headline"] = made["command"] = evil
    made["patterns"][0] |= {"file": f"/scratch/{evil}", "dataset": evil, "notation": evil}
    ids = store(engine, [job(1, name=evil, state=evil[:60]), profile(1, made=made)])
    text = page_of(engine, ids[1])
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "\\x0a" not in text
    assert "# Cray MPICH\nexport OMPI_MCA_io=^ompio" in text


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("place", [
    "/jobs/0", "/jobs/" + "9" * 18, "/jobs/" + "9" * 30, "/jobs/" + "9" * 5000,
    "/jobs/1/profile/" + "9" * 19, "/jobs/-1", "/jobs/1%00",
])  # fmt: skip
def test_addresses_of_nothing(engine: Engine, place: str) -> None:
    assert portal(engine, "admin").get(place).status_code == 404


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words", ["", "a=1", "a=1&b=x", "a=1&b=" + "9" * 5000, "a=1&b=-1", "a=1&b=%00", "a=1&b=1.5"]
)
def test_words_that_name_no_two_jobs_are_refused(engine: Engine, words: str) -> None:
    store(engine, [job(1)])
    answer = portal(engine, "admin").get(f"/jobs/compare?{words}&as=json")
    assert answer.status_code == 400
    assert "error" in answer.json()


@pytest.mark.parametrize("words", ["source=x", "source=" + "1" * 5000, "source=1&after=zzz"])
def test_words_of_the_list_of_files_are_checked(engine: Engine, words: str) -> None:
    ids = store(engine, [job(1), profile(1)])
    assert portal(engine, "ada").get(f"/jobs/{ids[1]}/files?{words}").status_code == 400
