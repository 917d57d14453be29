# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of HDF5 count for the file that they are in."""

from __future__ import annotations

import sys

import pytest
from native_hosts import Host, operations

from stripewise.evidence.trace import IoLayer, Op

pytest.importorskip("h5py")

MAKE = """
import h5py
for name in ("a", "b"):
    with h5py.File(f"{name}.h5", "w") as file:
        file.create_group("group").attrs["x"] = 1
with h5py.File("a.h5", "r+") as file:
    file["out"] = h5py.ExternalLink("b.h5", "/group")
"""
READ = """
import sys, h5py
of_a, of_b, opens = map(int, sys.argv[1:])
for _ in range(opens):  # identifiers begin anew where all files are closed
    with h5py.File("a.h5", "r") as file:
        group, out = file["group"], file["out"]
        for number in range(max(of_a, of_b)):
            if number < of_a:
                group.attrs["x"]
            if number < of_b:
                out.attrs["x"]
        del group, out
"""


def calls(host: Host, of_a: int, of_b: int, opens: int = 1) -> tuple[int, int]:
    """Calls of HDF5 for metadata, of each file."""
    host.check(sys.executable, "-c", READ, str(of_a), str(of_b), str(opens))
    found = tuple(
        sum(operations(row, Op.META) for row in host.records(name, IoLayer.HDF5))
        for name in ("a.h5", "b.h5")
    )
    for path in host.containers.glob("*.sw"):
        path.unlink()
    return found[0], found[1]


def test_attributes_count_for_the_file_behind_an_external_link(host: Host) -> None:
    host.check(sys.executable, "-c", MAKE, LD_PRELOAD="")
    neither, a_alone, b_alone = calls(host, 0, 0), calls(host, 10, 0), calls(host, 0, 10)
    a, b = a_alone[0] - neither[0], b_alone[1] - neither[1]
    assert a == b >= 10 * 2  # an open and a read each
    assert a_alone[1] - neither[1] == b_alone[0] - neither[0] == 0
    both = calls(host, 20, 10, opens=3)
    assert both == (3 * (neither[0] + 2 * a), 3 * (neither[1] + b))
