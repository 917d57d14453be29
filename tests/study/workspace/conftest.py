# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A user's working directory, a study of it, and the places of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core import OwnedDirectory
from stripewise.study.workspace import InputSnapshot, Workspace
from study.workspace.trees import LARGE, ODD_NAME


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A user's working directory with a bit of everything."""
    directory = tmp_path / "user"
    (directory / "data" / "deep").mkdir(parents=True)
    (directory / "a.out").write_text("#!/bin/sh\necho $0\n")
    (directory / "a.out").chmod(0o755)
    (directory / "input.nml").write_text("small")
    (directory / "data" / "mesh").write_bytes(b"m" * LARGE)
    (directory / "data" / "restart").write_bytes(b"r" * LARGE)
    (directory / "data" / "deep" / ODD_NAME).write_text("odd")
    (directory / "link").symlink_to("data/mesh")
    (directory / "absolute").symlink_to(directory / "input.nml")
    (directory / "folder").symlink_to("data")
    (directory / "dangling").symlink_to("nowhere")
    (directory / ".git").mkdir()
    (directory / ".git" / "HEAD").write_text("x")
    (directory / "old.stripewise").mkdir()
    (directory / "old.stripewise" / "best.toml").write_text("x")
    (tmp_path / "outside").write_text("outside")
    (directory / "out_link").symlink_to("../outside")
    (directory / "secret").write_text("x")
    return directory


@pytest.fixture
def study(user: Path) -> OwnedDirectory:
    return OwnedDirectory.take(user / "mine.stripewise", "study")


@pytest.fixture
def workspace(user: Path, study: OwnedDirectory) -> Workspace:
    return Workspace(InputSnapshot.create(user, study), study)
