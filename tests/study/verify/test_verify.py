# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs are compared bit for bit; their contents are in contents/."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import pytest

from stripewise.core import VerificationStatus
from stripewise.study.verify._compare import bytes_differ
from support.outputs import compare

IDENTICAL = VerificationStatus.IDENTICAL
DIFFERENT = VerificationStatus.DIFFERENT
NOT_VERIFIABLE = VerificationStatus.NOT_VERIFIABLE


def fill(runs: tuple[Path, Path, Path], name: str, *contents: bytes | None) -> None:
    for run, content in zip(runs, contents, strict=True):
        if content is not None:
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_bytes(content)


@pytest.mark.parametrize("layout", [False, True])
def test_equal_files_are_identical(runs, layout):
    fill(runs, "out/x.dat", b"1" * 100, b"1" * 100, b"1" * 100)
    fill(runs, "empty", b"", b"", b"")
    result = compare(*runs, layout=layout)
    assert result.status is IDENTICAL
    assert result.compared == ("empty", "out/x.dat")


@pytest.mark.parametrize("layout", [False, True])
@pytest.mark.parametrize("offset", [0, 4095, (8 << 20) - 1, 8 << 20, (8 << 20) + 17])
def test_one_flipped_bit_is_found_with_its_offset(runs, layout, offset):
    good = bytearray((8 << 20) + 18)
    bad = bytearray(good)
    bad[offset] ^= 1
    fill(runs, "x.dat", bytes(good), bytes(good), bytes(bad))
    result = compare(*runs, layout=layout)
    assert result.status is DIFFERENT
    assert str(offset) in result.differences["x.dat"]


def test_shorter_file(runs):
    fill(runs, "x", b"abc", b"abc", b"ab")
    result = compare(*runs, layout=True)
    assert "3 and 2 bytes, otherwise the same" in result.differences["x"]


def test_missing_and_extra_files(runs):
    fill(runs, "x", b"abc", b"abc", None)
    fill(runs, "y", None, None, b"abc")
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    assert result.differences["x"].startswith("missing")
    assert result.differences["y"].startswith("extra")


def test_a_log_with_times_is_not_verifiable_but_the_rest_is(runs):
    fill(runs, "log", b"12:01", b"12:02", b"12:03")
    fill(runs, "data", b"x" * 1000, b"x" * 1000, b"x" * 1000)
    result = compare(*runs, layout=False)
    assert result.status is IDENTICAL
    assert "first at offset 4" in result.not_verifiable["log"]
    assert result.compared == ("data",)


def test_mostly_incomparable_output_is_not_verifiable(runs):
    fill(runs, "random", b"1" * 1000, b"2" * 1000, b"3" * 1000)
    fill(runs, "data", b"x" * 900, b"x" * 900, b"x" * 900)
    assert compare(*runs, layout=False).status is NOT_VERIFIABLE


def test_a_difference_outweighs_not_verifiable(runs):
    fill(runs, "random", b"1" * 1000, b"2" * 1000, b"3" * 1000)
    fill(runs, "data", b"x", b"x", b"y")
    assert compare(*runs, layout=False).status is DIFFERENT


def test_nothing_written_is_not_verifiable(runs):
    result = compare(*runs, layout=False)
    assert result.status is NOT_VERIFIABLE
    assert result.not_verifiable


def test_a_not_verifiable_file_that_became_empty_differs(runs):
    fill(runs, "log", b"1", b"2", b"")
    fill(runs, "data", b"x" * 100, b"x" * 100, b"x" * 100)
    assert "empty" in compare(*runs, layout=False).differences["log"]


def test_names_that_change_from_run_to_run(runs):
    for run, pid in zip(runs, (101, 222, 31415), strict=True):
        (run / f"out.{pid}").write_bytes(b"x")
        (run / "data").write_bytes(b"y" * 100)
    result = compare(*runs, layout=False)
    assert result.status is IDENTICAL
    assert "name changes" in result.not_verifiable["out.31415"]
    (runs[2] / "surprise").write_bytes(b"")
    assert list(compare(*runs, layout=False).differences) == ["surprise"]


def test_links_are_compared_by_target(runs):
    for run in runs:
        (run / "data").write_bytes(b"x")
        (run / "latest").symlink_to("data")
    assert compare(*runs, layout=False).status is IDENTICAL
    (runs[2] / "latest").unlink()
    (runs[2] / "latest").symlink_to("other")
    assert "link" in compare(*runs, layout=False).differences["latest"]


def test_a_link_that_changes_from_run_to_run_rejects_nothing(runs):
    for run, target in zip(runs, ("run.1", "run.2", "run.3"), strict=True):
        (run / "data").write_bytes(b"x")
        (run / "latest").symlink_to(target)
    result = compare(*runs, layout=True)
    assert result.status is IDENTICAL
    assert result.not_verifiable == {"latest": "two baselines differ: a link with another target"}


@pytest.mark.parametrize("layout", [False, True])
def test_a_link_is_no_file_of_the_same_content(runs, layout):
    fill(runs, "x", b"abc", b"abc", b"abc")
    (runs[2] / "y").write_bytes(b"abc")
    for run in runs[:2]:
        (run / "y").write_bytes(b"abc")
    (runs[2] / "x").unlink()
    (runs[2] / "x").symlink_to("y")
    assert compare(*runs, layout=layout).differences == {"x": "a link with another target"}


def test_names_that_are_not_utf8(runs):
    name = os.fsdecode(b"caf\xe9.h5")
    for run in runs:
        with h5py.File(os.fsencode(run / name), "w") as file:
            file["x"] = [1, 2]
    assert compare(*runs, layout=True).compared == ("caf\\xe9.h5",)
    with h5py.File(os.fsencode(runs[2] / name), "r+") as file:
        file["x"][0] = 7
    assert "/x" in compare(*runs, layout=True).differences["caf\\xe9.h5"]


def test_bytes_differ_of_unreadable_file(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert "cannot be read" in bytes_differ(tmp_path / "a", tmp_path / "none")
