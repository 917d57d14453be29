# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import profiles
import pytest

from stripewise.core.errors import StorageError, UsageError
from stripewise.evidence.report import draw_profile


@pytest.mark.extended
def test_picture_of_each_kind(tmp_path):
    diagnosis, evidence, _ = profiles.rich()
    draw_profile(diagnosis, evidence, tmp_path / "run.svg")
    text = (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "what reached the file system (POSIX)" in text
    assert "rank 8" in text
    assert "mathdefault" not in text
    assert "./program out.h5" in text
    draw_profile(diagnosis, evidence, tmp_path / "run.png")
    picture = (tmp_path / "run.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") > 1000
    draw_profile(diagnosis, evidence, tmp_path / "run.pdf")
    assert (tmp_path / "run.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_run_gives_the_same_picture(tmp_path):
    diagnosis, evidence, _ = profiles.rich()
    for name in ("one.svg", "two.svg"):
        draw_profile(diagnosis, evidence, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_hostile_names_do_no_harm(tmp_path):
    diagnosis, evidence, _ = profiles.hostile()
    draw_profile(diagnosis, evidence, tmp_path / "run.svg")
    assert "<script" not in (tmp_path / "run.svg").read_text(encoding="utf-8")


def test_trouble_is_one_line(tmp_path):
    diagnosis, evidence, _ = profiles.rich()
    with pytest.raises(UsageError, match=r"give a name that ends in \.svg, \.png, \.pdf"):
        draw_profile(diagnosis, evidence, tmp_path / "run.gif")
    with pytest.raises(StorageError, match="cannot write"):
        draw_profile(diagnosis, evidence, tmp_path / "none" / "run.svg")
    diagnosis, evidence, _ = profiles.poor()
    with pytest.raises(UsageError, match=r"Darshan 3\.1\.3 log has no time bins"):
        draw_profile(diagnosis, evidence, tmp_path / "run.svg")
