# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions by name, by path, and in slow motion; the presets themselves."""

import pytest

from storage.machines.descriptions import WHOLE
from stripewise.core.errors import ConfigurationError
from stripewise.storage.machines import (
    FIGURES,
    Dimension,
    description_text,
    find_storage,
    load_description,
    preset_names,
)

_SCALES = {Dimension.BANDWIDTH: 1 / 64, Dimension.TIME: 64}


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_read_and_written(name):
    storage = find_storage(name)
    assert storage.name == name
    assert storage.stack
    assert load_description(description_text(storage)) == storage


@pytest.mark.parametrize("name", preset_names())
def test_the_sources_of_presets_are_public(name):
    for figure in load_description(name).figures.values():
        assert not figure.source.startswith("/")
        assert len(figure.source) > 10


def test_slow_motion_keeps_all_relations():
    storage, slow = find_storage("archer2-hdd"), find_storage("archer2-hdd@1/64")
    assert slow.slowdown == 64
    for spec in FIGURES:
        scale = _SCALES.get(spec.dimension, 1)
        assert slow.value(spec.name) == pytest.approx(storage.value(spec.name) * scale)
    ofi = slow.transports[1].figures["exchange.bandwidth"]
    assert ofi.value == pytest.approx(
        storage.transports[1].figures["exchange.bandwidth"].value / 64
    )
    assert load_description(description_text(slow)) == slow


def test_a_file_in_slow_motion(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(WHOLE)
    assert find_storage(str(path)) == load_description(path) == load_description(WHOLE)
    assert find_storage(f"{path}@0.25").slowdown == 4
    assert find_storage(f"{path}@1").slowdown == 1
    odd = tmp_path / "site@1"
    odd.write_text(WHOLE)
    assert find_storage(str(odd)).slowdown == 1


@pytest.mark.parametrize("scale", ["", "0", "2", "1/0", "1/99999999", "-1", "x", "1/64/2"])
def test_what_is_no_slow_motion(scale):
    with pytest.raises(ConfigurationError, match="is not a slow-motion factor: write @1/64"):
        find_storage(f"archer2-hdd@{scale}")


def test_what_is_not_there(tmp_path):
    with pytest.raises(ConfigurationError, match="did you mean archer2-hdd"):
        find_storage("archer2-hd")
    with pytest.raises(ConfigurationError, match="cannot be read "):
        find_storage(str(tmp_path / "none.toml"))
    with pytest.raises(ConfigurationError, match="not a regular file"):
        load_description(tmp_path / "..")


def test_files_that_are_no_descriptions(tmp_path):
    path = tmp_path / "site.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"site\.toml: not UTF-8"):
        load_description(path)
    path.write_bytes(b"#" * (1 << 20 | 1))
    with pytest.raises(ConfigurationError, match="more than 1 MiB, the budget of a description"):
        load_description(path)


@pytest.mark.parametrize("name", preset_names())
def test_reads_that_are_said_to_be_as_writes_are(name):
    figures = load_description(name).figures
    for read, figure in figures.items():
        if read.endswith("_read") and "as writes" in figure.source:
            assert figure.value == figures[read.replace("_read", "_write")].value, read
