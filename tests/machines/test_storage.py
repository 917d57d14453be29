# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Costs of a storage: intervals, the short measurement, and the record that is kept."""

import json
import platform
from dataclasses import replace

import pytest

from stripewise.errors import StorageError
from stripewise.machines import (
    Exchange,
    Interval,
    Stack,
    StorageCosts,
    interpolated,
    load_storage,
    measure_storage,
    read_storage,
    storage_file,
    write_storage,
)

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


def test_a_directory_is_measured_and_left_as_it_was(tmp_path):
    found = measure_storage(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert found.is_measured
    assert found.host == platform.node()
    assert found.request(1 << 20, writing=True).middle > found.request(16, writing=True).middle
    assert 0 < found.call("open").low <= found.call("create").high


def test_a_record_is_kept_for_its_file_system(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = storage(
        exchange=(Exchange("mpich", 2, True, COST, TABLE, TABLE),), calls={"open": COST}
    )
    path = str(tmp_path / "out.dat")
    assert load_storage([path], [platform.node()]) == StorageCosts()
    write_storage(kept, storage_file(tmp_path))
    assert load_storage([path], [platform.node()]) == kept
    assert load_storage([path], ["elsewhere"]) == StorageCosts()
    assert load_storage(["/no/such/directory/x"], [platform.node()]) == StorageCosts()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:40],
        lambda text: text.replace('"version": 2', '"version": 99'),
        lambda text: json.dumps({**json.loads(text), "write": {"64": [3, 2, 1]}}),
        lambda text: json.dumps({**json.loads(text), "other": 1}),
        lambda text: "[" * 100_000,
    ],
)
def test_a_damaged_record_is_refused_with_a_remedy(tmp_path, damage):
    file = tmp_path / "storage.json"
    write_storage(storage(), file)
    file.write_text(damage(file.read_text()))
    with pytest.raises(StorageError, match="doctor --storage"):
        read_storage(file)


def kernel(tmp_path, text):
    program = tmp_path / "kernel"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{text}\nE\n")
    program.chmod(0o755)
    return [Stack("mpich", (str(program),), 2)]


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
    (found,) = measure_storage(tmp_path, kernel(tmp_path, json.dumps({"steps": steps}))).exchange
    assert found.write[64].middle == pytest.approx(2e-4)
    assert found.read[64].middle == pytest.approx(4e-4)
    assert found.opening.middle == pytest.approx(0.03)


def test_a_kernel_that_fails_is_left_out(tmp_path):
    assert measure_storage(tmp_path, kernel(tmp_path, "no JSON")).exchange == ()
