# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Study directories that somebody else prepared, or that lead elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from system_cli import stripewise, tree

from stripewise.core import OwnedDirectory

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
WRITER = ("sh", "-c", "echo x > out.dat")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    (path / "a").mkdir(parents=True)
    (path / "a" / "file").write_text("years of work")
    return path


@pytest.fixture
def planted(work: Path, precious: Path) -> Path:
    """What another user prepared: an empty journal, and links into the user's own files."""
    study = work / "w.stripewise"
    study.mkdir()
    (study / "journal.jsonl").touch()
    (study / "work").symlink_to(precious)
    (study / "lock.pid").symlink_to(precious / "a" / "file")
    for path in (study, *study.iterdir()):
        os.lchown(path, NOBODY, NOBODY)
    return study


@pytest.mark.extended(keep=1)
@as_root
@pytest.mark.parametrize("words", [(), ("--resume",), ("--force",)])
def test_another_users_study_is_refused(work, precious, planted, words):
    before = tree(work), tree(precious)
    options = ("tune", *words, "--study-dir", planted, "--", *WRITER)
    stripewise(*options, cwd=work).only_error(7, "belongs to the user nobody")
    assert (tree(work), tree(precious)) == before


@as_root
def test_another_users_study_is_not_found_by_resume(work, planted):
    stripewise("tune", "--resume", cwd=work).only_error(7, "belongs to the user nobody")


@pytest.mark.extended
def test_a_study_of_an_earlier_version_is_refused(work):
    (work / "w.stripewise").mkdir()
    (work / "w.stripewise" / "journal.jsonl").touch()
    done = stripewise("tune", "--resume", cwd=work)
    done.only_error(7, "not made by this version", "another directory")
    done = stripewise("tune", "--study-dir", "w.stripewise", "--", *WRITER, cwd=work)
    done.only_error(7, "journal.jsonl lies in it", "--study-dir")


@pytest.mark.extended
def test_links_in_a_study_directory_are_removed_and_not_their_targets(work, precious):
    study = OwnedDirectory.take(work / "s.stripewise", "study")
    (study.path / "work").symlink_to(precious)
    (study.path / "runs").symlink_to(precious)
    options = ("tune", "--study-dir", study.path, "--", *WRITER)
    assert stripewise(*options, cwd=work).code == 0
    assert not (study.path / "work").is_symlink()
    assert (precious / "a" / "file").exists()
