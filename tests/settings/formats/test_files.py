# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files: which format, odd contents, whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core import Configuration, FileRule, JobSettings, write_file
from stripewise.core.errors import ConfigurationError, StorageError, UsageError
from stripewise.settings.formats import detect, format_names, get, load_configuration

BOTH = Configuration(
    (FileRule("*", {"cb_nodes": 4}, override=True),), JobSettings({"io": "ompio"})
)


@pytest.mark.parametrize("name", format_names())
def test_content_tells_the_format(name: str):
    assert detect(get(name).write(BOTH).text).name == name


@pytest.mark.parametrize("name", format_names())
def test_loads_what_was_written(tmp_path: Path, name: str):
    path = tmp_path / "settings"
    write_file(path, get(name).write(BOTH).text)
    assert not load_configuration(path).configuration.is_empty


def test_bare_line_and_named_format(tmp_path: Path):
    path = tmp_path / "hints.txt"
    path.write_text("*:cb_nodes=4")
    assert load_configuration(path).configuration.files[0].mpiio["cb_nodes"] == 4
    with pytest.raises(ConfigurationError, match="not TOML"):
        load_configuration(path, "toml")
    with pytest.raises(UsageError, match="did you mean toml"):
        load_configuration(path, "tml")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"version = 1\n# \xe9\n", "not UTF-8"),
        (b"\x00\x01\x02", "no known format"),
        (b"x" * (2 << 20), "more than 1 MiB, the budget of a configuration"),
        (b"hello", "no known format"),
    ],
)
def test_odd_contents(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "settings"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=message) as caught:
        load_configuration(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_directory(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="No such file"):
        load_configuration(tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="directory"):
        load_configuration(tmp_path)


def test_byte_order_mark(tmp_path: Path):
    path = tmp_path / "best.toml"
    path.write_bytes(b"\xef\xbb\xbfversion = 1\n")
    assert load_configuration(path).configuration.is_empty


@given(st.text(max_size=200), st.sampled_from(format_names()))
def test_no_text_breaks_a_reader(text: str, name: str):
    for beginning in ("", "version = 1\n", "<P>", "stripewise-flat 1\nfile\t*\t1\n", "*:a="):
        with suppress(ConfigurationError):
            get(name).read(beginning + text)


def test_written_whole_or_not_at_all(tmp_path: Path):
    path = tmp_path / "best.toml"
    write_file(path, "one")
    path.chmod(0o640)
    write_file(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StorageError, match="cannot write"):
        write_file(tmp_path / "no" / "best.toml", "x")


def test_links_are_followed(tmp_path: Path):
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    write_file(link, "x")
    assert link.is_symlink()
    assert target.read_text() == "x"
