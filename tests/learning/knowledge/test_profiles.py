# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The table of programs that were seen: kept, found by arguments or executable, forgotten."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys

import pytest

from learning.knowledge.lessons import lesson
from stripewise.core.errors import StorageError
from stripewise.learning.knowledge import KeptProfile, Profiles, Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "knowledge.sqlite")


def profile(identity="a", executable="e1", ground="g", **document):
    return KeptProfile(identity, executable, ground, document)


def test_nothing_is_known_before_anything_is_kept(store):
    found = Profiles(store.path).look("a", "e1", "g")
    assert (found.exact, found.others, found.state) == (None, (), "")
    assert not store.path.exists()


def test_a_profile_is_found_by_its_identity_and_by_its_executable(store):
    profiles = Profiles(store.path)
    profiles.keep(profile("a", n=1))
    profiles.keep(profile("a", n=2))
    profiles.keep(profile("b", n=3))
    profiles.keep(profile("c", ground="other", n=4))
    profiles.keep(profile("d", executable="e2", n=5))
    found = profiles.look("a", "e1", "g")
    assert found.exact is not None
    assert found.exact.document == {"n": 2}
    assert [one.identity for one in found.others] == ["b"]
    assert profiles.look("z", "e1", "g").exact is None


def test_the_state_changes_with_the_studies_and_not_with_the_profiles(store):
    profiles = Profiles(store.path)
    empty = profiles.keep(profile())
    assert profiles.keep(profile("b")) == empty
    one = lesson()
    store.add([one])
    with_study = profiles.look("a", "e1", "g").state
    assert with_study != empty
    store.forget([one.study_id])
    assert profiles.look("a", "e1", "g").state == empty


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '"' + "x" * (1 << 21) + '"'])
def test_a_damaged_profile_is_said_with_the_remedy(store, text):
    profiles = Profiles(store.path)
    profiles.keep(profile())
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE profile SET document = ?", (text,))
    with pytest.raises(StorageError, match=r"damaged; .*forget --runs"):
        profiles.look("a", "e1", "g")
    assert profiles.forget() == 1
    assert profiles.look("a", "e1", "g").exact is None


def test_a_digest_is_computed_anew_only_for_a_file_that_changed(store, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"one")
    profiles = Profiles(store.path)
    assert profiles.digest_of(program) == hashlib.sha256(b"one").hexdigest()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE executable SET sha256 = 'kept'")
    assert profiles.digest_of(program) == "kept"
    os.utime(program, ns=(1, 1))
    assert profiles.digest_of(program) == hashlib.sha256(b"one").hexdigest()
    assert profiles.digest_of(tmp_path) == ""
    assert profiles.digest_of(tmp_path / "none") == ""


def test_a_store_that_cannot_be_written_still_gives_digests(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"one")
    profiles = Profiles(tmp_path / "none", read_only=True)
    assert profiles.digest_of(program) == hashlib.sha256(b"one").hexdigest()
    with pytest.raises(StorageError, match="read only"):
        profiles.keep(profile())


def test_a_look_up_loads_neither_numpy_nor_pydantic():
    code = "import sys; from stripewise.learning.knowledge import Profiles; print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout
    assert "pydantic" not in done.stdout
