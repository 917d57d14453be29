# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Limits that are read off the figures themselves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, DirectoryStriping, Suite
from stripewise.bench.limits._cells import cells_of
from stripewise.bench.limits._plateaus import chosen_target, plateaus, saturation, server_limits
from support.storages import GIB

NODES = (1, 2, 4, 8, 16, 32, 64)


@given(st.integers(1, 32), st.floats(1.0, 1e12))
def test_a_rate_that_ends_is_found_where_it_ends(last, rate):
    found = saturation((n, rate * min(n, last)) for n in NODES)
    if last >= 32:
        assert found is None or found >= 16
    else:
        # The first of the measured numbers that is nearly at the end.
        assert found is not None
        assert last / 1.15 <= found <= 2 * last


@given(st.floats(1.0, 1e12))
def test_a_rate_that_grows_has_no_end(rate):
    assert saturation((n, rate * n) for n in NODES) is None
    assert saturation([(1, rate)]) is None
    assert saturation([]) is None


@given(st.permutations([(1, 10.0), (2, 19.0), (4, 30.0), (8, 31.0), (16, 30.5)]))
def test_the_order_of_the_points_does_not_matter(points):
    assert saturation(points) == 4


def campaign_of(cells, directories=None):
    places = directories or {"default": DirectoryStriping()}
    suite = Suite("test", "Test", "", places, tuple(case for case, _ in cells))
    runs = tuple(
        CaseRun(
            case.key, number, "ok", tuple(RunFigure(one, 1.0, 1 / rate) for one, rate in rates)
        )
        for case, repeats in cells
        for number, rates in enumerate(repeats, 1)
    )
    return Campaign("test", suite, runs, about={"targets": 4, "stack": "romio"})


def written(rate, **words):
    return Case("line", **words), [[("write", rate)]] * 3


def test_process_node_target_and_whole():
    cells = [
        written(1 * GIB, layout="per-process"),
        written(3 * GIB, layout="per-process", ranks_per_node=8),
        *(written(3 * GIB * min(n, 4), layout="per-process", ranks_per_node=8, nodes=n)
          for n in (2, 4, 8)),
        written(1.5 * GIB, ranks_per_node=8),
        *(written(2 * GIB * min(n, 1), directory="one", nodes=n, ranks_per_node=2)
          for n in (2, 4)),
    ]  # fmt: skip
    places = {"default": DirectoryStriping(-1), "one": DirectoryStriping(1)}
    found = {
        one.figure: one for one in plateaus(cells_of(campaign_of(cells, places), ""), "write")
    }
    assert found["client.process_write"].value == pytest.approx(1 * GIB)
    assert found["client.node_write"].value == pytest.approx(3 * GIB)
    assert found["client.file_write"].value == pytest.approx(1.5 * GIB)
    assert found["servers.target_write"].value == pytest.approx(2 * GIB)
    assert found["servers.target_write"].reached
    assert found["servers.whole_write"].value == pytest.approx(12 * GIB)
    assert found["servers.whole_write"].reached


def test_files_that_were_put_on_one_target_tell_of_it():
    cells = [
        written(2 * GIB, directory="first", layout="per-process", nodes=n, ranks_per_node=2)
        for n in (1, 2, 4)
    ]
    cells_found = cells_of(campaign_of(cells, {"first": DirectoryStriping(1, 0, 0)}), "romio")
    assert all(one.pinned and not one.in_model for one in cells_found)
    found = {one.figure: one for one in plateaus(cells_found, "write")}
    assert found["servers.target_write"].value == pytest.approx(2 * GIB)


def test_the_upper_half_of_the_repeats_counts():
    case = Case("line")
    cells = cells_of(campaign_of([(case, [[("write", rate)] for rate in (1, 5, 9, 10, 10)])]), "")
    assert cells[0].undisturbed == (9, 10, 10)
    assert cells[0].best == 10
    assert cells[0].median == 9


def created(ranks, rate, **words):
    case = Case("metadata", runner="metadata", operation="metadata", ranks_per_node=ranks, **words)
    return case, [[("create", rate)]] * 3


def test_the_server_and_the_way_to_it():
    cells = [created(1, 500.0), created(4, 2000.0), created(16, 5000.0), created(64, 5100.0)]
    found = server_limits(cells_of(campaign_of(cells), ""), {0: 1, -1: 4})
    assert found.figures["metadata.create"].value == pytest.approx(1 / 5050, rel=0.03)
    way = found.figures["metadata.latency"].value
    assert way == pytest.approx(1 / 500 - 1 / 5050, rel=0.03)


def test_files_that_were_written_are_not_compared_with_empty_ones():
    cells = [created(1, 500.0), created(16, 5000.0), created(64, 5100.0)]
    cells += [created(128, 100.0, file_bytes=1 << 20)]
    found = server_limits(cells_of(campaign_of(cells), ""), {0: 1, -1: 4})
    assert found.figures["metadata.create"].value == pytest.approx(1 / 5050, rel=0.03)


def test_a_case_of_an_unknown_runner_is_not_asked_of_the_model():
    cells = [(replace(Case("line"), runner="bogus"), [[("write", 1.0)]])]
    (one,) = cells_of(campaign_of(cells), "romio")
    assert not one.in_model


def on_first_target(rate, mib, nodes):
    return written(
        rate, layout="per-process", directory="first", ranks_per_node=4, nodes=nodes,
        transfer_bytes=mib << 20,
    )  # fmt: skip


def of_chosen(cells):
    places = {"first": DirectoryStriping(1, target=0)}
    return chosen_target(cells_of(campaign_of(cells, places), ""), "write")


def test_two_sizes_of_transfers_on_one_target_tell_it_and_its_requests_apart():
    def rate(mib):
        return 1 / (1 / (700 << 20) + 0.8e-3 / (mib << 20))

    grows = [on_first_target(rate(4) / 3, 4, 1)]
    flat = [on_first_target(rate(4), 4, n) for n in (4, 8, 16)]
    seen, asked = of_chosen([*grows, *flat, on_first_target(rate(1), 1, 4)])
    assert seen.direct
    assert seen.reached
    assert seen.value == pytest.approx(700 << 20)
    assert asked[0] == pytest.approx(0.8e-3)
    assert asked[1] <= asked[0] <= asked[2]


def test_one_size_of_transfers_leaves_requests_in_the_limit():
    seen, asked = of_chosen(
        [on_first_target(rate, 4, n) for n, rate in ((1, 3e8), (4, 6e8), (8, 6e8))]
    )
    assert (seen.value, asked[0]) == (pytest.approx(6e8), 0)


def test_a_target_that_still_gets_faster_is_not_told():
    seen, asked = of_chosen([on_first_target(1e8 * n, 4, n) for n in (1, 2, 4)])
    assert not seen.reached
    assert asked == (0, 0, 0)
    assert of_chosen([written(1e9)]) is None
