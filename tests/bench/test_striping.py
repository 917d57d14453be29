# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How directories and files are striped, as the storage tells it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stripewise.bench.campaign import DirectoryStriping
from stripewise.bench.running._places import (
    EmulatedStripes,
    LustreStripes,
    NoStripes,
    Places,
    parse_directory,
    parse_files,
)
from stripewise.core.errors import StorageError, StudyError
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions

DIRECTORY = """stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1
"""
FILE = """/lustre/a/data.dat
lmm_stripe_count:  2
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 7
\tobdidx\t\t objid\t\t objid\t\t group
\t     7\t        183046\t      0x2cb06\t             0
\t     0\t        183047\t      0x2cb07\t             0

/lustre/a/data.1
lmm_stripe_count:  1
lmm_stripe_size:   4194304
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 3
\tobdidx\t\t objid\t\t objid\t\t group
\t     3\t        183048\t      0x2cb08\t 0x300000401

"""
"""Source: documented, lfs-getstripe(1) and the Lustre Operations Manual."""


def test_what_lfs_says_of_directories_and_files() -> None:
    assert parse_directory(DIRECTORY) == DirectoryStriping(4, 1 << 20, -1)
    assert parse_files(FILE) == [(2, 1 << 20, (7, 0)), (1, 4 << 20, (3,))]
    assert parse_files("") == []
    assert parse_directory("nonsense") == DirectoryStriping(0, 0, -1)


@pytest.fixture
def lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for `lfs` that takes every layout and tells another one."""
    program = tmp_path / "bin" / "lfs"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$1" = getstripe ] && cat "${0%/*}/says"\necho "$@" >> "${0%/*}/asked"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    (program.parent / "says").write_text(DIRECTORY)
    return program.parent


def test_a_directory_that_is_not_striped_as_asked_is_refused(lfs: Path, tmp_path: Path) -> None:
    places = Places(tmp_path, "x.campaign", LustreStripes())
    places.prepare({"four": DirectoryStriping(4, 1 << 20)})
    assert "setstripe -c 4 -S 1048576 --" in (lfs / "asked").read_text()
    with pytest.raises(StorageError, match="has a stripe count of 4, and the suite asks for -1"):
        places.prepare({"all": DirectoryStriping(-1)})


def test_a_storage_that_refuses(lfs: Path, tmp_path: Path) -> None:
    (lfs / "lfs").write_text("#!/bin/sh\necho 'error: setstripe: Disk quota exceeded' >&2; exit 1")
    with pytest.raises(StorageError, match=r"refuses .*: error: setstripe: Disk quota exceeded"):
        Places(tmp_path, "x.campaign", LustreStripes()).prepare({"all": DirectoryStriping(-1)})
    (lfs / "lfs").unlink()
    with pytest.raises(StorageError, match="client commands"):
        Places(tmp_path, "x.campaign", LustreStripes()).prepare({"all": DirectoryStriping(-1)})


def test_emulated_layouts(tmp_path: Path) -> None:
    storage = EmulatedStorage.find(EmulationOptions("archer2-hdd"))
    places = Places(tmp_path, "x.campaign", EmulatedStripes(storage))
    places.prepare({"all": DirectoryStriping(-1), "one": DirectoryStriping(1, 2 << 20, 7)})
    assert places.striping.found(places.path / "one") == DirectoryStriping(1, 2 << 20, 7)
    made = places.make("one", 3)
    assert places.striping.found(made) == DirectoryStriping(1, 2 << 20, 7)


# ---- what is removed ---------------------------------------------------------------------------


def test_only_what_the_campaign_made_is_removed(tmp_path: Path) -> None:
    places = Places(tmp_path, "x.campaign", NoStripes("ext4"))
    places.prepare({"one": DirectoryStriping()})
    mine = places.make("one", 1) / "data.dat"
    mine.write_text("mine")
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("theirs")
    (places.path / "one" / "000002").symlink_to(other)
    places.remove("one", 2)
    places.discard()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other"]
    assert (other / "precious").read_text() == "theirs"


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    there = tmp_path / "x.campaign.files"
    there.mkdir()
    (there / "precious").write_text("theirs")
    with pytest.raises(StudyError, match="precious lies in it"):
        Places(tmp_path, "x.campaign", NoStripes("ext4"))
    assert (there / "precious").read_text() == "theirs"


def test_what_an_earlier_try_left_is_removed_before_a_run(tmp_path: Path) -> None:
    places = Places(tmp_path, "x.campaign", NoStripes("ext4"))
    places.prepare({"one": DirectoryStriping()})
    (places.make("one", 1) / "half").write_text("x")
    assert list(places.make("one", 1).iterdir()) == []
    assert places.free_bytes() > 0
