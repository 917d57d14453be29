# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How sacct is asked: which time, which words, and what becomes of a failure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.ingest._sacct import Window, read_sacct, window
from stripewise.core.errors import StripewiseError
from stripewise.run.slurm import Sacct

DAY = 86400
NOW = 1793491200  # 2026-11-01T00:00:00Z
FAKE = """#!{python}
import json, os, sys
asked = {{"words": sys.argv[1:], "environment": dict(os.environ)}}
with open({log!r}, "a") as log:
    log.write(json.dumps(asked) + "\\n")
if "--helpformat" in sys.argv:
    print({columns!r})
    sys.exit()
{body}
"""
ANSWER = """
columns = next(w for w in sys.argv if w.startswith("--format=")).partition("=")[2].split(",")
mark = next(w for w in sys.argv if w.startswith("--delimiter=")).partition("=")[2]
print(mark.join(columns))
row = dict(jobid="7", jobidraw="7", user="u", state="COMPLETED", submit="2026-10-30T00:00:00",
           start="2026-10-30T00:00:00", end="2026-10-30T00:00:09", jobname="a|b")
print(mark.join(row.get(name, "") for name in columns))
forged = row | dict(jobid="8", jobidraw="8", user="victim")
print("|".join(columns))
print("|".join(forged.get(name, "") for name in columns))
"""


class Fake:
    """A sacct on a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"

    def make(self, body: str = ANSWER, columns: str = "JobID TRESUsageInTot") -> Sacct:
        program = self.folder / "sacct"
        program.write_text(
            FAKE.format(python=sys.executable, log=str(self.log), columns=columns, body=body)
        )
        program.chmod(0o755)
        return Sacct(
            environment={"PATH": str(self.folder), "SACCT_FORMAT": "x", "SLURM_TIME_FORMAT": "%s",
                         "SLURM_CONF": "/etc/s", "TZ": "Asia/Tokyo"}
        )  # fmt: skip

    def asked(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()][1:]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def test_a_long_time_is_asked_a_day_at_a_time_in_utc(fake: Fake) -> None:
    read = list(read_sacct(fake.make(), Window(NOW - 2 * DAY - 60, NOW)))
    assert [[record.raw_id for record in parsed.records] for parsed in read] == [[7]] * 3
    assert read[0].records[0].columns["name"] == "a|b"
    assert [text[:21] for text in read[0].problems] == [
        "line 3 is left out: i",
        "line 4 is left out: i",
    ]
    asked = fake.asked()
    marks = [word for one in asked for word in one["words"] if word.startswith("--delimiter=")]
    assert len(set(marks)) == 3  # nobody can know it beforehand
    words = [word for one in asked for word in one["words"] if word.startswith(("--st", "--en"))]
    assert words == [
        "--starttime=2026-10-29T23:59:00", "--endtime=2026-10-30T23:59:00",
        "--starttime=2026-10-30T23:59:00", "--endtime=2026-10-31T23:59:00",
        "--starttime=2026-10-31T23:59:00", "--endtime=2026-11-01T00:00:00",
    ]  # fmt: skip
    environment = asked[0]["environment"]
    assert environment["TZ"] == "UTC"
    assert environment["SLURM_CONF"] == "/etc/s"
    assert not {"SACCT_FORMAT", "SLURM_TIME_FORMAT"} & set(environment)


def test_only_columns_that_this_sacct_knows_are_asked_for(fake: Fake) -> None:
    list(read_sacct(fake.make(columns="JobID SLUID TRESUsageInTot"), Window(NOW - 9, NOW)))
    form = next(word for word in fake.asked()[0]["words"] if word.startswith("--format="))
    assert form.endswith(",nodelist,sluid,tresusageintot,jobname")


def test_names_of_clusters_are_one_word_of_the_command(fake: Fake) -> None:
    sacct = Sacct("a; touch x", environment=fake.make().environment)
    list(read_sacct(sacct, Window(NOW - 9, NOW)))
    assert "--clusters=a; touch x" in fake.asked()[0]["words"]


def test_a_failure_is_one_line_with_what_sacct_said(fake: Fake) -> None:
    body = "sys.stderr.write('sacct: error: Problem talking to the database\\n'); sys.exit(1)"
    with pytest.raises(StripewiseError, match=r"sacct failed: Problem talking.*slurmdbd runs"):
        list(read_sacct(fake.make(body), Window(NOW - 9, NOW)))


def test_a_silent_failure_has_its_exit_code(fake: Fake) -> None:
    with pytest.raises(StripewiseError, match="sacct failed: exit code 3"):
        list(read_sacct(fake.make("sys.exit(3)"), Window(NOW - 9, NOW)))


def test_a_sacct_that_does_not_end_is_stopped(fake: Fake) -> None:
    given = fake.make("import time; time.sleep(60)")
    slow = Sacct(timeout_seconds=1.0, environment=given.environment)
    with pytest.raises(StripewiseError, match="did not end within 1 s"):
        list(read_sacct(slow, Window(NOW - 9, NOW)))


def test_without_sacct_the_remedy_is_said(tmp_path: Path) -> None:
    with pytest.raises(StripewiseError, match="there is no sacct on PATH: read the jobs on"):
        list(read_sacct(Sacct(environment={"PATH": str(tmp_path)}), Window(NOW - 9, NOW)))


def test_what_was_read_is_overlapped() -> None:
    assert window(NOW - 3600, NOW) == Window(NOW - 3600 - 2 * DAY, NOW)
    assert window(NOW, NOW + 300) == Window(NOW - 3600, NOW + 300)  # that day was begun already
    assert window(NOW + 300, NOW + DAY - 1) == Window(NOW - 3300, NOW + DAY - 1)
    assert window(NOW + DAY - 1, NOW + DAY) == Window(NOW - DAY - 1, NOW + DAY)
    assert window(None, NOW) == Window(NOW - 30 * DAY, NOW)
    assert window(NOW + 9 * DAY, NOW) == Window(NOW, NOW)  # a clock was wrong


@given(st.integers(0, 2**33), st.integers(0, 400 * DAY))
def test_days_cover_a_time_without_gap_or_overlap(start: int, length: int) -> None:
    days = list(Window(start, start + length).days())
    edges = [start, *(day.end for day in days)]
    assert [day.start for day in days] == edges[:-1]
    assert edges[-1] == start + length
    assert all(0 < day.end - day.start <= DAY for day in days)
