# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The suites that come along: whole, computable, as they say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.bench import Case
from stripewise.bench._case import case_of
from stripewise.bench.campaign import Suite, bytes_of, find_suite, parse_suite, suite_names
from stripewise.bench.runners import find_runner, runner_names
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import tunable_of
from stripewise.storage.stacks import find_stack

SUITES = (
    "aggregators", "array3d", "io500-like", "ior-scaling", "libraries", "limits", "mdtest",
    "mixed", "nightly", "single-target", "transfer-size",
)  # fmt: skip


def test_the_suites_are_those() -> None:
    assert suite_names() == SUITES


@pytest.fixture(params=SUITES)
def suite(request: pytest.FixtureRequest) -> Suite:
    return find_suite(request.param)


def test_says_what_it_is_for(suite: Suite) -> None:
    assert suite.title[0].isupper()
    assert not suite.title.endswith(".")
    assert len(suite.about.split()) > 25


def test_its_name_is_that_of_its_file(suite: Suite, request: pytest.FixtureRequest) -> None:
    assert suite.name == request.node.callspec.params["suite"]


def test_every_case_can_be_made_and_planned(suite: Suite) -> None:
    """Its runner takes it; its bytes and its stack are known before it runs."""
    for case in (*suite.cases, *suite.quick):
        if case.runner not in runner_names():
            assert case.runner == "metadata"
            continue
        runner = find_runner(case.runner)
        assert runner.why_not(case) == "", case
        work = runner.workload(case)
        assert (work is None) == (case.operation == "metadata")
        if work is not None:
            assert bytes_of(case) == work.bytes > 0
            assert find_stack(runner.stack(case, "cray"))


def test_keys_tell_cases_apart(suite: Suite) -> None:
    assert len({one.key for one in suite.cases}) == len(suite.cases)
    assert {one.key for one in suite.cases} == {one.key for one in set(suite.cases)}


def test_reads_back_from_its_text_and_its_data(suite: Suite) -> None:
    assert parse_suite(suite.text, "again.toml") == suite
    for case in suite.cases:
        assert case_of(case.as_json()) == case


def test_a_short_run_is_short(suite: Suite) -> None:
    """Two nodes, minutes, and at most 3 GiB on the storage."""
    short = suite.shortened()
    assert short.most_nodes <= 4
    assert max(one.ranks_per_node for one in short.cases) <= 2
    assert short.n_runs <= 150
    assert short.bytes <= 3 << 30
    assert set(short.series) <= set(suite.series)


def test_fits_other_machines(suite: Suite) -> None:
    """What `--nodes 1,2 --ranks-per-node 8 --repeat 2` makes of it is still without faults."""
    made = suite.narrowed(nodes=[1, 2], ranks_per_node=8, repeats=2)
    assert made.series == suite.series
    assert {one.repeats for one in made.cases} == {2}
    assert max(one.nodes for one in made.cases) == 2
    assert made.narrowed(directories=[made.cases[0].directory]).cases


def test_settings_are_tunables(suite: Suite) -> None:
    for case in suite.cases:
        for name, value in case.settings:
            tunable = tunable_of(name)
            assert tunable.name == name
            assert tunable.check(value) == value


def test_array3d_has_the_cells_of_benchio() -> None:
    suite = find_suite("array3d")
    assert set(suite.directories) == {"unstriped", "striped", "fullstriped"}
    assert suite.directories["striped"].stripe_count == 4
    assert len(suite.cases) == len(suite.series) * 3 * 4
    assert {one.repeats for one in suite.cases} == {10}
    assert {one.backend for one in suite.cases} == {
        "posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2",
    }  # fmt: skip


def test_aggregators_never_relax_locks_under_hdf5() -> None:
    """Source: Henty, Performance of Parallel IO on ARCHER2: HDF5 writes metadata alone."""
    modes: dict[str, set[object]] = {}
    for case in find_suite("aggregators").cases:
        modes.setdefault(case.backend, set()).add(
            dict(case.settings).get("mpiio.cray_cb_write_lock_mode")
        )
    assert modes["mpiio"] == {0, 1, 2, None}
    assert modes["hdf5"] == {0, 2}


def test_nightly_is_bounded() -> None:
    """Ten cases, each of them stopped by a clock, or small."""
    suite = find_suite("nightly")
    assert len(suite.cases) == 10
    for case in suite.cases:
        bounded = 0 < case.stonewall_seconds <= 20
        assert bounded or case.operation == "metadata" or bytes_of(case) <= 1 << 30


def test_io500_like_says_what_it_is_not() -> None:
    assert "no IO500 score" in find_suite("io500-like").about


def test_workloads_of_a_pair_run_at_the_same_time() -> None:
    suite = find_suite("mixed")
    pairs = [(one, suite.beside(one)) for one in suite.cases if one.beside]
    assert pairs
    for case, other in pairs:
        assert other is not None
        assert other.series == case.beside
        assert other.nodes == case.nodes
        assert suite.nodes_of(case) == 2 * case.nodes
    assert suite.most_nodes == 8


def test_a_pair_stays_together() -> None:
    suite = find_suite("mixed").narrowed(series=["checkpoint beside small requests"])
    assert suite.series == ("checkpoint", "small requests", "checkpoint beside small requests")[1:]
    assert all(suite.beside(one) for one in suite.cases if one.beside)


def test_limits_keep_what_they_are_about() -> None:
    """One process stays one, and files of each process are on all nodes that are given."""
    suite = find_suite("limits").narrowed(nodes=[1, 3, 6], ranks_per_node=128)
    of = {series: [one for one in suite.cases if one.series == series] for series in suite.series}
    assert {one.ranks for one in of["process"]} == {1}
    assert {one.ranks for one in of["file"]} == {2, 4, 8}
    assert [one.ranks for one in of["file per process"]] == [128, 384, 768]
    assert {one.ranks_per_node for one in of["metadata, one process of a node"]} == {1}
    assert len(of["stripes"]) == 12


def test_the_most_nodes_are_those_that_are_given() -> None:
    text = find_suite("nightly").text.replace("nodes = 1\nranks_per_node = 1", 'nodes = "max"')
    suite = parse_suite(text, "mine.toml").narrowed(nodes=[2, 9])
    assert [one.nodes for one in suite.cases if one.series == "one process"] == [9]
    assert [one.nodes for one in suite.cases if one.series == "one node, file per process"] == [1]


def test_narrowed_refuses_what_is_not_there() -> None:
    suite = find_suite("array3d")
    with pytest.raises(UsageError, match="no directory 'stripped'"):
        suite.narrowed(directories=["stripped"])
    with pytest.raises(UsageError, match="no series 'MPIIO'"):
        suite.narrowed(series=["MPIIO"])
    with pytest.raises(UsageError, match="give other --dirs"):
        suite.narrowed(series=["serial"], directories=["striped"]).narrowed(
            directories=["unstriped"]
        )


def test_a_suite_without_quick_says_how() -> None:
    suite = replace(find_suite("array3d"), quick=())
    with pytest.raises(UsageError, match=r"has no \[quick\]"):
        suite.shortened()


def test_bytes_of_metadata_are_those_of_its_files() -> None:
    case = Case("m", runner="mdtest", operation="metadata", files=10, file_bytes=100, nodes=3)
    assert bytes_of(case) == 3000
