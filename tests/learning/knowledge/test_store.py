# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from lessons import KNOB, case, lesson

from stripewise.core.errors import ConfigurationError, StorageError
from stripewise.learning.knowledge import Store, Tried, TriedState, _file, own_store, site_stores
from stripewise.learning.knowledge._file import VERSION
from stripewise.settings.tunables import all_tunables
from support.strategy_suite import romio_facts


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "deep" / "knowledge.sqlite")


def test_what_is_kept_is_read_again(store):
    bad = Tried({KNOB: "enable"}, TriedState.HUNG, None, 1)
    good = Tried({"hdf5.alignment": (0, 1 << 20), "mca.io": "romio321"}, io_ratio=0.5)
    kept = lesson(tried=(bad, good))
    assert store.add([kept]) == 1
    assert store.lessons() == [kept]
    assert store.lessons()[0].bad == (bad,)


def test_a_study_is_kept_once(store):
    kept = lesson()
    assert store.add([kept]) == 1
    assert store.add([replace(kept, improved=False)]) == 0
    assert store.lessons() == [kept]


def test_newest_first_and_by_family_and_program(store):
    old, new = lesson(at=1.0), lesson(at=2.0)
    other = lesson(of=case(program="other"), at=3.0)
    store.add([old, new, other])
    assert store.lessons(program="prog") == [new, old]
    assert store.lessons(mpi_family="openmpi") == []
    assert len(store.lessons(mpi_family="mpich")) == 3


def test_a_store_that_is_not_there_is_empty_and_stays_away(store):
    assert store.lessons() == []
    assert store.forget(["0" * 32]) == 0
    assert not store.path.exists()


def test_only_the_owner_may_read_it(store):
    store.add([lesson()])
    assert store.path.stat().st_mode & 0o077 == 0
    assert store.path.parent.stat().st_mode & 0o077 == 0


def test_no_files_are_left_beside_it(store):
    store.add([lesson()])
    assert [path.name for path in store.path.parent.iterdir()] == ["knowledge.sqlite"]
    assert sqlite3.connect(store.path).execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_forgets(store):
    first, second = lesson(), lesson()
    store.add([first, second])
    assert store.forget([first.study_id]) == 1
    assert store.lessons() == [second]


def test_a_damaged_file_is_an_error_that_names_it(store):
    store.path.parent.mkdir()
    store.path.write_text("this is not a database, however long it may be\n" * 100)
    with pytest.raises(StorageError, match=r"knowledge\.sqlite.*STRIPEWISE_KNOWLEDGE"):
        store.lessons()
    with pytest.raises(StorageError):
        store.add([lesson()])


def test_a_cut_file_is_an_error(store):
    store.add([lesson() for _ in range(50)])
    data = store.path.read_bytes()
    store.path.write_bytes(data[: len(data) // 2])
    with pytest.raises(StorageError):
        store.lessons()


def test_another_applications_database_is_not_touched(store):
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE mail (text)")
    with pytest.raises(StorageError, match="another application"):
        store.add([lesson()])
    tables = sqlite3.connect(store.path).execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("mail",)]


def test_an_empty_file_is_an_empty_store(store):
    store.path.parent.mkdir()
    store.path.touch()
    assert store.lessons() == []
    assert store.add([lesson()]) == 1


def test_a_newer_store_is_neither_read_nor_written(store):
    store.add([lesson()])
    with sqlite3.connect(store.path) as connection:
        connection.execute("INSERT INTO migration VALUES (?, 0)", (VERSION + 1,))
    with pytest.raises(StorageError, match="newer Stripewise"):
        store.lessons()
    with pytest.raises(StorageError, match="newer Stripewise"):
        store.add([lesson()])


def test_an_older_store_is_neither_read_nor_written(store):
    store.add([lesson()])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE migration SET version = ?", (VERSION - 1,))
    with pytest.raises(StorageError, match="an older Stripewise"):
        store.lessons()


def test_damaged_rows_are_passed_over_and_told(store):
    kept = lesson()
    store.add([kept, lesson()])
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE study SET document = '{\"version\":1}' WHERE id != ?", (kept.study_id,)
        )
    assert store.lessons() == [kept]
    assert store.damage == f"{store.path}: skipped 1 study that cannot be read"


def test_what_could_not_be_read_again_is_not_kept(store):
    with pytest.raises(ConfigurationError):
        store.add([replace(lesson(), resolution="two\nlines")])
    assert store.lessons() == []


def test_many_writers_at_once(store, monkeypatch):
    monkeypatch.setattr(_file, "WAIT_SECONDS", 120.0)  # the order is that of luck

    def add(number):
        return Store(store.path).add([lesson(at=float(number))])

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(add, range(40))) == 40
    assert len(store.lessons()) == 40


def test_a_writer_that_is_killed_leaves_nothing_half_done(store):
    store.add([lesson()])
    code = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute('DELETE FROM study')\n"
        "c.execute('CREATE TABLE junk AS SELECT randomblob(1000000) AS x')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(store.path)], check=False)
    assert len(store.lessons()) == 1


def test_the_sites_store_is_read_only(tmp_path, monkeypatch):
    shared = Store(tmp_path / "site #1%.sqlite")
    kept = lesson()
    shared.add([kept])
    monkeypatch.setenv("STRIPEWISE_SITE_KNOWLEDGE", str(shared.path))
    (site,) = site_stores((str(shared.path),))
    assert site.lessons() == [kept]
    with pytest.raises(StorageError, match="read only"):
        site.add([lesson()])
    with pytest.raises(StorageError, match="read only"):
        site.forget([kept.study_id])


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", "/a/b")
    assert str(own_store().path) == "/a/b"
    monkeypatch.delenv("STRIPEWISE_KNOWLEDGE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert own_store().path == tmp_path / "stripewise/knowledge.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert own_store().path == tmp_path / ".local/share/stripewise/knowledge.sqlite"


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    monkeypatch.delenv("STRIPEWISE_KNOWLEDGE")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    nowhere = own_store()
    assert nowhere.lessons() == []
    with pytest.raises(StorageError, match="STRIPEWISE_KNOWLEDGE"):
        nowhere.add([lesson()])


def test_every_knob_can_be_kept(store):
    for knob in all_tunables():
        values = [*knob.domain.choices[:1], *knob.search.ladder(romio_facts())[:1]]
        for value in values:
            assert store.add([lesson({knob.name: knob.check(value)})]) == 1


def test_text_that_is_not_utf8_is_said(store):
    store.add([lesson()])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE study SET document = CAST(x'ff' AS TEXT)")
    with pytest.raises(StorageError, match="cannot be used"):
        store.lessons()
