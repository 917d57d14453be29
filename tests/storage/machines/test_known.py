# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions that are kept for a user or for everybody, and the mounts that they stand for."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from storage.machines.descriptions import WHOLE, changed
from stripewise.core import Interval, StorageCosts
from stripewise.core.errors import ConfigurationError
from stripewise.learning.knowledge import describe_machine
from stripewise.storage.machines import (
    Mount,
    description_text,
    find_mount,
    find_storage,
    keep_storage,
    known_storage,
    known_storages,
    load_description,
    local_storage,
    machine_directories,
    measured_words,
    mount_warnings,
    slowed,
)
from stripewise.storage.machines import _find as known

COST = Interval(1e-6, 2e-6, 4e-6)


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Return the directories of the user and of the site."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(known, "SITE_MACHINES", tmp_path / "site")
    own, site = machine_directories()
    assert own == tmp_path / "config/stripewise/machines"
    for place in (own, site):
        place.mkdir(parents=True)
    return own, site


def text(*mounts, name="site", title="Scratch of a site"):
    listed = ", ".join(f'"{one}"' for one in mounts)
    return changed(
        'name = "site"\ntitle = "Scratch of a site"',
        f'name = "{name}"\ntitle = "{title}"\nmounts = [{listed}]',
    )


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Let directories be mounts of device numbers of their own."""
    found = {}

    def find(directory):
        real = os.path.realpath(directory)
        inside = [at for at in found if f"{real}/".startswith(f"{at}/")]
        return found[max(inside, key=len)] if inside else Mount("ext4", "disk", "/", "8:1")

    def mount(name, device, kind="lustre"):
        (tmp_path / name).mkdir(parents=True)
        found[str(tmp_path / name)] = Mount(kind, "s:/fs", str(tmp_path / name), device)
        return tmp_path / name

    monkeypatch.setattr(known, "find_mount", find)
    return mount


def names(directory):
    found, problems = known_storage(directory)
    assert not problems
    return found.storage.name if found else ""


def test_mounts_are_written_and_read_again():
    site = load_description(text("/scratch", "/work", "/scratch"))
    assert site.mounts == ("/scratch", "/work")
    assert load_description(description_text(site)) == site
    assert slowed(site, 4).mounts == site.mounts


@pytest.mark.parametrize("path", ["scratch", "", "~/x", "/a\\nb"])
def test_a_path_that_is_none_is_refused_in_one_line(path):
    with pytest.raises(ConfigurationError, match="absolute paths") as found:
        load_description(text(path))
    assert "\n" not in str(found.value)


def test_a_description_stands_for_its_mount_and_no_other(kept, mounts):
    scratch, nested = mounts("scratch", "0:50"), mounts("scratch/fast", "0:51")
    again, other = mounts("bound", "0:50"), mounts("home", "0:52")
    (kept[1] / "site.toml").write_text(text(scratch))
    (scratch / "project").mkdir()
    assert names(scratch / "project") == names(scratch) == names(again) == "site"
    assert names(nested) == names(other) == names(Path("/")) == ""


def test_a_link_to_a_mount_will_do(kept, mounts, tmp_path):
    scratch = mounts("lus/scratch", "0:50")
    (tmp_path / "scratch").symlink_to(scratch)
    (kept[0] / "site.toml").write_text(text(tmp_path / "scratch"))
    assert names(scratch) == names(tmp_path / "scratch") == "site"


def test_a_mount_that_is_gone_is_not_what_was_below_it(kept, mounts, tmp_path):
    (tmp_path / "scratch").mkdir()
    gone = tmp_path / "gone"
    (kept[0] / "site.toml").write_text(text(tmp_path / "scratch", gone))
    assert names(tmp_path / "scratch") == names(tmp_path) == ""
    (one,) = known_storages().found
    below, missing = mount_warnings(one.storage)
    assert "nothing is mounted at" in below
    assert "ext4 on /:" in below
    assert f"{gone} is not on this host" in missing


def test_another_kind_of_file_system_is_warned_of(kept, mounts):
    site = load_description(text(mounts("scratch", "0:50", "xfs")))
    (warning,) = mount_warnings(site)
    assert "is not lustre, which is described" in warning
    assert not mount_warnings(load_description(text(mounts("work", "0:51"))))


def test_a_users_own_wins_over_the_sites(kept, mounts):
    scratch = mounts("scratch", "0:50")
    (kept[1] / "site.toml").write_text(text(scratch, title="Everybody's"))
    assert find_storage("site").title == "Everybody's"
    (kept[0] / "mine.toml").write_text(text(scratch, name="mine"))
    assert names(scratch) == "mine"
    (kept[0] / "site.toml").write_text(text(name="site", title="Mine"))
    assert find_storage("site").title == "Mine"
    assert find_storage("site@1/4").slowdown == 4


def test_two_for_one_mount_are_said_and_neither_is_used(kept, mounts):
    scratch, work = mounts("scratch", "0:50"), mounts("work", "0:51")
    (kept[0] / "a.toml").write_text(text(scratch, work, name="a"))
    (kept[0] / "b.toml").write_text(text(scratch, name="b"))
    found, (problem,) = known_storage(scratch)
    assert found is None
    assert f"a.toml and b.toml both stand for {scratch}, so neither is used" in problem
    assert known_storage(work)[0].storage.name == "a"


def test_what_cannot_be_used_is_a_line_and_hinders_nothing(kept, mounts):
    scratch, own = mounts("scratch", "0:50"), kept[0]
    (own / "good.toml").write_text(text(scratch, name="good"))
    (own / "again.toml").write_text(text(name="good"))
    (own / "bad.toml").write_text("version = 2\n")
    (own / "binary.toml").write_bytes(b"\xff")
    (own / "directory.toml").mkdir()
    (own / "dangling.toml").symlink_to(own / "nothing")
    (own / "local.toml").write_text(text(name="local"))
    (own / ".hidden.toml").write_text("")
    (own / "notes.txt").write_text("")
    found, problems = known_storage(scratch)
    assert found.storage.name == "good"
    assert len(problems) == 6
    assert not any("\n" in line for line in problems)
    for word in (
        "version = 2",
        "UTF-8",
        "regular file",
        "No such file",
        "of its own",
        "good.toml",
    ):
        assert any(word in line for line in problems), word


def test_a_directory_that_is_a_file_is_said(kept):
    kept[0].rmdir()
    kept[0].write_text("")
    (problem,) = known_storages().problems
    assert problem == f"{kept[0]} cannot be read (Not a directory)"


def test_a_preset_is_hidden_by_a_kept_one_of_its_name(kept):
    (kept[1] / "archer.toml").write_text(text(name="archer"))
    assert find_storage("archer").title == "Scratch of a site"


def test_there_is_one_record_for_a_directory(kept, tmp_path):
    here = find_mount(tmp_path)
    assert describe_machine(tmp_path).described == ""
    costs = StorageCosts(host="h", processors=2, measured=1.0, write={1024: COST})
    keep_storage(replace(load_description(WHOLE), name="local", costs=costs), tmp_path)
    assert local_storage(tmp_path).name == "local"
    (kept[0] / "site.toml").write_text(text(here.point))
    found = local_storage(tmp_path)
    assert (found.name, found.mount, found.costs) == ("site", here, costs)
    assert measured_words(found) == ""
    assert describe_machine(tmp_path).described == "site"
    assert find_storage("local", tmp_path).name == "local"
