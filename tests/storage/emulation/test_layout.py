# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of emulated storage: kept in an attribute, inherited, refused with a reason."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation import (
    FoundLayout,
    Layout,
    check_attributes,
    find_layout,
    layout_text,
    own_layout,
    remove_layout,
    set_layout,
)

MIB = 1 << 20


def test_a_directory_keeps_its_layout_and_those_below_inherit_it(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    set_layout(tmp_path / "a", Layout(4, MIB))
    assert os.getxattr(tmp_path / "a", "user.stripewise.layout") == b"4 1048576 -1"
    found = find_layout(inner)
    assert (found.layout, found.source) == (Layout(4, MIB), tmp_path / "a")
    set_layout(inner, Layout(-1))
    assert find_layout(inner).layout == Layout(-1)
    remove_layout(inner)
    remove_layout(inner)
    assert find_layout(inner).layout == Layout(4, MIB)


def test_a_file_has_what_its_directory_says_where_it_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("data")
    assert find_layout(tmp_path / "old").source is None
    set_layout(tmp_path, Layout(4, MIB))
    assert find_layout(tmp_path / "old") == FoundLayout(Layout(4, MIB), tmp_path)
    set_layout(tmp_path / "new", Layout(2))
    assert find_layout(tmp_path / "new") == FoundLayout(Layout(2, MIB), tmp_path / "new")


def test_a_new_file_is_made_and_one_with_data_is_refused(tmp_path: Path) -> None:
    set_layout(tmp_path / "new", Layout(2))
    assert own_layout(tmp_path / "new") == Layout(2)
    assert (tmp_path / "new").stat().st_size == 0
    (tmp_path / "old").write_text("data")
    with pytest.raises(UsageError, match=r"old has data.*copy the file"):
        set_layout(tmp_path / "old", Layout(2))
    with pytest.raises(UsageError, match="not a directory; make it first"):
        set_layout(tmp_path / "missing" / "file", Layout(2))


@pytest.mark.parametrize(
    ("values", "text"),
    [((-2, 0), "stripe count -2"), ((1, 100), "multiple of 64 KiB"), ((1, 0, -5), "target -5")],
)
def test_impossible_layouts_are_refused(values: tuple[int, ...], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Layout(*values)


def test_an_attribute_that_is_no_layout_is_named(tmp_path: Path) -> None:
    os.setxattr(tmp_path, "user.stripewise.layout", b"many")
    with pytest.raises(UsageError, match=f"{tmp_path}.*'many' is not a layout"):
        find_layout(tmp_path)


def test_a_copy_takes_the_layout_along(tmp_path: Path) -> None:
    set_layout(tmp_path, Layout(3, MIB, 1))
    (tmp_path / "inner").mkdir()
    assert layout_text(tmp_path / "inner") == ""
    text = layout_text(tmp_path / "inner", inherited=True)
    (tmp_path / "copy").write_text("data")
    set_layout(tmp_path / "copy", Layout.parse(text), even_with_data=True)
    assert own_layout(tmp_path / "copy") == Layout(3, MIB, 1)


def test_a_file_system_without_user_attributes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_attributes(tmp_path)
    assert not os.listxattr(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(StorageError, match="keeps no user attributes"):
        check_attributes(tmp_path)
    with pytest.raises(StorageError, match="keeps no user attributes"):
        set_layout(tmp_path / "file", Layout(2))
    assert not (tmp_path / "file").exists()


def test_the_command_sets_and_shows(tmp_path: Path) -> None:
    directory = str(tmp_path)
    run = CliRunner().invoke
    assert (
        run(main, ["machine", "layout", "set", "-c", "-1", "-S", "4M", directory]).exit_code == 0
    )
    shown = run(main, ["machine", "layout", "get", directory]).output
    assert "all targets" in shown
    assert "4 MiB" in shown
    (tmp_path / "inner").mkdir()
    told = json.loads(
        run(main, ["machine", "layout", "get", "--json", f"{directory}/inner"]).output
    )
    assert told[0]["stripe_size_bytes"] == 4 * MIB
    assert told[0]["source"] == directory
    assert run(main, ["machine", "layout", "set", "--delete", directory]).exit_code == 0
    assert "default of the storage" in run(main, ["machine", "layout", "get", directory]).output
