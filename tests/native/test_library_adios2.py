# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An ADIOS2 that lays out its objects in another way is counted, and left alone."""

from __future__ import annotations

import shutil

import pytest
from native_hosts import PROGRAMS, Host, Programs, operations, run_checked

from stripewise.evidence.trace import IoLayer, Op

OPENED = "opened out.bp 1 with 1\n"
FLAT = "stripewise-flat 1\nfile\t{match}\t1\nadios2\tNumAggregators\t2\nadios2\tengine\tBP4\n"


@pytest.fixture(scope="module")
def program(programs: Programs) -> str:
    """The program, linked with its library."""
    if shutil.which("c++") is None:
        pytest.skip("c++ is not installed")
    source, where = PROGRAMS / "ad_other.cpp", programs.directory
    library = where / "libad_other.so"
    words = ["c++", "-O1", "-Wall", "-Wextra", "-Werror", source]
    run_checked([*words, "-shared", "-fPIC", "-DLIBRARY", "-o", library])
    run_checked([*words, library, f"-Wl,-rpath,{where}", "-o", where / "ad_other"])
    return str(where / "ad_other")


@pytest.mark.parametrize("match", ["", "other.bp"])
def test_objects_are_not_looked_into_without_a_setting(
    match: str, host: Host, program: str
) -> None:
    configuration = FLAT.format(match=match) if match else ""
    assert host.check(program, STRIPEWISE_CONFIGURATION=configuration) == OPENED.encode()
    assert operations(host.record("out.bp", IoLayer.ADIOS2), Op.OPEN) == 1


def test_settings_are_refused_where_objects_differ(host: Host, program: str) -> None:
    out = host.check(program, STRIPEWISE_CONFIGURATION=FLAT.format(match="*"))
    assert out.decode().splitlines() == ["looked into", OPENED.strip()]
    assert operations(host.record("out.bp", IoLayer.ADIOS2), Op.OPEN) == 1
    notes = set(host.profile.notes)
    assert any("keeps its objects differently" in note for note in notes), notes
