# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import csv
import inspect
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine

from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.centre.database.store import _match
from stripewise.centre.portal.pages._job import _RULES
from stripewise.cli import main
from stripewise.evidence.readers import read_evidence
from support.portal_jobs import (
    START,
    data_of,
    document,
    finding,
    job,
    page_of,
    portal,
    profile,
    samples,
    store,
)

LOGS = Path(pytest.importorskip("darshan").__file__).parent / "examples/example_logs"


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", ["example.darshan", "ior_hdf5_example.darshan", "dxt.darshan", "sample-badost.darshan"]
)
def test_figures_and_profile_are_those_of_the_command_to_the_digit(
    engine: Engine, name: str
) -> None:
    printed = CliRunner().invoke(main, ["profile", "--json", str(LOGS / name)])
    assert printed.exit_code == 0, printed.output
    told = json.loads(printed.stdout)
    evidence = read_evidence(LOGS / name)
    (key,) = store(engine, [source_of(evidence, Origin("darshan", "d", name))]).values()
    client = portal(engine, "admin")
    data = client.get(f"/jobs/{key}?as=json").json()
    figures = told["figures"]
    assert data["lead"] == told["headline"]
    for column in ("io_seconds", "run_seconds", "read_bytes", "write_bytes"):
        assert data["figures"][column] == figures[column]
    assert data["about"]["meta_operations"] == figures["meta_operations"]
    assert data["about"]["bytes_per_second"] == figures["rate_bytes_per_second"]
    by_call = {part: figures[f"elapsed_{part}_seconds"] for part in ("read", "write", "meta")}
    assert data["io_by_call"] == {p: value for p, value in by_call.items() if value is not None}
    gains = [one["cost_seconds"] for one in told["findings"]]
    assert [one["cost_seconds"] for one in data["findings"]] == gains
    assert [one["title"] for one in data["findings"]] == [one["title"] for one in told["findings"]]
    for name in ("evidence", "files", "n_files", "stake_seconds"):
        assert [one[name] for one in data["findings"]] == [one[name] for one in told["findings"]]
    shown = data["files"]["rows"]
    assert [one["read_bytes"] for one in shown] == [one["read_bytes"] for one in told["files"]][
        :20
    ]
    answer = client.get(f"/jobs/{key}/profile/1")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.text == printed.stdout


def test_a_job_of_two_runs_adds_them_up_and_says_so(engine: Engine) -> None:
    made = document(1, [finding()])
    ids = store(engine, [
        job(1), profile(1, made=made),
        profile(1, made=document(1, io_seconds=2.0), start=START + 100, digest="second"),
    ])  # fmt: skip
    data = data_of(engine, ids[1])
    assert data["figures"]["io_seconds"] == 6.0
    assert "2 runs of programs" in data["lead"]
    assert "About 2.5 s can be avoided: collective calls" in data["lead"]
    assert {"timeline_1", "timeline_2"} <= set(data)


def test_where_nothing_is_known_there_is_a_reason_and_no_zero(engine: Engine) -> None:
    ids = store(engine, [
        job(1), job(2, start=None, state="CANCELLED"), job(3, start=None, state="PENDING"),
        job(4, state="RUNNING"), profile(5, user=""),
    ])  # fmt: skip
    words = {1: "No I/O profile", 2: "did not run", 3: "waits in the queue", 4: "still runs"}
    for number, text in words.items():
        data = data_of(engine, ids[number], "admin")
        assert text in data["lead"]
        assert data["figures"]["io_seconds"] is None
        assert data["figures"]["read_bytes"] is None
        assert data["why"][0] == data["lead"]
        assert "findings" not in data
        assert "witnesses" not in data
    assert "profile_next" in data_of(engine, ids[1])
    assert "profile_next" not in data_of(engine, ids[2])
    unknown = data_of(engine, ids[5], "admin")
    assert unknown["about"]["user"] is None
    assert "–" in page_of(engine, ids[5], "admin")


def test_the_list_does_not_call_a_job_finished_that_waits_or_runs(engine: Engine) -> None:
    store(engine, [job(1, start=None, state="PENDING"), job(2, state="RUNNING"), job(3)])
    text = portal(engine, "ada").get("/jobs").text
    for words in ("waiting in the queue", "still running", "no profile"):
        assert text.count(words) == 1 + (words == "no profile"), words  # one is a choice
    assert "did not run" not in text


@pytest.mark.extended
def test_a_finding_says_where_its_gain_comes_from_or_why_none_is_claimed(engine: Engine) -> None:
    basis = "not estimated: which of these files are needed is not known"
    ids = store(engine, [job(1), profile(1, made=document(1, [
        finding(), finding(code="name-calls", cost_seconds=None, least_seconds=None,
                           most_seconds=None, cost_basis=basis)]))])  # fmt: skip
    page = page_of(engine, ids[1])
    assert "Expected after the change: the same collective calls through ROMIO" in page
    assert f"The gain is {basis}." in page
    manager = page_of(engine, ids[1], "manager")
    assert manager.count("No gain is claimed.") == 1


def test_calls_by_name_are_a_part_of_the_io_time(engine: Engine) -> None:
    times = dict.fromkeys(("elapsed_read_seconds", "elapsed_write_seconds"), 2.0)
    ids = store(engine, [
        profile(1, made=document(1, io_seconds=60.0, elapsed_meta_seconds=1.0, **times)),
        profile(2, made=document(2, io_seconds=4.0, elapsed_meta_seconds=1.0, **times)),
    ])  # fmt: skip
    parts = data_of(engine, ids[1])["io_by_call"]
    assert parts == {"read": 2.0, "write": 2.0, "meta": 1.0, "names": 55.0}
    assert "names" not in data_of(engine, ids[2])["io_by_call"]


def test_what_stands_between_backticks_is_shown_as_code(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=document(1) | {"patterns": []})])
    text = page_of(engine, ids[1])
    assert "<code>stripewise run --trace</code>" in text
    assert "<code>stripewise profile --json</code>" in text
    assert "`" not in re.sub(r"<[^>]*>", "", text)


def test_a_job_that_was_ready_at_once_is_not_told_so(engine: Engine) -> None:
    ids = store(engine, [job(1, eligible_at=START - 100), job(2, eligible_at=START - 40)])
    assert "ready to run" not in page_of(engine, ids[1])
    assert "40 s of it ready to run" in page_of(engine, ids[2])


def test_clusters_are_named_where_jobs_of_several_are_listed(engine: Engine) -> None:
    store(engine, [job(1)])
    client = portal(engine, "ada")
    assert 'data-title="Cluster"' not in client.get("/jobs").text
    store(engine, [replace(job(1), cluster="beta")])
    assert client.get("/jobs").text.count('data-title="Cluster"') == 2


def test_every_block_that_is_a_table_is_also_csv(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=document(1, [finding()]))])
    client = portal(engine, "ada")
    for name in ("patterns", "files", "sources", "file_systems", "io_by_finding", "findings"):
        rows = list(csv.reader(io.StringIO(client.get(
            f"/jobs/{ids[1]}?as=csv&table={name}").text)))  # fmt: skip
        assert len(rows) > 1, name
        assert len({len(row) for row in rows}) == 1


def test_all_files_are_listed_in_pages_once(engine: Engine) -> None:
    made = document(1)
    made["files"] = [
        {**made["files"][0], "path": f"/scratch/f{place:04}.dat"} for place in range(130)
    ]
    ids = store(engine, [job(1), profile(1, made=made)])
    data = data_of(engine, ids[1])
    assert len(data["files"]["rows"]) == 20
    seen = [one["path"] for one in data["files"]["rows"]]
    place = data["files"]["next"]
    while place:
        part = portal(engine, "ada").get(f"{place}&as=json").json()["files"]
        seen += [one["path"] for one in part["rows"]]
        place = part["next"]
    assert seen == [one["path"] for one in made["files"]]


def test_settings_that_do_not_act_come_first(engine: Engine) -> None:
    made = document(1)
    for place, one in enumerate(made["files"]):
        one["hints"] = {"requested": {}, "applied": {}, "reported": {}}
        if place == 0:
            one["hints"] = {
                "requested": {"cb_nodes": "8", "odd": "1", "romio_cb_write": "Enable"},
                "applied": {"romio_cb_read": "enable"},
                "reported": {"cb_nodes": "4", "romio_cb_write": "enable",
                             "romio_cb_read": "enable", "striping_unit": "1"},
            }  # fmt: skip
    ids = store(engine, [job(1), profile(1, made=made)])
    rows = data_of(engine, ids[1])["settings"]["rows"]
    assert [(one["name"], one["acts"]) for one in rows] == [
        ("cb_nodes", "no: 4 acts instead"),
        ("odd", "no: this MPI does not know it"),
        ("romio_cb_read", "yes"),
        ("romio_cb_write", "yes"),
        ("striping_unit", "the library's own value"),
    ]


def test_a_library_that_echoes_hints_proves_nothing(engine: Engine) -> None:
    made = document(1)
    for one in made["files"]:
        one["hints"] = {"requested": {"odd": "1"}, "applied": {}, "reported": {"odd": "1"}}
    ids = store(engine, [job(1), profile(1, made=made)])
    rows = data_of(engine, ids[1])["settings"]["rows"]
    assert {one["acts"].partition(":")[0] for one in rows} == {"not known"}


def test_a_source_says_how_sure_it_belongs_to_the_job(engine: Engine) -> None:
    made = document(1)
    made["partial"] = True
    ids = store(engine, [job(1), profile(1, made=made), job(2), profile(2, start=START + 900)])
    (one,) = data_of(engine, ids[1])["sources"]["rows"]
    assert (one["match"], one["sure"]) == ("matched by job id and time", "certain")
    assert "not complete" in one["use"]
    (other,) = data_of(engine, ids[2])["sources"]["rows"]
    assert (other["sure"], "do not agree" in other["match"]) == ("uncertain", True)


def test_every_rule_of_matching_is_said_in_words() -> None:
    source = Path(inspect.getfile(_match)).read_text(encoding="utf-8")
    rules = set(re.findall(r'Match\([^"\n]*"([^"]+)"', source))
    assert len(rules) > 5
    assert rules <= set(_RULES)


def test_witnesses_that_differ_are_explained(engine: Engine) -> None:
    ids = store(engine, [
        job(1, server_read_bytes=1, slurm_write_bytes=1 << 50), profile(1),
        job(2, server_write_bytes=7),
    ])  # fmt: skip
    data = data_of(engine, ids[1])
    assert data["witnesses"]["write_bytes"] == [data["figures"]["write_bytes"], None, 1 << 50]
    assert any("pipes" in text for text in data["witnesses_words"])
    alone = data_of(engine, ids[2])
    assert alone["witnesses"]["write_bytes"] == [None, 7, None]
    assert "witnesses_words" not in alone


def test_the_storage_beside_the_job_is_judged(engine: Engine) -> None:
    quiet = [
        samples(m, START - 10 * 86400, [1e3] * 240, 3600) for m in ("read_bytes", "write_bytes")
    ]
    busy = [samples(m, START, [1e12] * 60) for m in ("read_bytes", "write_bytes")]
    ids = store(engine, [job(1), profile(1), *quiet, *busy])
    data = data_of(engine, ids[1])
    assert data["load"][0].startswith(
        "Others may be part of it: the storage was busier than in 100"
    )
    assert data["load_facts"]["busier_than"] == 1.0
    assert data["load_chart"]["at"]
    spans = page_of(engine, ids[1])
    assert "job_bytes_per_second" in json.dumps(data)
    assert "Job 1" in spans


def test_a_job_that_moves_most_is_told_so(engine: Engine) -> None:
    during = [samples(metric, START, [1.0] * 60) for metric in ("read_bytes", "write_bytes")]
    ids = store(engine, [job(1), profile(1), *during])
    assert data_of(engine, ids[1])["load"][0].startswith("Mostly this job")


def test_a_storage_that_is_not_sampled_is_named_as_not_known(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1)])
    assert "not sampled" in data_of(engine, ids[1])["load"][0]


def test_a_slower_run_names_what_changed(engine: Engine) -> None:
    records: list[Any] = []
    for number in range(1, 8):
        made = document(number)
        if number == 7:
            made = document(number, io_seconds=9.0, n_ranks=64)
            for one in made["files"]:
                one["layout"]["stripe_count"] = 1
        records += [job(number, start=START + 9999 * number),
                    profile(number, made=made, start=START + 9999 * number)]  # fmt: skip
    ids = store(engine, records)
    data = data_of(engine, ids[7])
    assert (
        "longer than before: 2.2x the median (4 s) of 6 earlier runs" in (data["changes_words"][0])
    )
    assert "striping of most data 1 x 1 MiB instead of 4 x 1 MiB" in data["changes_words"][1]
    assert data["changes"]["rank_count"][1] == 64
    assert [one["job"] for one in data["history"]["rows"]] == list("7654321")
    same = data_of(engine, ids[6])
    assert "about as long as the median" in same["changes_words"][0]
    assert "do not differ" in same["changes_words"][1]
    assert "changes" not in same
    assert "changes_words" not in data_of(engine, ids[1])


def test_two_jobs_are_compared(engine: Engine) -> None:
    ids = store(engine, [
        job(1), profile(1), job(2, start=START + 9999),
        profile(2, made=document(2, io_seconds=8.0, n_ranks=7), start=START + 9999), job(3),
    ])  # fmt: skip
    client = portal(engine, "ada")
    data = client.get(f"/jobs/compare?a={ids[1]}&b={ids[2]}&as=json").json()
    assert data["lead"] == "Job 2 spent 8 s in I/O, 2.0x as long as job 1 (4 s)."
    assert data["figures"]["io_seconds"] == [4.0, 8.0]
    assert any(text.startswith("Ranks 7 instead of") for text in data["changes"])
    page = client.get(f"/jobs/compare?a={ids[1]}&b={ids[2]}")
    assert page.status_code == 200
    unknown = client.get(f"/jobs/compare?a={ids[1]}&b={ids[3]}&as=json").json()
    assert "job 3 is not known" in unknown["lead"]
