# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns on described storage tell the limits that the description holds."""

from dataclasses import replace
from math import isnan

import pytest

from stripewise.bench import CaseRun
from stripewise.bench.campaign import find_suite
from stripewise.bench.campaign._suite import Suite
from stripewise.bench.limits import find_limits, results_of
from stripewise.core.errors import UsageError
from stripewise.storage.fit import blank_storage, fit_results
from stripewise.storage.machines import description_text, find_storage, load_description
from support.simulated_campaigns import simulated_campaign
from support.storages import GIB, MIB, described

MUST = (
    "client.process_write", "client.file_write", "client.node_write", "servers.target_write",
    "metadata.create", "metadata.stat",
)  # fmt: skip
PRESETS = ("archer2-hdd", "archer", "shaheen2-lustre", "jamstec-da")


def writes_only(suite: Suite) -> Suite:
    cases = tuple(
        replace(one, operation="write") if one.operation == "write-read" else one
        for one in suite.cases
        if one.backend == "posix"
    )
    return replace(suite, cases=cases)


def limits_on(storage, seed=0, suite=None, **given):
    chosen = suite or writes_only(find_suite("limits"))
    campaign = simulated_campaign(storage, chosen, seed, **given)
    return find_limits([campaign], seed=seed, leave_out=False)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_campaign_recovers_the_limits_within_a_tenth_without_being_told(preset, seed):
    truth, found = find_storage(preset), limits_on(preset, seed)
    told = {one.figure: one for one in found.limits}
    for name in MUST:
        known = 1 / truth.value(name) if name.startswith("metadata") else truth.value(name)
        assert told[name].value == pytest.approx(known, rel=0.1), name
        assert told[name].low <= told[name].value <= told[name].high
        assert told[name].evidence, name


@pytest.mark.extended
def test_intervals_mostly_hold_the_truth():
    truth = find_storage("jamstec-da")
    held = []
    for seed in range(4):
        for one in limits_on(truth, seed).limits:
            if one.figure in MUST[:4]:
                held.append(one.low <= truth.value(one.figure) <= one.high)
    assert len(held) == 16
    assert sum(held) >= 14


def test_the_way_to_the_metadata_server_is_told_apart_from_the_server():
    found = {one.figure: one for one in limits_on("archer2-hdd").limits}
    way = found["metadata.latency"]
    assert way.value == pytest.approx(3e-4, rel=0.1)
    assert "ms" in way.sentence
    assert found["metadata.create"].value == pytest.approx(1 / 22e-6, rel=0.1)


def test_a_server_that_is_not_loaded_is_not_told():
    suite = find_suite("limits")
    few = tuple(one for one in suite.cases if one.operation == "metadata" and one.ranks < 3)
    found = limits_on("jamstec-da", suite=replace(suite, cases=(*_data(suite), *few)))
    assert "metadata.create" not in {one.figure for one in found.limits}
    assert "not loaded" in found.undetermined["metadata.create"]


def _data(suite):
    return [one for one in writes_only(suite).cases if one.operation == "write"]


def test_reads_have_limits_of_their_own():
    suite = find_suite("limits")
    posix = tuple(one for one in suite.cases if one.backend == "posix")
    found = limits_on("jamstec-da", suite=replace(suite, cases=posix))
    told = {one.figure: one.value for one in found.limits}
    assert told["client.node_read"] == pytest.approx(9.25e9, rel=0.1)
    assert told["client.node_write"] == pytest.approx(12.2e9, rel=0.1)
    assert "no case read data" in limits_on("jamstec-da").undetermined["client.node_read"]


def test_what_no_case_reaches_is_not_told():
    suite = writes_only(find_suite("limits"))
    alone = tuple(one for one in suite.cases if one.nodes == 1 and one.operation == "write")
    found = limits_on("archer2-hdd", suite=replace(suite, cases=alone))
    told = {one.figure for one in found.limits}
    assert {"client.process_write", "client.file_write", "client.node_write"} <= told
    assert not told & {"servers.whole_write", "metadata.create"}
    assert "servers.whole_write" in found.undetermined


def test_the_whole_is_told_only_where_more_nodes_get_no_more():
    """A shortfall of the largest jobs may be the host's, or that of anything else."""
    suite = writes_only(find_suite("limits"))
    few = tuple(one for one in suite.cases if one.nodes <= 8 and one.layout == "per-process")
    campaign = simulated_campaign("jamstec-da", replace(suite, cases=few), noise=0.0)
    slower = tuple(
        replace(run, samples=tuple(replace(one, seconds=one.seconds * 1.3) for one in run.samples))
        if "nodes=8" in run.key else run
        for run in campaign.runs
    )  # fmt: skip
    found = find_limits([replace(campaign, runs=slower)], leave_out=False)
    assert "servers.whole_write" not in {one.figure for one in found.limits}
    assert "servers.whole_write" not in found.storage.figures
    assert found.undetermined["servers.whole_write"]


def test_the_striping_that_was_found_counts_before_the_one_asked_for():
    suite = writes_only(find_suite("limits"))
    campaign = simulated_campaign("archer2-hdd", suite)
    here = {case.key for case in suite.cases if case.series == "one target"}
    runs = tuple(
        replace(run, layout={"stripe_count": 4, "stripe_size_bytes": MIB})
        if run.key in here
        else run
        for run in campaign.runs
    )
    measured = results_of(replace(campaign, runs=runs)).measured
    stripes = {one.settings["mpiio.striping_factor"] for one in measured if one.source in here}
    assert stripes == {4}


def test_cached_reads_and_unsynced_writes_tell_nothing():
    suite = find_suite("limits")
    cases = tuple(replace(one, cache="none", sync=False) for one in suite.cases)
    results = results_of(simulated_campaign("jamstec-da", replace(suite, cases=cases)))
    assert not results.measured
    assert any("sync" in note for note in results.notes)
    assert all(note.endswith("; left out") for note in results.notes)


def test_runs_that_failed_are_not_looked_at_and_none_is_refused():
    campaign = simulated_campaign("jamstec-da", writes_only(find_suite("limits")))
    failed = tuple(CaseRun(one.key, one.repeat, "failed") for one in campaign.runs)
    with pytest.raises(UsageError, match="no run"):
        find_limits([replace(campaign, runs=failed)])


@pytest.mark.extended
def test_targets_are_given_or_told_by_the_striping_or_asked_for():
    campaign = simulated_campaign("jamstec-da", writes_only(find_suite("limits")))
    unsaid = replace(campaign, about={})
    assert find_limits([unsaid]).storage.value("servers.targets") == 24
    assert find_limits([unsaid], targets=30).storage.value("servers.targets") == 30
    bare = tuple(replace(run, layout={}) for run in campaign.runs)
    with pytest.raises(UsageError, match="--targets"):
        find_limits([replace(unsaid, runs=bare)])


def test_cells_that_were_left_out_and_not_run_are_predicted():
    suite = find_suite("limits")
    campaign = simulated_campaign("jamstec-da", suite)
    largest = {one.key for one in suite.cases if one.nodes == 64}
    short = replace(campaign, runs=tuple(one for one in campaign.runs if one.key not in largest))
    found = find_limits([short])
    assert found.error < 0.15
    unseen = [one for one in found.predicted if isnan(one.measured)]
    assert {one.key for one in unseen} == largest
    quiet = simulated_campaign("jamstec-da", suite, noise=0.0)
    full = {run.key: run.samples[0].rate for run in quiet.runs}
    for one in unseen:
        if one.operation == "write":
            assert one.predicted == pytest.approx(full[one.key], rel=0.2)
    assert any(one.left_out for one in found.predicted)


def test_the_description_is_one_that_can_be_read_again():
    found = limits_on("archer")
    again = load_description(description_text(found.storage))
    assert again.value("client.node_write") == found.storage.value("client.node_write")
    assert again.value("noise.cv") > 0


def test_fit_results_takes_a_campaign():
    results = results_of(simulated_campaign("jamstec-da", writes_only(find_suite("limits"))))
    base = blank_storage(results, name="site", targets=24)
    fitted = fit_results(results, base, least_noise=0.02)
    assert fitted.storage.value("client.node_write") == pytest.approx(12.2e9, rel=0.1)
    assert fitted.storage.value("metadata.create") == pytest.approx(15.6e-6, rel=0.1)


# ---- laws ------------------------------------------------------------------------------------


def law(found, name):
    return next(one for one in found.laws if one.name == name)


def test_the_laws_of_archer2_come_out():
    found = limits_on("archer2-hdd", suite=find_suite("limits"))
    stripes = law(found, "stripes")
    assert stripes.holds
    assert "min(stripes, nodes)" in stripes.sentence
    assert law(found, "writer-per-stripe").holds
    assert "from 8 nodes" in law(found, "per-process-saturates").sentence
    assert "more than 2 ranks" in law(found, "shared-ranks").sentence


def test_relaxed_locks_multiply_on_archer2():
    suite = """
    version = 1
    name = "aggregators"
    title = "Aggregators"
    [directories]
    all = { stripe_count = -1 }
    [all]
    backend = "mpiio"
    mode = "collective"
    pattern = "array3d"
    local = "128,128,128"
    directory = "all"
    nodes = 64
    ranks_per_node = 32
    [[case]]
    series = "MPI-IO"
    [case.settings]
    "mpiio.cray_cb_nodes_multiplier" = [1, 4, 16]
    "mpiio.cray_cb_write_lock_mode" = [0, 2]
    """
    found = law(limits_on("archer2-hdd", suite=suite), "lock-modes")
    assert found.holds
    assert "lock mode 2" in found.sentence


def test_an_exchange_on_emulated_storage_is_said_to_be_the_hosts_own():
    base = find_storage("archer2-hdd")
    figures = {k: v for k, v in base.figures.items() if not k.startswith("exchange")}
    known = replace(base, figures=figures)
    simulated = simulated_campaign(base, find_suite("limits"), 0)
    for launcher in ("simulated", "local"):
        about = {**simulated.about, "launcher": launcher}
        campaign = replace(simulated, machine="archer2-hdd", about=about)
        found = find_limits([campaign], known, leave_out=False)
        said = [one.sentence for one in found.limits if one.figure.startswith("exchange")]
        assert said
        assert all(("this host's MPI" in one) is (launcher == "local") for one in said)


@pytest.mark.extended
def test_limits_and_figures_that_contradict_are_said():
    truth = described(
        {
            "client.process_write": GIB,
            "client.node_write": 6 * GIB,
            "servers.target_write": 2 * GIB,
            "machine.ranks_per_node": 24.0,
        },
        stack="romio",
    )
    suite = writes_only(find_suite("limits"))
    suite = replace(suite, cases=tuple(_data(suite)))
    campaign = simulated_campaign(truth, suite, noise=0.01)
    found = find_limits([campaign])
    assert all("measure them again" not in one.sentence for one in found.limits)
    odd = {
        one.key
        for one in campaign.suite.cases
        if one.series == "file per process" and one.nodes == 1
    }
    runs = tuple(
        replace(run, samples=tuple(replace(s, seconds=3 * s.seconds) for s in run.samples))
        if run.key in odd
        else run
        for run in campaign.runs
    )
    again = find_limits([replace(campaign, runs=runs)])
    node = next(one for one in again.limits if one.figure == "client.node_write")
    assert "measure them again" in node.sentence
