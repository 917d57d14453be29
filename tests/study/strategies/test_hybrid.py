# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.core import Measurement, ObservedFile, RunStatus
from stripewise.settings.formats import matches
from stripewise.study.strategies._studied_file import costly_small_file, large_file_globs

BIG = 1 << 30


def run(*files, elapsed=100.0):
    return Measurement("r", RunStatus.OK, 0, elapsed, 50.0, files=files)


def namelist(**more):
    given = {"read_bytes": 1280 * 22528, "readers": 1280, "io_seconds": 36.6}
    return ObservedFile("namelist.input", **(given | more))


def test_what_all_ranks_read_is_costly():
    found = costly_small_file(run(namelist()), 1280)
    assert found is not None
    assert found.text == "namelist.input, 22 KiB, shared by 1280 ranks, costs 36.6 of 100 s"


@pytest.mark.parametrize(
    "more",
    [
        {"io_seconds": 4.9},
        {"readers": 1000, "read_bytes": 1000 * 22528},
        {"read_bytes": 1280 << 21},
        {"write_bytes": 2 << 20},
        {"readers": 0},  # in journals of earlier versions
    ],
)
def test_what_is_cheap_or_large_or_not_shared_is_not(more):
    assert costly_small_file(run(namelist(**more)), 1280) is None


def test_without_files_nothing_is_known():
    assert costly_small_file(None, 1280) is None
    assert costly_small_file(run(), 1280) is None
    assert large_file_globs(None) == ""


@pytest.mark.parametrize(
    ("large", "small", "globs"),
    [
        (["wrfout_d01_2007-04-03", "wrfout_d02_2007-04-03"], ["namelist.input"], "wrfout*"),
        (["out/btio.nc"], ["inputbt1.data"], "btio.nc"),
        (["plt0010", "chk0010"], ["plt.in"], "plt[0-9]*,chk*"),
        (["a,b1.dat"], ["c"], "a?b*.dat"),
        (["x/same"], ["y/same"], "x/same"),
    ],
)
def test_globs_are_as_general_as_small_files_allow(large, small, globs):
    files = [ObservedFile(name, write_bytes=BIG) for name in large]
    files += [ObservedFile(name, write_bytes=10) for name in small]
    found = large_file_globs(run(*files))
    assert all(any(matches(glob, name) for glob in found.split(",")) for name in large)
    assert not any(matches(glob, name) for glob in found.split(",") for name in small)
    assert found == globs
