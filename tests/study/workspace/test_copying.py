# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of inputs."""

from __future__ import annotations

import os
import stat

import pytest

from stripewise.study.workspace import _copying


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("in_kernel", [True, False])
def test_copies_keep_holes_and_times(tmp_path, monkeypatch, in_kernel):
    if not in_kernel:

        def refuse(*_):
            raise OSError(18, "cross-device")

        monkeypatch.setattr(os, "copy_file_range", refuse)
    source = tmp_path / "sparse"
    with source.open("wb") as stream:
        stream.truncate(64 << 20)
        stream.seek(10 << 20)
        stream.write(b"x" * 100_000)
    os.utime(source, ns=(10**18, 10**18 + 7))
    source.chmod(0o640)
    _copying.copy_file(source, tmp_path / "copy")
    status = (tmp_path / "copy").stat()
    assert (status.st_size, status.st_mtime_ns) == (64 << 20, 10**18 + 7)
    assert stat.S_IMODE(status.st_mode) == 0o640
    assert status.st_blocks * 512 <= source.stat().st_blocks * 512 + 8192
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()


def test_copying_never_overwrites(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with pytest.raises(FileExistsError):
        _copying.copy_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "b"


def test_no_reflinks_from_what_cannot_be_read(tmp_path):
    assert not _copying.can_clone(tmp_path / "none", tmp_path)
    assert list(tmp_path.iterdir()) == []
