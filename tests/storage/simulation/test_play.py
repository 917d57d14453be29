# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The event player by itself, and against the closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.storage.simulation import Rates, phase_times
from stripewise.storage.stacks import REQUEST_DTYPE, Flow, Layout, Phase
from support.player import play
from support.storages import GIB, MIB, described


def made(rows):
    """Requests of (rank, offset, size), in one file and phase."""
    found = np.zeros(len(rows), REQUEST_DTYPE)
    found["writing"] = True
    for number, (rank, offset, size) in enumerate(rows):
        found[number]["rank"], found[number]["offset"], found[number]["size"] = rank, offset, size
    return found


def test_a_request_is_cut_at_stripes_and_its_parts_run_at_once():
    storage = described({"servers.target_write": GIB, "servers.target_request": 0.5})
    found = play(made([(0, MIB // 2, 2 * MIB)]), storage, Layout(2, MIB, 12), np.zeros(1, int))
    # one MiB to each of two objects
    assert found.ends.tolist() == pytest.approx([0.5 + 1 / 1024])


def test_clocks_serve_one_after_another():
    storage = described({"client.node_write": GIB, "client.process_write": GIB / 3})
    rows = [(rank, rank * MIB, MIB) for rank in range(4)]
    nodes = np.array([0, 0, 0, 1])
    found = play(made(rows), storage, Layout(4, MIB, 12), nodes)
    assert found.ends * 1024 == pytest.approx([3, 3, 3, 3])
    storage = described({"client.node_write": GIB})
    found = play(made(rows), storage, Layout(4, MIB, 12), nodes)
    assert found.ends * 1024 == pytest.approx([1, 2, 3, 1])


def test_processes_that_write_the_same_file_contend_on_their_node():
    storage = described({"client.file_write": GIB, "client.sharing": 0.5})
    rows = [(rank, rank * MIB, MIB) for rank in range(3)]
    shared = play(made(rows), storage, Layout(4, MIB, 12), np.zeros(3, int))
    assert shared.ends * 1024 == pytest.approx([2, 4, 6])
    apart = play(made(rows), storage, Layout(4, MIB, 12), np.arange(3))
    assert apart.ends * 1024 == pytest.approx([1, 1, 1])


def test_a_lock_goes_from_node_to_node_and_shared_pages_cost_more():
    storage = described({"locks.revoke": 1.0, "locks.page": 0.25})
    rows = [(0, 0, 100), (1, 100, MIB - 100), (2, MIB, MIB)]
    found = play(made(rows), storage, Layout(1, 4 * MIB, 12), np.array([0, 1, 1]))
    assert found.ends.tolist() == pytest.approx([0, 1.25, 1.25])
    assert found.handovers == 1


def test_readers_share_a_lock():
    storage = described({"locks.revoke": 1.0})
    requests = made([(0, 0, MIB), (1, 0, MIB), (2, 0, MIB), (3, 0, MIB)])
    requests["writing"] = [True, False, False, True]
    requests["phase"] = [0, 1, 1, 2]
    found = play(requests, storage, Layout(1, MIB, 12), np.arange(4))
    assert found.ends.tolist() == pytest.approx([0, 1, 1, 2])
    assert found.handovers == 2


def test_a_read_beyond_the_end_of_a_new_file_asks_for_the_lock_and_for_no_data():
    storage = described(
        {"locks.revoke": 1.0, "servers.target_request": 0.5, "client.process_read": MIB}
    )
    requests = made([(0, 0, MIB), (1, MIB, MIB), (1, MIB // 2, MIB)])
    requests["writing"] = [True, False, False]
    requests["phase"] = [0, 1, 2]
    found = play(requests, storage, Layout(1, MIB, 12), np.arange(2))
    assert found.ends.tolist() == pytest.approx([0.5, 1.5, 2.0])
    requests["phase"] = [1, 0, 0]  # the file was there before
    found = play(requests[1:], storage, Layout(1, MIB, 12), np.arange(2))
    assert found.ends.tolist() == pytest.approx([1.0, 2.0])


def test_lock_ahead_costs_the_process_and_the_node_and_modes_differ():
    figures = {"locks.ahead": 1.0, "locks.hold": 0.2, "locks.extent": 0.1, "locks.revoke": 5.0}
    rows = [(rank, rank * MIB, MIB) for rank in range(4)]
    ends = [
        play(
            made(rows), described(figures), Layout(1, 16 * MIB, 12), np.arange(4) // 2,
            lock_mode=mode,
        ).ends.max()
        for mode in (0, 1, 2)
    ]  # fmt: skip
    assert ends == pytest.approx([5.0, 0.0, 1.0])
    figures["locks.ahead"] = 0.0
    found = play(
        made(rows), described(figures), Layout(1, 16 * MIB, 12), np.arange(4) // 2, lock_mode=2
    )
    assert found.ends == pytest.approx([0.4, 0.8, 0.4, 0.8])  # 0.2 + 0.1 x 4 x 1/2


def test_a_node_works_on_while_one_of_its_requests_waits_for_a_lock():
    storage = described({"locks.revoke": 1.0, "client.node_write": GIB})
    requests = made([(0, 0, MIB), (1, 0, MIB), (2, 0, MIB)])
    requests["file"] = [0, 0, 1]
    found = play(requests, storage, Layout(1, MIB, 12), np.array([0, 1, 1]))
    assert found.ends.tolist() == pytest.approx([1 / 1024, 1 + 1 / 1024, 2 / 1024])


@dataclass(frozen=True)
class Symmetric:
    """Equal processes: where the requests of each go, and what a flow says of them."""

    how: str
    objects: int
    per_object: int
    nodes: int
    count: int
    size: int

    @property
    def processes(self) -> int:
        return self.objects * self.per_object

    def requests(self):
        found = np.zeros(self.processes * self.count, REQUEST_DTYPE)
        rank = np.repeat(np.arange(self.processes), self.count)
        order = np.tile(np.arange(self.count), self.processes)
        found["rank"], found["order"], found["writing"] = rank, order, True
        row = order * self.per_object + rank // self.objects
        found["size"] = self.size
        if self.how == "files":
            found["file"], found["offset"] = rank, order * MIB
        elif self.how == "rows":
            found["size"] = self.objects * MIB
            found["offset"] = row * self.processes * MIB + rank % self.objects * self.objects * MIB
        else:
            turn = order if self.how == "turns" else 0
            found["offset"] = (row * self.objects + (rank + turn) % self.objects) * MIB
        return found

    def flow(self, handovers, lock_mode):
        per_process = {"own": 1, "turns": min(self.count, self.objects), "rows": self.objects}
        if self.how == "files":
            return Flow(True, self.processes, self.nodes, self.count, self.size, self.processes)
        reach = per_process[self.how]
        return Flow(
            True,
            self.processes,
            self.nodes,
            self.count,
            self.objects * MIB if self.how == "rows" else self.size,
            objects=self.objects,
            objects_per_process=reach,
            writers=self.processes / self.objects,
            handovers=handovers,
            lock_mode=lock_mode,
        )


def rate(least, most):
    return st.one_of(st.just(float("inf")), st.floats(least, most).map(lambda x: x * GIB))


@st.composite
def cases(draw):
    objects = draw(st.sampled_from([1, 2, 4, 6, 12]))
    per_object = draw(st.integers(1, 4))
    processes = objects * per_object
    mode = draw(st.sampled_from([0, 0, 1, 2]))
    # Equal processes: with several on each of several nodes some find the lock there, others not.
    nodes = draw(
        st.sampled_from(
            [
                n
                for n in range(1, processes + 1)
                if processes % n == 0 and (mode or n in (1, processes))
            ]
        )
    )
    work = Symmetric(
        draw(st.sampled_from(["own", "turns", "rows", "files"])),
        objects,
        per_object,
        nodes,
        draw(st.integers(1, 24)),
        draw(st.sampled_from([MIB, MIB // 4])),
    )
    time = st.one_of(st.just(0.0), st.floats(1e-5, 5e-3))
    figures = {
        "client.process_write": draw(rate(0.2, 2)),
        "client.file_write": draw(rate(0.3, 4)),
        "client.sharing": draw(st.sampled_from([0.0, 0.3])),
        "client.turns": draw(st.sampled_from([0.0, 0.6, 1.0])),
        "client.node_write": draw(rate(0.5, 10)),
        "client.request": draw(time),
        "servers.target_write": draw(rate(0.2, 4)),
        "servers.target_request": draw(st.one_of(st.just(0.0), st.floats(1e-5, 1e-3))),
        "servers.whole_write": draw(rate(1, 20)),
        "locks.revoke": draw(time),
        "locks.ahead": draw(time),
        "locks.hold": draw(st.one_of(st.just(0.0), st.floats(1e-5, 1e-3))),
        "locks.extent": draw(st.one_of(st.just(0.0), st.floats(1e-6, 2e-4))),
    }
    return work, figures, mode


def both(work, figures, lock_mode):
    """Seconds by the closed form, and request by request, when all have written before."""
    storage, layout = described(figures), Layout(work.objects, MIB, 12)
    if work.how == "files":
        layout = Layout(1, MIB, 12)
    nodes = np.arange(work.processes) // (work.processes // work.nodes)
    once = work.requests()
    twice = np.concatenate((once, once))
    twice["phase"][once.size :] = 1
    first, both = (
        play(part, storage, layout, nodes, lock_mode=lock_mode) for part in (once, twice)
    )
    parts = once.size * (work.objects if work.how == "rows" else 1)
    share = (both.handovers - first.handovers) / parts
    phase = Phase("write", flows=(work.flow(share, lock_mode),))
    (time,) = phase_times([phase], Rates.of(storage), layout)
    return time.seconds, float(both.ends.max() - first.ends.max())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(cases())
def test_closed_form_and_player_agree(case):
    closed, played = both(*case)
    assert closed == pytest.approx(played, rel=0.1, abs=1e-9)


def test_writes_of_a_node_into_one_file_take_turns_until_their_data_is_there():
    storage = described(
        {"client.process_write": 4 * GIB, "servers.target_write": GIB, "client.turns": 1.0}
    )
    rows = [(rank, rank * MIB, MIB) for rank in range(3)]
    shared = play(made(rows), storage, Layout(4, MIB, 12), np.zeros(3, int))
    assert shared.ends * 1024 == pytest.approx([1, 2, 3])
    apart = play(made(rows), storage, Layout(4, MIB, 12), np.arange(3))
    assert apart.ends * 1024 == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("each", [1, 4, 13])
def test_chance_evens_out_over_the_turns_of_a_node(each):
    figures = {"servers.targets": 48, "servers.target_write": GIB, "servers.jitter": 0.6}
    storage = described({**figures, "client.process_write": 0.8 * GIB, "client.turns": 1.0})
    rounds, ranks, layout = 200, 3 * each, Layout(48, MIB, 48)
    found = np.zeros(rounds * ranks, REQUEST_DTYPE)
    number = np.arange(found.size)
    found["phase"], found["rank"] = np.divmod(number, ranks)
    found["offset"] = number.astype(np.int64) * MIB
    found["size"], found["writing"] = MIB, True
    played = play(found, storage, layout, np.arange(ranks) // each).ends.max()
    flow = Flow(True, ranks, 3, 1, MIB, objects=min(ranks, 48))
    (time,) = phase_times([Phase("rounds", rounds, (flow,))], Rates.of(storage), layout)
    assert time.seconds == pytest.approx(played, rel=0.1)


@pytest.mark.parametrize(("objects", "count"), [(2, 1), (12, 1), (12, 16), (48, 4)])
def test_chance_of_targets_adds_up_to_the_slowest_of_them(objects, count):
    storage = described(
        {"servers.targets": 48, "servers.target_write": GIB, "servers.jitter": 0.8}
    )
    rounds, layout = 200, Layout(objects, MIB, 48)
    found = np.zeros(rounds * objects * count, REQUEST_DTYPE)
    number = np.arange(found.size)
    found["phase"], rest = np.divmod(number, objects * count)
    found["rank"], found["order"] = np.divmod(rest, count)
    row = found["phase"] * count + found["order"]
    found["offset"] = (row.astype(np.int64) * objects + found["rank"]) * MIB
    found["size"], found["writing"] = MIB, True
    played = play(found, storage, layout, np.arange(objects)).ends.max()
    flow = Flow(True, objects, objects, count, MIB, objects=objects)
    (time,) = phase_times([Phase("rounds", rounds, (flow,))], Rates.of(storage), layout)
    assert time.seconds == pytest.approx(played, rel=0.12)
