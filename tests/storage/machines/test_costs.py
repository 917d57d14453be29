# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Costs of requests: intervals, what follows from them, and how they are measured."""

import json
from dataclasses import replace

import pytest

from stripewise.core import Exchange, Interval, StorageCosts, interpolated
from stripewise.storage.machines import MpiStack
from stripewise.storage.machines._requests import _exchange, measure_costs

PHASES = ("open", "transfer", "close")
COST = Interval(1e-6, 2e-6, 4e-6)
TABLE = {1024: COST, 1 << 20: COST.scaled(100)}


def storage(**fields):
    return StorageCosts(measured=1.0, write=TABLE, read=TABLE, **fields)


def test_a_difference_is_as_wide_as_its_parts_together():
    gain = Interval(9, 10, 11).minus(Interval(1, 2, 5))
    assert gain == (4, 8, 10)


def test_costs_between_and_beyond_the_measured_sizes():
    costs = storage()
    assert costs.request(10, writing=True) == COST
    assert costs.request(32 << 10, writing=True).middle == pytest.approx(2e-5)
    assert costs.request(2 << 20, writing=True).middle == pytest.approx(4e-4)
    assert costs.bulk(8 << 20, writing=False).middle == pytest.approx(1.6e-3)


def test_pieces_smaller_than_measured_cost_the_same_each():
    table = {64: Interval(1e-9, 2e-9, 3e-9), 1024: Interval(1e-10, 2e-10, 3e-10)}
    for piece, seconds in ((16, 8e-9), (64, 2e-9), (1 << 20, 2e-10)):
        assert interpolated(table, piece, per_byte=True).middle == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("ranks", "measured"), [(2, 2), (3, 2), (4, 4), (8, 4), (9, None), (16, 16), (64, None)]
)
def test_ranks_that_share_processors_have_the_costs_of_as_many_ranks_only(ranks, measured):
    known = [Exchange("mpich", number, True, COST) for number in (2, 4, 16)]
    known += [Exchange("mpich", 9, False, COST), Exchange("openmpi", 9, True, COST)]
    found = storage(processors=8, exchange=known).exchanged("mpich", ranks, collective=True)
    assert (found and found.ranks) == measured


def test_without_a_measurement_costs_are_wide():
    assumed = StorageCosts()
    assert not assumed.is_measured
    cost = assumed.bulk(1 << 30, writing=True)
    assert cost.high > 20 * cost.low
    assert assumed.spread > storage().spread - 1


def test_the_noise_is_that_of_the_measured_costs():
    quiet = replace(storage(), write={64: Interval(1.0, 1.01, 1.02)}, read={})
    assert quiet.spread == pytest.approx(0.1)
    assert storage().spread == pytest.approx(0.5)


def kernel(tmp_path, text):
    program = tmp_path / "kernel"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{text}\nE\n")
    program.chmod(0o755)
    return [MpiStack("mpich", (str(program),), 2)]


@pytest.mark.extended
def test_exchange_is_what_the_kernels_transfers_took(tmp_path):
    steps = [
        {
            "operation": op,
            "bytes": 1000,
            "phases": {
                "open": {"min_seconds": 0.01},
                "transfer": {"max_seconds": seconds},
                "close": {"min_seconds": 0.02},
            },
        }
        for op, seconds in (("write", 0.1), ("write", 0.2), ("write", 0.3), ("read", 0.4))
    ]
    (found,) = measure_costs(tmp_path, kernel(tmp_path, json.dumps({"steps": steps}))).exchange
    assert found.write[64].middle == pytest.approx(2e-4)
    assert found.read[64].middle == pytest.approx(4e-4)
    assert found.opening.middle == pytest.approx(0.03)


@pytest.mark.extended
def test_a_slow_machine_is_not_measured_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("stripewise.storage.machines._requests._LIMIT_SECONDS", 0.0)
    monkeypatch.setattr("stripewise.storage.machines._requests._exchange", pytest.fail)
    assert measure_costs(tmp_path, kernel(tmp_path, "")).exchange == ()


def step(operation, **changed):
    phases = {name: {"min_seconds": 0.1, "max_seconds": 0.1} for name in PHASES}
    return {"operation": operation, "bytes": 1000, "phases": phases, **changed}


def said(*steps, **more):
    return json.dumps({"steps": steps, **more})


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        "{}",
        said(),  # what a kernel says that could not open its file
        said(step("write")),
        said(step("read")),
        said(step("write"), step("read", bytes=0)),
        said(step("write"), {"operation": "read"}),
        said(step("write"), step("read", phases={})),
        said("write", "read"),
        '{"steps": 7}',
        said(step("write"), step("read")) + "\nE\nexit 1\ncat <<'E'",
    ],
    ids="no-json list nothing no-steps no-reads no-writes no-bytes no-figures no-phases words "
    "number failed".split(),
)
def test_a_kernel_that_fails_is_left_out(tmp_path, text):
    (stack,) = kernel(tmp_path, text)
    assert _exchange(stack, tmp_path) is None


def test_kernels_find_their_file_in_a_directory_with_a_colon(tmp_path):
    """ROMIO takes what stands before a colon for the name of a file system."""
    place = tmp_path / "a:b"
    place.mkdir()
    (stack,) = kernel(tmp_path, said(step("write"), step("read")))
    program = tmp_path / "kernel"
    check = 'case "$*" in *:*) exit 1;; esac\ntest "$(basename "$PWD")" = a:b || exit 1\n'
    program.write_text(program.read_text().replace("\n", f"\n{check}", 1))
    found = _exchange(stack, place)
    assert found is not None
    assert found.read[64].middle == pytest.approx(1e-4)
