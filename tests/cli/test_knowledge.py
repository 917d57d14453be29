# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import sqlite3
import uuid
from dataclasses import replace

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core import PatternSummary
from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    Store,
    StudiedCase,
    Tried,
    TriedState,
    own_store,
)

CASE = StudiedCase(
    Machine("x86_64", "CPU", 8, 1 << 34, "6.1", "ext4", "virtual"),
    LibraryVersions("openmpi", "4.1.4", "ompio", hdf5="so.103"),
    Fingerprint("flash_io", "ab" * 32, 4, independent_share=1.0, noncontiguous=True),
)


def lesson(program="flash_io", improved=True, at=1.79e9):
    settings = {"mca.io": "romio321", "mpiio.ind_wr_buffer_size": 4 << 20}
    return Lesson(
        uuid.uuid4().hex,
        at,
        StudiedCase(CASE.machine, CASE.stack, Fingerprint(program))
        if program != "flash_io"
        else CASE,
        improved,
        settings if improved else {},
        Effect(4.8, 4.1, 5.6, 6) if improved else None,
        resolution="the baseline varies by 4 %",
        tried=(
            Tried(settings, TriedState.COMPLETE, 0.2, 2),
            Tried({"mca.io": "ompio"}, TriedState.REJECTED, None, 1),
        ),
        n_runs=30,
    )


@pytest.fixture
def kept(knowledge_path):
    lessons = [lesson(at=3.0), lesson("other", improved=False, at=2.0)]
    own_store().add(lessons)
    return lessons


def run(*words, **extra):
    return CliRunner().invoke(main, ["knowledge", *words], **extra)


def test_studies_are_found_by_their_first_digits(kept):
    begin = kept[0].study_id[:6]
    assert run("show", begin.upper()).output.startswith(f"study {begin}")
    assert "1 study forgotten" in run("forget", begin.upper()).output
    for words in (["show", "zz"], ["show", ""], ["forget", "zz"], ["forget", ""]):
        done = run(*words)
        assert done.exit_code == 2
        assert "no study begins" in done.stderr


def test_nothing_is_remembered_at_first(knowledge_path):
    assert run("list").stdout == "no study is stored\n"
    assert json.loads(run("list", "--json").stdout) == []
    assert not knowledge_path.exists()


def test_lists(kept):
    done = run("list")
    assert done.exit_code == 0
    header, first, second = done.stdout.splitlines()
    assert header.split()[:3] == ["STUDY", "DATE", "PROGRAM"]
    assert first.startswith(kept[0].study_id[:8])
    assert "4.8x [4.1-5.6]  io=romio321 ind_wr_buffer_size=4 MiB" in first
    assert "1 failed or rejected" in first
    assert "no improvement" in second
    only = json.loads(run("list", "--program", "other", "--json").stdout)
    assert [(d["study_id"], d["origin"]) for d in only] == [(kept[1].study_id, "own")]


def test_shows(kept):
    done = run("show", kept[0].study_id[:10])
    assert done.exit_code == 0
    for text in ("flash_io, 4 ranks", "hdf5 so.103", "100% independent", "rejected", "ext4"):
        assert text in done.stdout
    data = json.loads(run("show", kept[0].study_id, "--json").stdout)
    assert data["case"]["machine"]["cpu"] == "CPU"
    assert run("show", "zzz").exit_code == 2


def test_a_storage_that_is_described_is_named_here_and_not_elsewhere():
    machine = replace(CASE.machine, described="our-scratch", filesystem="lustre")
    own_store().add([replace(lesson(), case=replace(CASE, machine=machine))])
    assert " our-scratch " in run("list").stdout
    (shown,) = own_store().lessons()
    assert "our-scratch, lustre virtual" in run("show", shown.study_id).stdout
    assert "our-scratch" not in run("export").stdout


def test_forgets(kept):
    assert run("forget").exit_code == 2
    assert run("forget", "--all", "--program", "x").exit_code == 2
    assert run("forget", kept[0].study_id[:12]).stdout.startswith("1 study forgotten")
    assert json.loads(run("forget", "--program", "other", "--json").stdout)["forgotten"] == 1
    assert own_store().lessons() == []
    assert run("forget", "--all").stdout.startswith("0 studies")


def test_exports_and_imports(kept, tmp_path, monkeypatch):
    file = tmp_path / "found.jsonl"
    assert run("export", str(file)).exit_code == 0
    printed = run("export", "--program", "other").stdout
    assert printed == file.read_text().splitlines(keepends=True)[1]
    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(tmp_path / "other.sqlite"))
    assert run("import", str(file)).stdout.startswith("2 studies read, 2 new")
    assert run("import", "-", input=printed).stdout.startswith("1 study read, 0 new")
    assert {origin for _, origin in own_store().entries()} == {"imported"}


def test_damaged_studies_are_forgotten_too(kept):
    assert len(own_store().lessons(most=1)) == 1
    assert len(own_store().lessons(most=None)) == 2
    with sqlite3.connect(own_store().path) as connection:
        connection.execute("UPDATE study SET document = '{'")
    assert run("forget", "--all").stdout.startswith("2 studies forgotten")


def test_a_bad_import_takes_nothing(kept, tmp_path):
    file = tmp_path / "found.jsonl"
    run("export", str(file))
    file.write_text(file.read_text() + '{"version": 1}\n')
    run("forget", "--all")
    done = run("import", str(file))
    assert done.exit_code == 3
    assert "found.jsonl: line 3: " in done.stderr
    assert own_store().lessons() == []


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"hello\n"])
def test_what_is_no_export_is_refused_in_one_line(tmp_path, content):
    file = tmp_path / "x"
    if content is not None:
        file.write_bytes(content)
    done = run("import", str(file))
    assert done.exit_code in (2, 3)
    assert len(done.stderr.splitlines()) == 1


def test_a_store_that_is_none_is_an_error(knowledge_path):
    knowledge_path.write_bytes(b"rubbish" * 500)
    done = run("list")
    assert done.exit_code == 8
    assert "STRIPEWISE_KNOWLEDGE" in done.stderr


def test_a_file_that_cannot_be_written_is_an_error(kept, tmp_path):
    assert run("export", str(tmp_path / "no" / "x")).exit_code == 8


def test_the_sites_studies_are_listed_and_not_forgotten(kept, tmp_path, monkeypatch):
    site = Store(tmp_path / "site.sqlite")
    shared = lesson("shared")
    site.add([shared])
    monkeypatch.setenv("STRIPEWISE_SITE_KNOWLEDGE", str(site.path))
    found = json.loads(run("list", "--json").stdout)
    assert [d["origin"] for d in found] == ["own", "own", "site"]
    assert run("show", shared.study_id[:8]).exit_code == 0
    assert run("forget", shared.study_id).exit_code == 2
    assert run("forget", "--all").exit_code == 0
    assert site.lessons() == [shared]


SLABS = PatternSummary(True, ("BLOCK", "*"), (4, 1), (64, 1024), 8, 3, 1.0, bytes=6 << 20)


def with_pattern(settings):
    return replace(
        lesson(at=5.0),
        case=replace(CASE, fingerprint=replace(CASE.fingerprint, patterns=(SLABS,))),
        candidate=settings,
    )


def test_patterns_are_shown(knowledge_path):
    kept = with_pattern({"mpiio.cb_nodes": 4})
    own_store().add([kept])
    assert "<2D, (BLOCK, *), (64, 1024)>" in run("list").output
    shown = run("show", kept.study_id).output
    line = next(one for one in shown.splitlines() if "pattern" in one)
    for words in ("(64, 1024)>", "written", "100% collective", "3 steps", "6 MiB"):
        assert words in line


def test_pairs_of_pattern_and_xml_are_written_and_read(knowledge_path, tmp_path):
    own_store().add([with_pattern({"mpiio.cb_nodes": 4, "mca.io": "romio321"})])
    written = run("export", "--h5tuner", str(tmp_path / "pairs"))
    assert written.exit_code == 0
    assert "1 pair of pattern and XML written" in written.stderr
    assert "not in the XML" in written.stderr
    own_store().path.unlink()
    read = run("import", "--h5tuner", str(tmp_path / "pairs"))
    assert read.exit_code == 0
    (again,) = own_store().lessons()
    assert again.candidate["mpiio.cb_nodes"] == 4
    assert "0 new" in run("import", "--h5tuner", str(tmp_path / "pairs")).output


@pytest.mark.parametrize(
    "words", [("import",), ("import", "a", "--h5tuner", "b"), ("export", "a", "--h5tuner", "b")]
)
def test_pairs_and_lines_are_not_mixed(knowledge_path, words):
    refused = run(*words)
    assert refused.exit_code == 2
    assert "--h5tuner DIR" in refused.output + refused.stderr
