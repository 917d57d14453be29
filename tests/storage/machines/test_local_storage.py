# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The storage of this machine: probed, kept as one record, read by all."""

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import Exchange, Interval, StorageCosts
from stripewise.core.errors import StorageError
from stripewise.learning.knowledge import describe_machine
from stripewise.storage.machines import (
    Effort,
    FigureOrigin,
    Mount,
    Storage,
    description_text,
    find_storage,
    keep_storage,
    load_description,
    local_storage,
    measured_words,
    probe_storage,
    storage_file,
    storage_of_files,
)
from stripewise.storage.machines import _probe as probing
from stripewise.storage.machines._probe import takes_direct

SHORT = Effort(rounds=2, seconds=0.01, region=8 << 20, files=5)
COST = Interval(1e-6, 2e-6, 4e-6)
TABLE = {1024: COST, 1 << 20: Interval(1e-4, 2e-4, 4e-4)}
COSTS = StorageCosts(
    host=platform.node(),
    processors=2,
    measured=1.0,
    write=TABLE,
    sync=TABLE,
    calls={"open": COST},
    exchange=(Exchange("mpich", 2, True, COST, TABLE, TABLE),),
)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    return place


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    place = tmp_path_factory.mktemp("probed")
    found = probe_storage(place, effort=SHORT)
    assert list(place.iterdir()) == []
    return found


@pytest.mark.extended
def test_a_probe_describes_process_node_target_and_metadata(probed):
    measured = {n for n, one in probed.figures.items() if one.kind is FigureOrigin.MEASURED}
    ways = {f"{name}_{way}" for way in ("write", "read") for name in (
        "client.process", "client.file", "client.node", "servers.target")}  # fmt: skip
    calls = {f"metadata.{name}" for name in ("create", "open", "stat", "remove", "latency")}
    assert measured >= ways | calls | {"client.request", "servers.target_request", "noise.cv"}
    for name in ways | calls:
        figure = probed.figures[name]
        assert figure.low <= figure.value <= figure.high
        assert "machine probe" in figure.source
    assert probed.value("servers.target_write") >= probed.value("client.node_write")
    assert all(probed.figures[f"metadata.{name}"].low > 0 for name in ("create", "stat"))


@pytest.mark.extended
def test_a_probe_measures_what_requests_cost(probed):
    costs = probed.costs
    assert costs.is_measured
    assert costs.host == platform.node()
    assert costs.request(1 << 20, writing=True).middle > costs.request(16, writing=True).middle
    assert 0 < costs.call("open").low <= costs.call("open").high


@pytest.mark.extended
def test_a_probed_storage_is_a_description(probed):
    assert load_description(description_text(probed)) == probed
    assert measured_words(probed).startswith("one process writes ")


@pytest.mark.extended
def test_requests_through_the_cache_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr("stripewise.storage.machines._probe.takes_direct", lambda work: False)
    monkeypatch.setattr(probing, "measure_costs", lambda work, stacks: COSTS)
    found = probe_storage(tmp_path, effort=replace(SHORT, rounds=1))
    assert "no O_DIRECT: through the cache" in found.figures["client.process_write"].source
    assert found.figures["client.process_write"].low is None
    assert found.stack == "romio"


def test_direct_requests_leave_nothing(tmp_path):
    takes_direct(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_or_closed_directory_is_refused(tmp_path, monkeypatch):
    with pytest.raises(StorageError, match="cannot measure"):
        probe_storage(tmp_path / "none")
    monkeypatch.setattr(probing, "_LEAST_FREE", 1 << 62)
    with pytest.raises(StorageError, match="MiB free, and a probe needs"):
        probe_storage(tmp_path)


@pytest.mark.extended
def test_what_the_storage_refuses_is_said_and_nothing_is_left(tmp_path, monkeypatch):
    def full(work, stacks):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(probing, "measure_costs", full)
    with pytest.raises(StorageError, match="No space left"):
        probe_storage(tmp_path, effort=SHORT)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_known_before_it_is_measured(tmp_path):
    found = local_storage(tmp_path)
    assert found.mount.kind
    assert found.costs == StorageCosts()
    assert measured_words(found) == ""
    with pytest.raises(StorageError, match="nothing was measured"):
        find_storage("local", tmp_path)


def test_one_record_serves_all(tmp_path):
    made = Storage("local", "here", "local", "", _figures(), costs=COSTS)
    keep_storage(made, tmp_path)
    kept = local_storage(tmp_path)
    assert kept == replace(made, mount=kept.mount)
    assert find_storage("local", tmp_path) == kept
    assert find_storage("local@1/2", tmp_path).slowdown == 2
    assert describe_machine(tmp_path).filesystem == kept.mount.kind
    path = str(tmp_path / "out.dat")
    assert storage_of_files([path], [platform.node()]) == kept
    assert not storage_of_files([path], ["elsewhere"]).costs.is_measured
    nowhere = storage_of_files(["/no/such/directory/x"], [platform.node()])
    assert nowhere.costs == StorageCosts()


def test_costs_are_written_with_units_and_read_again():
    mount = Mount("ext4", 'a "disk"\x7f', "/", "8:1", "1", "virtual")
    storage = Storage("local", "here", "local", "", _figures(), mount=mount, costs=COSTS)
    text = description_text(storage)
    assert '"1 MiB" = ["0.1 ms", "0.2 ms", "0.4 ms"]' in text
    assert load_description(text) == storage


def test_costs_follow_slow_motion(tmp_path):
    storage = Storage("local", "here", "local", "", _figures(), costs=COSTS)
    keep_storage(storage, tmp_path)
    slow = find_storage("local@1/4", tmp_path).costs
    assert slow.write[1024] == COST.scaled(4)
    assert slow.exchange[0].read[1024] == COST.scaled(4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version = 1", "version = 99"),
        ('"1 us"', '"9 us"'),
        ('"1 us"', '"1"'),
        ("ranks = 2", 'ranks = "2"'),
        ("host =", "hosts ="),
        ("version = 1", "[" * 100_000),
        ('"1 KiB"', '"1 K"'),
    ],
)
def test_a_damaged_record_is_refused_with_a_remedy(tmp_path, old, new):
    storage = Storage("local", "here", "local", "", _figures(), costs=COSTS)
    file = keep_storage(storage, tmp_path)
    assert file == storage_file(tmp_path)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(StorageError, match="not a record of storage of this version: measure it"):
        find_storage("local", tmp_path)
    assert local_storage(tmp_path).costs == StorageCosts()


def test_a_record_that_cannot_be_kept_is_said(tmp_path, cache):
    (Path(cache) / "stripewise").write_text("in the way")
    with pytest.raises(StorageError, match="cannot keep"):
        keep_storage(local_storage(tmp_path), tmp_path)


def _figures():
    return {
        name: one
        for name, one in load_description("archer2-hdd").figures.items()
        if name.startswith(("machine.", "servers."))
    }
