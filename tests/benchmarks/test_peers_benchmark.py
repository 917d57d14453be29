# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison with IOR and benchio: what is read from each, and what the table says."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import peers
import pytest
from peers_output import HEADER, Figure, row, table, verdict

FIGURE = Figure(
    name="POSIX, shared file", peer="ior", mpi="mpich", operation="write", ratio=1.01, low=0.98,
    high=1.04, best=1.0, ours=0.01, theirs=0.0101, pairs=31,
)  # fmt: skip


def test_seconds_of_each_program():
    totals = {"write": {"seconds": 1.0, "elapsed_seconds": 1.5}, "read": None}
    assert peers.seconds_of_ours(json.dumps({"totals": totals})) == {"write": 1.5}
    summary = {"tests": [{"Results": [{"access": "read", "bwMiB": 64.0}]}]}
    assert peers.seconds_of_ior(json.dumps(summary), 32 << 20) == {"read": 0.5}
    line = " time =    3.5203199877287261E-004 , rate =    1.3870365526488233       GiB/s"
    assert peers.seconds_of_benchio(line) == {"write": pytest.approx(3.52032e-4)}


def test_the_interval_has_the_median():
    low, high = peers.interval([0.9, 1.0, 1.1] * 9)
    assert 0.9 <= low <= 1.0 <= high <= 1.1
    assert peers.interval([1.0] * 5) == (1.0, 1.0)


def test_the_verdict_is_that_of_the_interval():
    assert verdict(FIGURE) == "yes"
    assert verdict(replace(FIGURE, low=0.9)) == "open"
    assert verdict(replace(FIGURE, low=0.9, high=0.95)) == "no"


def test_a_row_has_a_word_for_each_column():
    assert len(row(FIGURE)) == len(HEADER)
    assert len(table([FIGURE], header=True).splitlines()) == 2


def test_without_peers_it_says_what_to_do(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("STRIPEWISE_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["peers.py"])
    assert peers.main() == 0
    assert capsys.readouterr().out == f"{peers.MISSING}\n"
