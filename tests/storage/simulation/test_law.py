# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
import pytest

from stripewise.storage.simulation import Rates, limits_of, phase_times
from stripewise.storage.stacks import Flow, Layout, Phase
from support.storages import GIB, MIB, described

LAYOUT = Layout(12, MIB, 12)


def seconds(storage, *phases, layout=LAYOUT):
    return sum(time.seconds for time in phase_times(phases, Rates.of(storage), layout))


def writers(number, nodes=4, count=64, **more):
    return Flow(
        writing=True,
        processes=number,
        nodes=nodes,
        count=count,
        size=MIB,
        objects=12,
        **{"objects_per_process": 1, "writers": number / 12, **more},
    )


def test_one_writer_per_stripe_moves_what_its_process_can():
    storage = described({"client.process_write": GIB})
    assert seconds(storage, Phase("write", flows=(writers(12),))) == pytest.approx(64 / 1024)


def test_rounds_repeat_exchange_and_write():
    storage = described(
        {"client.process_write": GIB, "exchange.round": 0.01, "exchange.rank": 1e-5}
    )
    phase = Phase("two-phase", 64, (writers(12, count=1),), exchange_bytes=MIB, ranks=100)
    assert seconds(storage, phase) == pytest.approx(64 * (0.01 + 0.001 + 1 / 1024))


def test_the_busiest_target_and_the_busiest_node_count():
    storage = described({"servers.target_write": GIB})
    one = Phase("write", flows=(writers(13),))
    assert seconds(storage, one) == pytest.approx(2 * 64 / 1024)
    storage = described({"client.node_write": GIB})
    assert seconds(storage, Phase("write", flows=(writers(9),))) == pytest.approx(3 * 64 / 1024)


def test_a_lock_that_changes_hands_holds_up_the_object_and_the_node():
    storage = described({"locks.revoke": 0.01, "client.file_write": 1e15})
    flow = writers(24, nodes=24, handovers=1.0)
    assert seconds(storage, Phase("write", flows=(flow,))) == pytest.approx(64 * 2 * 0.01, 0.01)
    flow = writers(24, nodes=2, handovers=1.0)
    assert seconds(storage, Phase("write", flows=(flow,))) == pytest.approx(64 * 12 * 0.01, 0.01)


def test_locks_ahead_cost_the_process_and_its_node_but_do_not_meet_at_the_object():
    storage = described({"client.process_write": GIB, "locks.ahead": 0.002})
    ahead = writers(48, nodes=48, lock_mode=2)
    assert seconds(storage, Phase("write", flows=(ahead,))) == pytest.approx(64 * (0.002 + 2**-10))
    held = {"client.file_write": GIB, "locks.hold": 0.001, "locks.extent": 0.0005}
    ahead = writers(48, nodes=4, lock_mode=2)
    each = 2**-10 + 0.001 + 0.0005 * 4 * 3 / 4
    assert seconds(described(held), Phase("write", flows=(ahead,))) == pytest.approx(
        64 * 12 * each
    )
    alone = writers(12, nodes=1, lock_mode=2)
    each = 2**-10 + 0.001
    assert seconds(described(held), Phase("write", flows=(alone,))) == pytest.approx(
        64 * 12 * each
    )


def test_own_time_hides_behind_a_busy_target_but_for_the_first():
    storage = described({"servers.target_write": GIB, "client.request": 1 / 1024})
    busy = Phase("write", flows=(writers(48, count=10),))
    assert seconds(storage, busy) == pytest.approx((1 + 40) / 1024)
    idle = Phase("write", flows=(writers(12, count=10),))
    assert seconds(storage, idle) == pytest.approx(20 / 1024)


def test_writes_that_take_turns_are_said():
    storage = described({"servers.target_write": GIB, "client.turns": 1.0})
    times = phase_times([Phase("write", flows=(writers(16),))], Rates.of(storage), LAYOUT)
    assert "take turns" in limits_of(times, storage, LAYOUT)[0].words


def test_limits_are_a_chain_in_words():
    storage = described({"client.process_write": GIB, "servers.target_write": 4 * GIB})
    times = phase_times([Phase("write", flows=(writers(12),))], Rates.of(storage), LAYOUT)
    first, second = limits_of(times, storage, LAYOUT)
    assert first.words == "1 writer per stripe: 12 x 1 GiB/s"
    assert first.share == pytest.approx(1.0)
    assert first.next == second.words == "targets: 12 x 4 GiB/s"
    assert second.share == pytest.approx(0.25)
