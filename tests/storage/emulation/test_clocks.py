# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that last: made once, used by processes that did not make them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation import (
    EmulatedStorage,
    EmulationOptions,
    _mapping,
    make_clocks,
)
from stripewise.storage.emulation._servers import Servers


@pytest.fixture(scope="module")
def storage() -> EmulatedStorage:
    return EmulatedStorage.find(EmulationOptions("cori-datawarp@1/64"))


def read_clocks(path: Path) -> dict[str, int]:
    with Servers(path) as servers:
        return servers.counters()


def test_a_mapping_is_whole_and_its_owners_alone(tmp_path: Path, storage: EmulatedStorage) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    path = tmp_path / "clocks"
    make_clocks(storage, tmp_path / "link", path, ranks=8)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size == _mapping.mapping_bytes(storage.targets, storage.nodes)
    with open(path, "rb") as stream:
        assert _mapping.read_root(stream.fileno()) == str(tmp_path / "real")
    assert set(read_clocks(path).values()) == {0}
    assert {"processes", "limit.target"} <= set(read_clocks(path))


def test_counters_are_read_back(tmp_path: Path, storage: EmulatedStorage) -> None:
    path = tmp_path / "clocks"
    make_clocks(storage, tmp_path, path)
    with open(path, "r+b") as stream:
        os.pwrite(stream.fileno(), (7).to_bytes(8, "little"), _mapping.HEADER_BYTES)
    assert read_clocks(path)["processes"] == 7


def test_nothing_is_written_over(tmp_path: Path, storage: EmulatedStorage) -> None:
    there = tmp_path / "there"
    there.write_text("precious")
    dangling = tmp_path / "dangling"
    dangling.symlink_to("elsewhere")
    for path in (there, dangling, tmp_path / "missing/clocks"):
        with pytest.raises(StorageError, match="cannot make"):
            make_clocks(storage, tmp_path, path)
    assert there.read_text() == "precious"
    assert not (tmp_path / "elsewhere").exists()


def test_what_cannot_be_used_is_refused(tmp_path: Path, storage: EmulatedStorage) -> None:
    with pytest.raises(UsageError, match="is not a directory"):
        make_clocks(storage, tmp_path / "missing", tmp_path / "clocks")
    with pytest.raises(UsageError, match="colon"):
        make_clocks(storage, tmp_path, tmp_path / "a:b")
    (tmp_path / "other").write_bytes(b"x" * 10000)
    with pytest.raises(StorageError, match="not a mapping"):
        read_clocks(tmp_path / "other")
    with pytest.raises(StorageError, match="cannot read"):
        read_clocks(tmp_path / "missing")


def test_one_without_room_leaves_nothing(
    tmp_path: Path, storage: EmulatedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StorageError, match="no space"):
        make_clocks(storage, tmp_path, tmp_path / "clocks")
    assert not (tmp_path / "clocks").exists()
