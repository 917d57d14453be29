# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The parsers of adopt and its lookup, under sanitizers."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime_harness import NATIVE, PROGRAMS, checked, flat, require, scratch


@cache
def lookup_program() -> Path:
    require("cc")
    built = scratch() / "lookup"
    sources = [PROGRAMS / "lookup.c", *sorted((NATIVE / "runtime" / "adopt").glob("*.c"))]
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    include = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'runtime'}"]
    checked(
        ["cc", "-std=gnu11", "-g", "-Wall", "-Wextra", *checks, *include, *sources, "-o", built]
    )
    return built


def ask(
    configuration: str, path: str, *dataset: str, group: str = "mpiio", **extra: str
) -> tuple[list[str], str]:
    """Lines of the answer, and what was noted."""
    done = subprocess.run(
        [lookup_program(), group, path, *dataset],
        env={"STRIPEWISE_CONFIGURATION": configuration, **extra},
        capture_output=True,
        text=True,
        errors="replace",
        cwd="/tmp",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    ("match", "path", "expected"),
    [
        ("*", "/a/b.h5", True),
        ("*.h5", "/a/b.h5", True),
        ("*.h5", "b.h5", True),
        ("*.nc", "/a/b.h5", False),
        ("b.h5", "ufs:/a/b.h5", True),
        ("a/*.h5", "/x/a/b.h5", True),
        ("a/*.h5", "/x/c/b.h5", False),
        ("*/b.h5", "/x/c/b.h5", True),
        ("/x/*/b.h5", "/x/c/b.h5", True),
        ("/x/b.h5", "/y/x/b.h5", False),
        ("/tmp/*.h5", "b.h5", True),
        ("tmp/*.h5", "./b.h5", True),
        ("x/y/z.h5", "/z.h5", False),
        ("[ab].h5", "/a.h5", True),
        ("a*b.h5", "/a/b.h5", False),
    ],
)
def test_which_files_match(match: str, path: str, expected: bool) -> None:
    answer, _ = ask(flat(f"file {match} 0", "mpiio k v"), path)
    assert answer == (["k v 0"] if expected else [])


def test_later_entries_win_key_by_key() -> None:
    text = flat("file * 0", "mpiio a 1", "mpiio b 1", "file *.h5 1", "mpiio b 2", "mpiio c 2")
    assert ask(text, "x.h5")[0] == ["a 1 0", "b 2 1", "c 2 1"]
    assert ask(text, "x.nc")[0] == ["a 1 0", "b 1 0"]


def test_datasets_take_the_files_settings_too() -> None:
    text = flat(
        "file * 0",
        "hdf5 chunk 1",
        "hdf5 x 1",
        "dataset /g/*",
        "hdf5 chunk 2",
        "file o 0",
        "hdf5 y 3",
    )
    assert ask(text, "f", group="hdf5")[0] == ["chunk 1 0", "x 1 0"]
    assert ask(text, "f", "/g/a", group="hdf5")[0] == ["chunk 2 0", "x 1 0"]
    assert ask(text, "f", "/h/a", group="hdf5")[0] == ["chunk 1 0", "x 1 0"]


@pytest.mark.parametrize("group", ["mpiio", "hdf5", "pnetcdf", "adios2"])
def test_each_layer_has_its_own_settings(group: str) -> None:
    layers = ("mpiio", "hdf5", "pnetcdf", "adios2")
    text = flat("file * 1", *(f"{layer} {layer}_key 7" for layer in layers))
    assert ask(text, "f", group=group)[0] == [f"{group}_key 7 1"]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("write-collective-contiguous 4 100 8", ["a 1 0", "b 2 0"]),
        ("write-collective-contiguous 2 100 8", ["a 1 0", "b 1 0"]),
        ("write-collective-contiguous 2 101 8", ["b 2 0"]),
        ("write-collective-contiguous 4 101 9", []),
        ("write-independent-contiguous 4 100 8", []),
        ("write-collective-interleaved 4 100 8", []),
        ("read-collective-contiguous 4 0 0", ["c 1 0"]),
    ],
)
def test_series_by_what_the_first_file_was(use: str, expected: list[str]) -> None:
    text = flat(
        "file * 0",
        "mpiio own 1",
        "series write-collective-contiguous 2,4,0,100,0,8",
        "mpiio a 1",
        "mpiio b 1",
        "series write-collective-contiguous 4,4,0,100,0,8",
        "mpiio b 2",
        "series write-collective-contiguous 2,2,101,200,0,8",
        "mpiio b 2",
        "series read-collective-contiguous 0,9223372036854775807,0,9,0,0",
        "mpiio c 1",
    )
    kind, *numbers = use.split()
    assert ask(text, kind, *numbers, group="series")[0] == expected
    assert ask(text, "f")[0] == ["own 1 0"]


def test_percent_escapes() -> None:
    assert ask(flat("file * 0", "mpiio a%20b c%25%2a"), "f")[0] == ["a b c%* 0"]


GOOD = ("file * 0", "mpiio good 1")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("mpiio a b", *GOOD), "before any file"),
        ((*GOOD, "file *"), "unknown statement"),
        ((*GOOD, "file * 3"), "override"),
        ((*GOOD, "mpiio a b c"), "unknown statement"),
        ((*GOOD, "mpiio a %"), "%XX"),
        ((*GOOD, "mpiio a %00"), "%XX"),
        ((*GOOD, "dataset x", "mpiio a b"), "inside a dataset"),
        ((*GOOD, "dataset x", "adios2 a b"), "inside a dataset"),
        ((*GOOD, "series write 0,9,0,9,0,9"), "unknown kind"),
        ((*GOOD, "series write-collective-contiguous 0,9,0,9,0"), "unknown kind"),
        ((*GOOD, "series write-collective-contiguous 0,9,0,9,0,-9"), "unknown kind"),
        ((*GOOD, "series write-collective-contiguous 0,9,0,9,0,9,"), "unknown kind"),
        (
            (*GOOD, "series write-collective-contiguous 0,9,0,9,0,9223372036854775808"),
            "unknown kind",
        ),
        ((*GOOD, "series write-collective-contiguous 0,9,0,9,0,9", "hdf5 a 1"), "no hint"),
    ],
)
def test_broken_texts_are_refused_as_a_whole(lines: tuple[str, ...], reason: str) -> None:
    answer, notes = ask(flat(*lines), "f")
    assert answer == []
    assert reason in notes
    assert "flag 0x200" in notes


HINTS = "*.dat:cb_nodes=2:cb_config_list=#*:8#,a/b*:k=#x,y#,*:last=1"


def test_mpich_hints() -> None:
    answer, _ = ask("", "/x/f.dat", MPICH_MPIIO_HINTS=HINTS)
    assert answer == ["cb_nodes 2 1", "cb_config_list *:8 1", "last 1 1"]
    assert ask("", "/x/a/bc", MPICH_MPIIO_HINTS=HINTS)[0] == ["k x,y 1", "last 1 1"]


def test_cray_mpich_applies_its_hints_itself() -> None:
    text = flat("file * 0", "mpiio own 1")
    answer, _ = ask(text, "/x/f.dat", MPICH_MPIIO_HINTS=HINTS, LOOKUP_CRAY="1")
    assert answer == ["own 1 0"]


def test_the_configuration_wins_over_mpich_hints() -> None:
    answer, _ = ask(flat("file * 0", "mpiio cb_nodes 7"), "f.dat", MPICH_MPIIO_HINTS=HINTS)
    assert "cb_nodes 7 0" in answer


@pytest.mark.parametrize("hints", ["*:a", "*", "*:=1", "*:a=#1", "*:a=1:,x"])
def test_broken_mpich_hints_are_refused(hints: str) -> None:
    answer, notes = ask(flat("file * 0", "mpiio own 1"), "f", MPICH_MPIIO_HINTS=hints)
    assert answer == ["own 1 0"]
    assert "MPICH_MPIIO_HINTS is not applied" in notes


def test_settings_beyond_the_limit_of_a_file_are_said() -> None:
    most = [f"mpiio key{i} 1" for i in range(64)]
    answer, notes = ask(flat("file * 0", *most), "f")
    assert (len(answer), notes) == (64, "")
    answer, notes = ask(flat("file * 0", *most, "mpiio last 1", "mpiio later 1"), "f")
    assert len(answer) == 64
    assert notes.count("is not applied") == 1
    assert "The setting last of " in notes
    assert "64 settings" in notes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(st.sampled_from("file\t\n*01mpodst%2#:,=/[]\\ä"), max_size=80),
    st.text(st.sampled_from("*:,=#ab/[]\\%"), max_size=40),
)
def test_no_text_hurts(body: str, hints: str) -> None:
    ask("stripewise-flat 1\nfile\t*\t0\n" + body, "a/b.h5", MPICH_MPIIO_HINTS=hints)
