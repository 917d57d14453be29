# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The matching is that of fnmatch(3), which the runtime library uses."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core import Configuration, DatasetRule, FileRule
from stripewise.settings.formats import effective, matches
from stripewise.settings.formats._match import glob_matches, literal_glob, literal_name

FNM_PATHNAME = 1
_libc = ctypes.CDLL(None)

patterns = st.text(st.sampled_from("ab1*?[]!^-/\\."), max_size=7)
paths = st.text(st.sampled_from("ab1*?[]-/."), max_size=6)


@settings(max_examples=500)
@given(patterns, paths)
def test_same_as_the_c_library(pattern: str, text: str):
    if pattern.endswith("\\") or ("[" in pattern and "\\" in pattern):
        return  # undefined, or left to the library
    inside = pattern.partition("[")[2]
    if "-" in inside or "/" in inside or "[" in inside:
        return  # ranges depend on the locale
    expected = _libc.fnmatch(pattern.encode(), text.encode(), FNM_PATHNAME) == 0
    assert glob_matches(pattern, text) == expected


@given(st.text(max_size=8), st.text(max_size=8))
def test_literal_globs(name: str, other: str):
    assert literal_name(literal_glob(name)) == name
    assert glob_matches(literal_glob(name), name)
    assert glob_matches(literal_glob(name), other) == (name == other)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6))
def test_literal_globs_in_c(name: str):
    pattern = literal_glob(name).encode()
    assert _libc.fnmatch(pattern, name.encode(), FNM_PATHNAME) == 0


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("wrfout*", "/scratch/run/wrfout_d01", True),
        ("wrfout*", "wrfout/other", False),
        ("run/wrf*", "/scratch/run/wrfout", True),
        ("run/wrf*", "wrfout", False),
        ("*.h5", "ufs:/scratch/a.h5", True),
        ("/scratch/*", "/scratch/a", True),
        ("/scratch/*", "/scratch/a/b", False),
        ("a.h5", "./a.h5", True),
        ("[ab]?.dat", "x/b1.dat", True),
        ("x[1-3]", "x2", True),
        ("x[!1-3]", "x2", False),
        ("x[1", "x[1", True),
    ],
)
def test_rules_for_files(pattern: str, path: str, expected: bool):
    assert matches(pattern, path) is expected


def test_later_rules_win_key_by_key():
    configuration = Configuration(
        (
            FileRule("*", {"cb_nodes": 1, "odd": "x"}, {"alignment": (1, 1)}),
            FileRule("*.h5", {"cb_nodes": 4}, {"chunk": (2,)}, override=True),
            FileRule("other", {"cb_nodes": 9}),
            FileRule("*", datasets=(DatasetRule("x", {"chunk": (3,)}),)),
        )
    )
    found = effective(configuration, "/a/out.h5")
    assert dict(found.layers["mpiio"]) == {"cb_nodes": 4, "odd": "x"}
    assert found.origin["mpiio.cb_nodes"].match == "*.h5"
    assert {name: rule.override for name, rule in found.origin.items()} == {
        "mpiio.cb_nodes": True,
        "mpiio.odd": False,
        "hdf5.alignment": False,
        "hdf5.chunk": True,
    }
    assert found.dataset("/g/x") == {"chunk": (3,)}
    assert found.dataset("/g/y") == {"chunk": (2,)}
