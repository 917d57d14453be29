# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of input: recognised by content, read into records, refused in one sentence."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.bench import Case
from stripewise.bench.campaign import write_campaign
from stripewise.centre.database._records import CampaignRecord, PairRecord, SourceRecord
from stripewise.centre.database.ingest._base import HEAD_BYTES, RefusedError
from stripewise.centre.database.ingest._evidence import EvidenceFeed
from stripewise.centre.database.ingest._inputs import FEEDS, PassedOver, Stamp, feed_of, walk
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.centre.database.ingest._report import FORMAT, ReportFeed, check_report, schema
from stripewise.centre.database.ingest._results import CampaignFeed, StudyFeed, without_stripewise
from stripewise.centre.database.ingest._work import check_trust, owned
from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.core.errors import StripewiseError, TraceError
from stripewise.present import finite
from support import fleet_inputs as inputs
from support.bench_campaigns import campaign

DOCS = Path(__file__).parents[4] / "docs" / "reference"
TESTS = Path(__file__).parents[3]
ORIGIN = Origin("", "0" * 64, "name")


def feed_name(path: Path) -> str:
    head = b"" if path.is_dir() else path.read_bytes()[:HEAD_BYTES]
    feed = feed_of(path, head)
    return feed.name if feed is not None else ""


def test_each_input_is_of_one_feed(tmp_path: Path) -> None:
    write_campaign(campaign([(Case("s"), {"write": [1e9, 2e9]})]), tmp_path / "c.json")
    found = {
        "report": inputs.write_report(tmp_path),
        "study": inputs.write_study(tmp_path),
        "campaign": tmp_path / "c.json",
        "evidence": inputs.darshan_logs()[0],
    }
    for name, path in found.items():
        assert feed_name(path) == name
        head = b"" if path.is_dir() else path.read_bytes()[:HEAD_BYTES]
        assert sum(feed.recognises(path, head) for feed in FEEDS) == 1
    assert feed_name(inputs.write_trace(tmp_path, 1)) == "evidence"
    assert feed_name(tmp_path / "solver0.stripewise" / "result.json") == "study"


@pytest.mark.parametrize(
    "name",
    [
        "storage/fit/readers/ior-posix-fpp.txt",
        "bench/data/ior-runner-fpp.json",
        "bench/data/mdtest-runner.txt",
        "bench/data/benchio-runner.txt",
    ],
)
def test_output_of_benchmarks_becomes_a_campaign(name: str) -> None:
    path = TESTS / name
    assert feed_name(path) == "campaign"
    (record,) = CampaignFeed().read(path, ORIGIN).records
    assert isinstance(record, CampaignRecord)
    assert record.figures
    assert all(row["low"] <= row["median"] <= row["high"] for row in record.figures)


def test_a_campaign_keeps_its_figures(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_campaign(campaign([(Case("s", nodes=2, ranks_per_node=4), {"write": [1e9, 3e9]})]), path)
    (record,) = CampaignFeed().read(path, ORIGIN).records
    assert isinstance(record, CampaignRecord)
    (row,) = record.figures
    assert row["median"] == pytest.approx(2e9)
    assert (row["nodes"], row["ranks"], row["run_count"]) == (2, 8, 2)
    assert (row["operation"], row["unit"]) == ("write", "bytes/s")


def test_a_campaign_of_anybody_is_not_believed(tmp_path: Path) -> None:
    stamp = Stamp(1, 1, 1.0, 12345)
    with pytest.raises(RefusedError, match="only files of root"):
        check_trust(CampaignFeed(), stamp, frozenset({0}))
    check_trust(CampaignFeed(), stamp, frozenset({0, 12345}))
    check_trust(ReportFeed(), stamp, frozenset({0}))


def test_a_profile_of_the_evidence_feed_says_what_kind_it_is(tmp_path: Path) -> None:
    (record,) = EvidenceFeed().read(inputs.write_trace(tmp_path, 3), ORIGIN).records
    assert isinstance(record, SourceRecord)
    assert record.kind == "trace"
    assert record.program == "program3"
    (log,) = EvidenceFeed().read(inputs.darshan_logs()[0], ORIGIN).records
    assert isinstance(log, SourceRecord)
    assert log.kind == "darshan"


def test_a_log_that_lost_all_its_counters_is_refused_and_tells_of_no_zeros(
    tmp_path: Path,
) -> None:
    log = next(path for path in inputs.darshan_logs() if path.stat().st_size > 20_000)
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(log.read_bytes()[:900])
    with pytest.raises(RefusedError, match="nothing is left to read of it: the log is damaged"):
        EvidenceFeed().read(cut, ORIGIN)


def test_the_runs_of_a_study_are_no_inputs_of_their_own(tmp_path: Path) -> None:
    path = inputs.write_study(tmp_path)
    inputs.write_trace(path / "runs", 1)
    (found,) = walk([tmp_path], PassedOver())
    assert (found.path, found.names) == (path, ("result.json",))
    (path / "result.json").unlink()
    passed = PassedOver()
    assert list(walk([tmp_path], passed)) == []
    assert passed.names == {"not finished yet": [str(path)]}


def test_a_trace_and_what_lies_beside_it_are_inputs(tmp_path: Path) -> None:
    trace = inputs.write_trace(tmp_path, 1)
    report = inputs.write_report(trace)
    found = {one.path: one.names for one in walk([tmp_path], PassedOver())}
    assert found == {trace: ("node1.sw",), report: ()}


# ---- reports --------------------------------------------------------------------------------


def test_the_schema_of_profiles_is_the_documented_one() -> None:
    documented = json.loads((DOCS / "profile.schema.json").read_text())
    assert {**documented, "$id": "profile"} == schema()["$defs"]["profile"]


def test_a_report_becomes_a_profile_of_its_owner(tmp_path: Path) -> None:
    (record,) = ReportFeed().read(inputs.write_report(tmp_path, job_id="7"), ORIGIN).records
    assert isinstance(record, SourceRecord)
    assert (record.kind, record.cluster, record.raw_id) == ("report", "alpha", 7)
    assert (record.start_at, record.end_at) == (1.7e9, 1.7e9 + 60)
    assert record.uid == os.geteuid()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"version": 2}, "version"),
        ({"uid": -1}, "uid"),
        ({"uid": "0"}, "uid"),
        ({"start": "now"}, "start"),
        ({"profile": {}}, "profile"),
        ({"more": 1}, "the document"),
    ],
)
def test_a_report_of_another_form_is_refused(change: dict[str, Any], where: str) -> None:
    with pytest.raises(TraceError, match=f"no report of version 1: {where}"):
        check_report(finite(inputs.report(**change)), "name")


REPORT = finite(inputs.report())
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner,
                                                                 max_size=3),
    max_leaves=6,
)  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(data, dict | list):
        return [path]
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


PLACES = [place for place in places(REPORT) if place]


@settings(max_examples=150, deadline=None)
@given(place=st.sampled_from(PLACES), value=ANYTHING)
def test_no_report_does_harm(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], value: Any
) -> None:
    data = deepcopy(REPORT)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path_factory.mktemp("r") / "a.report.json"
    path.write_text(json.dumps(data))
    with suppress(StripewiseError):
        (record,) = ReportFeed().read(path, ORIGIN).records
        assert isinstance(record, SourceRecord)


# ---- studies --------------------------------------------------------------------------------


def changed_result(tmp_path: Path, **changes: Any) -> Path:
    path = inputs.write_study(tmp_path) / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def test_settings_that_run_code_are_refused(tmp_path: Path) -> None:
    evil = {"version": 1, "file": [], "job": {"environment": {"LD_PRELOAD": "/tmp/x.so"}}}
    with pytest.raises(StripewiseError, match="LD_PRELOAD can run code of its author"):
        StudyFeed().read(changed_result(tmp_path, configuration=evil), ORIGIN)


@pytest.mark.parametrize(
    "changes",
    [{"version": 1}, {"speedup": {"median": 0}}, {"configuration": {"version": 1, "file": 3}},
     {"command": "x"}, {"result": "better"}],
)  # fmt: skip
def test_a_result_of_another_form_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(StripewiseError) as caught:
        StudyFeed().read(changed_result(tmp_path, **changes), ORIGIN)
    assert len(str(caught.value).splitlines()) == 1


def test_a_study_names_the_program_behind_its_launcher(tmp_path: Path) -> None:
    (record,) = StudyFeed().read(inputs.write_study(tmp_path), ORIGIN).records
    assert isinstance(record, PairRecord)
    assert record.program == "solver"


def test_nobody_tells_the_study_of_somebody_else_anew(tmp_path: Path) -> None:
    (record,) = StudyFeed().read(inputs.write_study(tmp_path), ORIGIN).records
    assert isinstance(record, PairRecord)
    one, two = (owned(record, owner, frozenset({0})) for owner in (1001, 1002))
    assert isinstance(one, PairRecord)
    assert isinstance(two, PairRecord)
    assert one.digest != two.digest


@pytest.mark.parametrize(
    ("family", "lines"),
    [
        ("mpich", ["export OMPI_MCA_io='a b'", "export MPICH_MPIIO_HINTS='*:cb_nodes=4'"]),
        ("openmpi", ["cat > romio-hints <<'END'", "cb_nodes 4", "END",
                     "export ROMIO_HINTS=$PWD/romio-hints"]),
    ],
)  # fmt: skip
def test_lines_that_need_no_stripewise(family: str, lines: list[str]) -> None:
    rule = FileRule("*", mpiio={"cb_nodes": 4})
    text = without_stripewise(Configuration((rule,), JobSettings(mca={"io": "a b"})), family)
    said = [line for line in text.splitlines() if not line.startswith("#")]
    assert set(lines) <= set(said)
    assert "export OMPI_MCA_io='a b'" in said


def test_what_lines_cannot_say_stands_above_them() -> None:
    rule = FileRule("*", mpiio={"cb_nodes": 4}, hdf5={"alignment": (1, 2)})
    first, *_ = without_stripewise(Configuration((rule,)), "openmpi").splitlines()
    assert first == "# not in these lines: HDF5 properties for *"
    only = FileRule("*", hdf5={"alignment": (1, 2)})
    assert without_stripewise(Configuration((only,)), "openmpi") == ""


# ---- owners ---------------------------------------------------------------------------------


def source(**told: Any) -> SourceRecord:
    return SourceRecord("darshan", "d", "n", "p", {}, b"", b"", **told)


@pytest.mark.parametrize(
    ("told", "owner", "found"),
    [
        ({}, 54321, (54321, "")),
        ({}, 0, (None, "")),
        ({"uid": 54321}, 54321, (54321, "")),
        ({"uid": 54321, "user": "forged"}, 54321, (54321, "")),
        ({"uid": 54321, "user": "told"}, 0, (54321, "told")),
        ({"uid": 7}, 0, (7, "")),
    ],
)
def test_whose_a_record_is(
    told: dict[str, Any], owner: int, found: tuple[int | None, str]
) -> None:
    record = owned(source(**told), owner, frozenset({0}))
    assert isinstance(record, SourceRecord)
    assert (record.uid, record.user) == found


@pytest.mark.parametrize("told", [{"uid": 7}, {"user": "somebody"}])
def test_a_record_of_another_user_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="its file belongs to uid 54321"):
        owned(source(**told), 54321, frozenset({0}))


def test_a_format_name_stands_first(tmp_path: Path) -> None:
    text = inputs.write_report(tmp_path).read_text()
    assert text.startswith(f'{{"format": "{FORMAT}"')
