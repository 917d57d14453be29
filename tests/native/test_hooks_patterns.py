# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Redirection of files by patterns of their names."""

from __future__ import annotations

import errno
import fnmatch
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_hosts import Host, Programs, moved

from emulated_machine import LUSTRE, LUSTRE_MAGIC, Machine
from stripewise.evidence.trace import Op

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def there(tmp_path: Path) -> Path:
    directory = tmp_path / "there"
    directory.mkdir()
    return directory


@pytest.fixture
def here(host: Host) -> Path:
    return host.directory


@pytest.fixture
def run(host: Host, programs: Programs, there: Path) -> Run:
    """Run words in the working directory, with "out*" of it redirected."""
    program = programs.executable("patterned")

    def words(*table: str, pairs: str = "", **variables: str) -> tuple[int, str, str]:
        redirect = pairs or f"{host.directory}/out*={there}"
        done = host.run(program, *table, STRIPEWISE_REDIRECT=redirect, **variables)
        return done.returncode, done.stdout.decode(), done.stderr.decode().strip()

    return words


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize(
    "word", ["create:{}", "continue:{}", "exclusive:{}", "fopen:{}", "append:{}", "openat:.:{}"]
)
@pytest.mark.parametrize("name", ["out_d01", "./out_d01", ".//out_d01", "{here}/out_d01"])
def test_files_that_match_are_made_there(
    run: Run, here: Path, there: Path, word: str, name: str
) -> None:
    file = name.format(here=here)
    assert run(word.format(file), f"stat:{file}", f"access:{file}", f"read:{file}") == (
        0,
        "new\n",
        "",
    )
    assert (names(there), names(here)) == (["out_d01"], [])


def test_others_stay(run: Run, here: Path, there: Path) -> None:
    (here / "sub").mkdir()
    (here / "outer").mkdir()
    made = ["in_d01", "anout", "sub/out_d01", "outer/file"]
    assert run(*(f"create:{name}" for name in made))[0] == 0
    assert names(there) == []
    assert all((here / name).read_text() == "new" for name in made)


def test_the_directory_of_a_pattern_can_be_named_through_a_link(
    run: Run, here: Path, there: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(here)
    pairs = f"{tmp_path}/link/out*={there}"
    assert run(f"create:{tmp_path}/link/out1", "create:out2", "stat:out1", pairs=pairs)[0] == 0
    assert (names(there), names(here)) == (["out1", "out2"], [])


def test_a_file_is_renamed_truncated_and_removed_there(run: Run, here: Path, there: Path) -> None:
    assert run("create:out1", "rename:out1:out2", "truncate:out2") == (0, "", "")
    assert names(there) == ["out2"]
    assert run("open:out2", "link:out2:out3", "unlink:out2", "stat:out2") == (
        4,
        "",
        str(errno.ENOENT),
    )
    assert (names(there), names(here)) == (["out3"], [])
    assert run("symlink:out3:out4", "readlink:out4") == (0, "", "")
    assert (there / "out4").is_symlink()


def test_renames_between_both_are_those_between_two_directories(
    run: Run, here: Path, there: Path
) -> None:
    assert run("create:tmp", "rename:tmp:out1", "rename:out1:kept", "read:kept")[0] == 0
    assert (names(there), names(here)) == ([], ["kept"])
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or shared.stat().st_dev == here.stat().st_dev:
        return
    away = shared / f"stripewise-test-{os.getpid()}"
    away.mkdir()
    try:
        pairs = f"{here}/out*={away}"
        assert run("create:tmp", "rename:tmp:out1", pairs=pairs) == (2, "", str(errno.EXDEV))
    finally:
        away.rmdir()


def test_a_file_that_is_only_here_is_found(run: Run, here: Path, there: Path) -> None:
    (here / "out_input").write_text("old")
    assert run("stat:out_input", "access:out_input", "read:out_input") == (0, "old\n", "")
    (there / "out_input").write_text("staged")
    assert run("read:out_input") == (0, "staged\n", "")
    assert run("unlink:out_input", "read:out_input") == (0, "old\n", "")
    assert run("open:out_input", "read:out_input") == (0, "new\n", "")
    assert names(there) == []
    assert run("unlink:out_input", "stat:out_input") == (2, "", str(errno.ENOENT))
    assert names(here) == []


def test_what_is_only_here_goes_on_here_unless_it_is_made_anew(
    run: Run, host: Host, here: Path, there: Path
) -> None:
    for name in ("out_log", "out_state", "out_result"):
        (here / name).write_text("older")
    assert run("append:out_log", "continue:out_state", "create:out_result")[0] == 0
    assert (here / "out_log").read_text() == "oldernew"
    assert (here / "out_state").read_text() == "newer"
    assert (here / "out_result").read_text() == "older"
    assert names(there) == ["out_result"]
    assert any("stays there" in note for note in host.profile.notes)


def test_what_is_only_here_can_get_another_name_here(run: Run, here: Path, there: Path) -> None:
    for name in ("out1", "out2"):
        (here / name).write_text("older")
    assert run("rename:out1:out1.old", "link:out2:out2.old", "create:out1")[0] == 0
    assert (names(there), names(here)) == (["out1"], ["out1.old", "out2", "out2.old"])
    (there / "out3").write_text("newer")
    assert run("rename:out2:out3", "read:out3") == (0, "older\n", "")
    assert names(there) == ["out1", "out3"]


def test_directories_whose_names_match_stay(run: Run, here: Path, there: Path) -> None:
    table = ("mkdir:out_dir", "stat:out_dir", "create:out_dir/file", "chdir:out_dir", "stat:file")
    assert run(*table) == (0, "", "")
    assert run("unlink:out_dir/file", "rmdir:out_dir") == (0, "", "")
    assert (names(there), names(here)) == ([], [])


def test_the_file_system_is_that_on_which_the_file_will_be(
    host: Host, here: Path, there: Path, tmp_path: Path
) -> None:
    Machine({}, flags=LUSTRE).write(tmp_path / "clocks", there)
    variables = {
        "STRIPEWISE_REDIRECT": f"{here}/out*={there}",
        "STRIPEWISE_EMULATE": str(tmp_path / "clocks"),
    }
    (there / "out_new").touch()
    (here / "out_old").touch()
    (here / "out_dir").mkdir()
    expected = {"out_none": True, "out_new": True, "out_old": True, "out_dir": False, ".": False}
    for name, is_lustre in expected.items():
        found = int(host.check("stat", "-f", "-c", "%t", name, **variables), 16)
        assert (found == LUSTRE_MAGIC) == is_lustre


def test_names_are_counted_as_the_program_has_them(run: Run, host: Host, here: Path) -> None:
    assert run("create:out1")[0] == 0
    assert moved(host.record("out1"), Op.WRITE) == 3
    assert str(here / "out1") in host.profile.paths


def test_the_first_pair_that_fits_counts(
    run: Run, here: Path, there: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    pairs = f"{here}/out?.nc={there}:{here}/*.nc={tmp_path}/other:/nowhere={there}"
    assert run("create:out1.nc", "create:out12.nc", "create:/nowhere/x", pairs=pairs)[0] == 0
    assert names(there) == ["out1.nc", "x"]
    assert names(tmp_path / "other") == ["out12.nc"]


@pytest.mark.parametrize("pairs", ["/a/**/out*=/b", "/a*/out*=/b", "/a/out*=b", "out*=/b"])
def test_a_pattern_that_cannot_be_understood_is_noted(host: Host, pairs: str) -> None:
    host.check("true", STRIPEWISE_REDIRECT=pairs)
    assert any("STRIPEWISE_REDIRECT" in note for note in host.profile.notes)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    pattern=st.text("ab*?", min_size=1, max_size=6).filter(lambda text: set(text) & {*"*?"}),
    tried=st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=12, unique=True),
)
def test_patterns_are_those_of_the_shell(
    run: Run, here: Path, there: Path, pattern: str, tried: list[str]
) -> None:
    run(*(f"create:{name}" for name in tried), pairs=f"{here}/{pattern}={there}")
    expected = sorted(name for name in tried if fnmatch.fnmatchcase(name, pattern))
    assert names(there) == expected
    for directory in (here, there):
        for path in directory.iterdir():
            path.unlink()
