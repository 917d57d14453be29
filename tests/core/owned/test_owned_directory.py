# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Stripewise made is known again; nothing else is read, written or removed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stripewise.core import MARK, OwnedDirectory, temporary_directory
from stripewise.core.errors import StorageError, StudyError


@pytest.fixture
def owned(tmp_path: Path) -> OwnedDirectory:
    return OwnedDirectory.take(tmp_path / "p.stripewise", "study")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    (path / "a").mkdir(parents=True)
    (path / "a" / "file").write_text("x")
    return path


def modes(path: Path) -> set[int]:
    return {stat.S_IMODE(p.stat().st_mode) for p in path.rglob("*") if p.is_file()}


def test_it_is_made_for_the_user_alone_and_found_again(owned: OwnedDirectory) -> None:
    assert stat.S_IMODE(owned.path.stat().st_mode) == 0o700
    assert OwnedDirectory.find(owned.path) == owned
    assert OwnedDirectory.take(owned.path, "study") == owned
    owned.write("best.toml", b"x")
    owned.inside("cases", "a", "runs").make()
    assert modes(owned.path) == {0o600}
    assert owned.read("best.toml") == b"x"
    assert owned.read("none") is None
    assert owned.inside("cases").names() == ("a",)
    owned.discard()
    assert not owned.path.exists()


def test_an_empty_directory_of_the_users_is_taken_and_left(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o775)
    owned = OwnedDirectory.take(tmp_path / "d", "recording")
    owned.write("x", b"x")
    owned.discard()
    assert list((tmp_path / "d").iterdir()) == []


def test_one_that_holds_other_files_is_refused_and_left(precious: Path) -> None:
    with pytest.raises(StudyError, match=r"\(a lies in it\); give another --study-dir"):
        OwnedDirectory.take(precious, "study")
    assert [path.name for path in precious.iterdir()] == ["a"]
    with pytest.raises(StudyError, match="not made by this version"):
        OwnedDirectory.find(precious)


def test_one_that_was_made_for_something_else_is_refused(owned: OwnedDirectory) -> None:
    with pytest.raises(StudyError, match="directory of a study; give another --work-dir"):
        OwnedDirectory.take(owned.path, "recording")


def test_no_link_is_followed(owned: OwnedDirectory, precious: Path, tmp_path: Path) -> None:
    (owned.path / "work").symlink_to(precious)
    with pytest.raises(StudyError, match="work is a link"):
        owned.inside("work").remove("a")
    with pytest.raises(StudyError, match="work is a link"):
        owned.inside("work", "b").make()
    assert owned.names() == ()
    for name in ("lock", "report.html"):
        (owned.path / name).symlink_to(precious / "a" / "file")
    with pytest.raises(StudyError, match="link"):
        owned.read("report.html")
    owned.write("report.html", b"new")
    assert not (owned.path / "report.html").is_symlink()
    (tmp_path / "alias").symlink_to(owned.path)
    with pytest.raises(StudyError, match="alias is a link"):
        OwnedDirectory.take(tmp_path / "alias", "study")
    owned.discard()
    assert (precious / "a" / "file").read_text() == "x"


def test_links_are_removed_and_not_their_targets(owned: OwnedDirectory, precious: Path) -> None:
    run = owned.inside("work", "1").make()
    (run / "closed").mkdir()
    (run / "closed" / "link").symlink_to(precious)
    (run / "closed").chmod(0)
    (run / "link").symlink_to(precious)
    owned.inside("work").remove("1")
    owned.inside("work").remove("1")
    assert not run.exists()
    assert (precious / "a" / "file").exists()


def test_one_that_was_replaced_meanwhile_is_left(owned: OwnedDirectory) -> None:
    owned.path.rename(owned.path.with_name("elsewhere"))
    other = OwnedDirectory.take(owned.path, "study")
    other.inside("work", "1").make()
    with pytest.raises(StudyError, match="replaced in the meantime"):
        owned.inside("work").remove("1")
    assert (other.path / "work" / "1").exists()


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o702])
def test_one_that_others_can_write_is_refused(owned: OwnedDirectory, mode: int) -> None:
    owned.path.chmod(mode)
    with pytest.raises(StudyError, match=f"written by other users.* chmod go-w {owned.path}"):
        OwnedDirectory.find(owned.path)


def test_a_file_that_others_can_write_is_not_read(owned: OwnedDirectory) -> None:
    (owned.path / "journal.jsonl").write_text("x")
    (owned.path / "journal.jsonl").chmod(0o666)
    with pytest.raises(StudyError, match="chmod go-w"):
        owned.read("journal.jsonl")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_users_is_refused(owned: OwnedDirectory) -> None:
    os.chown(owned.path, 65534, -1)
    with pytest.raises(StudyError, match=r"belongs to the user nobody, .* directory of your own"):
        OwnedDirectory.find(owned.path)
    with pytest.raises(StudyError, match="belongs to the user nobody"):
        OwnedDirectory.take(owned.path, "study")


def test_the_lock_keeps_others_out_and_names_the_owner(owned: OwnedDirectory) -> None:
    with owned.locked(), pytest.raises(StudyError, match=f"in use by pid {os.getpid()};"):
        owned.locked().__enter__()
    with owned.locked():
        pass


def test_a_mark_that_is_being_made_by_another_is_taken(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    (directory / f"{MARK}.half").write_text("")
    assert OwnedDirectory.take(directory, "study").kind == "study"


def test_a_temporary_one_is_private_and_goes_with_what_came_into_it(tmp_path: Path) -> None:
    with temporary_directory("run", tmp_path) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert OwnedDirectory.find(path, "run").made
        (path / "rank").mkdir(mode=0o500)
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_one_that_was_exchanged_is_left(tmp_path: Path, precious: Path) -> None:
    with temporary_directory("run", tmp_path) as path:
        path.rename(tmp_path / "away")
        path.symlink_to(precious)
    assert (precious / "a" / "file").exists()
    assert (tmp_path / "away" / MARK).exists()


def test_a_temporary_one_where_there_is_no_place(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="no run directory in"),
        temporary_directory("run", tmp_path / "none"),
    ):
        pass
