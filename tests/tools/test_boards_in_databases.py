# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every expression of every board gives figures, in a real Prometheus and a real VictoriaMetrics.

All have the same two hours of `monitoring_world`, where nothing is empty: also what is good
when it is empty has something to show there.
"""

from __future__ import annotations

import math
import subprocess

import pytest

from support import monitoring_world as world
from support.grafana_boards import FILES, choices, load, queries, substituted
from support.tsdb import Database, need, prometheus, victoria_metrics

QUERIES = [one for path in FILES for one in queries(path)]
CHOICES = sorted({one for path in FILES for one in choices(path)})
ALL: dict[str, tuple[str, ...]] = {}
ALL_OF = {"server": {"server": world.SERVERS}, "client": {"server": (world.LOGIN,)}}
"""Boards on which "All" is the values that are listed, or cannot be chosen."""
SOME = {
    "fs": ("scratch", "home", "nfshome", "gpfs1", "bee"),
    "server": (*world.SERVERS, world.LOGIN),
    "target": ("OST0003", "MDT0000", "OST0001"),
    "direction": ("read",),
}


@pytest.fixture(scope="module", params=["prometheus", "victoria-metrics"])
def database(request, tmp_path_factory):
    need(request.param)
    if request.param == "prometheus":
        need("promtool")
        directory = tmp_path_factory.mktemp("world")
        text = directory / "world.om"
        text.write_text(world.openmetrics())
        blocks = directory / "blocks"
        made = ["promtool", "tsdb", "create-blocks-from", "openmetrics", text, blocks]
        done = subprocess.run(made, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with prometheus(data=blocks) as server:
            yield server
    else:
        with victoria_metrics() as server:
            server.ask("/api/v1/import/prometheus", world.exposition().encode())
            server.flush()
            yield server


def asked(database: Database, expression: str) -> dict[tuple[str, ...], float]:
    """Return the values at the end of the world, by the values of the labels."""
    return {
        tuple(value for _, value in sorted(one["metric"].items())): float(one["value"][1])
        for one in database.query(expression, time=str(world.END))
    }


@pytest.mark.parametrize("chosen", [ALL, SOME], ids=["all", "some"])
def test_expressions_give_figures(database, chosen):
    assert QUERIES
    for query in QUERIES:
        selected = {**ALL_OF.get(query.board, {}), **chosen}
        expression = substituted(query.expression, selected, query.window)
        # Zero where nothing is wrong is left out: here something is wrong everywhere.
        expression = expression.partition(" or count(")[0]
        found = database.query_range(expression, world.END - 600, world.END, 60)
        values = [float(value) for one in found for _, value in one["values"]]
        assert values, f"{query}: {expression}"
        assert all(map(math.isfinite, values)), f"{query}: {expression}"


@pytest.mark.parametrize(("label", "selector"), CHOICES)
def test_variable_has_values(database, label, selector):
    match = substituted(selector, ALL)
    answer = database.json(
        f"/api/v1/label/{label}/values",
        **{"match[]": match, "start": str(world.END - 3600), "end": str(world.END)},
    )
    assert answer["data"], match


def expression(board: str, panel: str, ref: str = "A") -> str:
    found = [one for one in QUERIES if one[:3] == (board, panel, ref)]
    assert len(found) == 1, (board, panel, ref)
    return substituted(found[0].expression, ALL_OF.get(board, ALL), found[0].window)


def test_boards_say_so_where_all_is_not_all():
    found = {}
    for path in FILES:
        for one in load(path)["templating"]["list"]:
            if one["type"] == "query" and one.get("allValue") != ".*":
                found.setdefault(path.stem, set()).add(one["name"])
    assert found == {board: set(variables) for board, variables in ALL_OF.items()}


def test_throughput_is_what_the_world_read(database):
    found = asked(database, expression("overview", "Throughput"))
    ost = world.READS["scratch"] * len(world.SCRATCH)
    assert found["scratch",] == pytest.approx((ost + 1.0) * world.SIZE, rel=0.12)


def test_slow_target_is_told_by_its_factor_and_counted_once(database):
    found = asked(database, expression("target", "Time compared with others"))
    factor = world.SLOW_SECONDS / world.MEAN_SECONDS
    assert found.pop(("scratch", "OST", "OST0003")) == pytest.approx(factor, rel=1e-3)
    # "home" has two storage targets: too few to compare.
    assert {key[0] for key in found} == {"scratch"}
    assert list(found.values()) == pytest.approx([1.0] * 5, rel=1e-3)
    assert asked(database, expression("overview", "Slow targets")) == {(): 1.0}


def test_missing_target_is_named_with_the_server_that_had_it(database):
    found = asked(database, expression("overview", "Which targets are missing"))
    assert found == {(world.GONE[0], "oss2", world.GONE[1]): 1.0}
    assert asked(database, expression("overview", "Targets missing")) == {(): 1.0}


def test_nothing_missing_is_zero_and_nothing_known_is_no_figure(database):
    asks = next(one for one in QUERIES if one[:2] == ("overview", "Targets missing"))
    assert asked(database, substituted(asks.expression, {"fs": ("home",)})) == {(): 0.0}
    assert asked(database, substituted(asks.expression, {"fs": ("nowhere",)})) == {}


def test_days_until_full_are_those_of_the_world(database):
    found = asked(database, expression("capacity", "Targets", "D"))
    days = world.FILLING_LEFT_BYTES / world.FILLING_BYTES_PER_SECOND / 86400
    assert found == {world.FILLING: pytest.approx(days, rel=1e-2)}


def test_clients_have_what_the_targets_have(database):
    found = asked(database, expression("load", "Share of the busiest client"))
    assert found == {("scratch",): pytest.approx(0.6), ("home",): pytest.approx(0.6)}


def test_size_of_a_request_follows_from_bytes_and_operations(database):
    found = asked(database, expression("load", "Size of a read or write"))
    assert found == {("scratch",): pytest.approx(world.SIZE, rel=1e-3),
                     ("home",): pytest.approx(world.SIZE, rel=1e-3)}  # fmt: skip
