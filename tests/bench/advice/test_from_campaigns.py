# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice from the cases of campaigns, where the description is not known."""

from dataclasses import replace

import pytest

from stripewise.bench import Case
from stripewise.bench.advice import advise
from stripewise.bench.advice._report import origin_text
from stripewise.bench.advice.rules import Basis, Program
from stripewise.bench.campaign import CaseFigures, find_suite
from stripewise.bench.limits import find_limits
from stripewise.core import ProgramFacts
from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import workload_from_kernel
from stripewise.storage.stacks import Stretch, TracedCalls, Turns
from support.rule_suite import find_rule
from support.simulated_campaigns import simulated_campaign
from support.storages import GIB, described

LOCKS = "mpiio.cray_cb_write_lock_mode"
TIMES = "mpiio.cray_cb_nodes_multiplier"


def measured(rate, mode, times, nodes=64):
    case = Case(
        "MPI-IO", backend="mpiio", mode="collective", nodes=nodes, ranks_per_node=32,
        settings=((TIMES, times), (LOCKS, mode)),
    )  # fmt: skip
    return CaseFigures(case, "write", (rate * GIB,), 0.9 * rate * GIB, 1.1 * rate * GIB)


def test_lock_modes_that_were_measured_are_advised_on():
    figures = (measured(8, 0, 1), measured(9, 0, 8), measured(6, 2, 1), measured(59, 2, 16))
    storage = described({"client.process_write": GIB}, stack="cray")
    rule = find_rule("lock-mode")
    assert rule.missing(Basis(storage))
    said = list(rule.advise(Basis(storage, figures=figures)))
    assert "lock mode 2 and 16 aggregators" in said[0].sentence
    assert "59 GiB/s" in said[0].sentence
    assert said[0].evidence == (figures[3].case.key, figures[1].case.key)
    assert said[1].sentence.startswith("Do not use lock mode 1 with HDF5 or NetCDF")
    none = (measured(8, 0, 1), measured(8.2, 2, 1))
    assert not list(rule.advise(Basis(storage, figures=none)))


def test_aggregators_that_were_measured_are_advised_on():
    storage = described({"client.process_write": GIB, "servers.target_write": GIB}, stack="cray")
    rule = find_rule("aggregators")
    assert rule.missing(Basis(storage))
    cells = [(4, 1, 2.2), (4, 8, 2.3), (16, 1, 5.6), (16, 8, 7.9), (64, 1, 5.6), (64, 16, 11.6)]
    figures = tuple(measured(rate, 0, times, nodes) for nodes, times, rate in cells)
    (said,) = rule.advise(Basis(storage, figures=figures))
    assert "8 for 16 nodes and 16 for 64 nodes" in said.sentence
    assert said.evidence == (figures[5].case.key, figures[4].case.key)


def test_one_directory_for_all_is_warned_of_where_it_is_slower():
    def made(sharing, rate):
        case = Case("mdtest", runner="metadata", operation="metadata", sharing=sharing,
                    nodes=4, ranks_per_node=8, files=100)  # fmt: skip
        return CaseFigures(case, "create", (rate,), rate, rate)

    storage = described({"metadata.create": 1e-4})
    rule = find_rule("metadata")
    slow = rule.advise(Basis(storage, figures=(made("own", 9e3), made("shared", 3e3))))
    assert any("one directory" in one.sentence for one in slow)
    same = rule.advise(Basis(storage, figures=(made("own", 9e3), made("shared", 9e3))))
    assert not any("one directory" in one.sentence for one in same)


def test_advice_from_a_campaign_is_right_on_the_storage_itself():
    truth = Basis(find_storage("archer2-hdd"))
    limits = find_limits(
        [simulated_campaign("archer2-hdd", find_suite("limits"))], leave_out=False
    )
    book = advise(Basis(limits.storage, limits))
    rules = {one.rule for one in book.advice}
    assert {"striping", "shared-or-own", "serial", "metadata"} <= rules
    tried = 0
    for one in book.advice:
        if one.claim and one.rule in ("striping", "serial"):
            advised = truth.rate(one.claim.advised)
            assert all(advised > truth.rate(worse) for worse in one.claim.loses)
            tried += 1
    assert tried >= 3


def test_predictions_carry_the_range_of_the_limits():
    basis = Basis(find_storage("archer2-hdd"))
    found = basis.range(basis.into_own(basis.largest, 1))
    assert found.low < found.value < found.high
    assert found.resource == "target"


# ---- programs --------------------------------------------------------------------------------


def program(**facts):
    work = workload_from_kernel("array3d --local 64,64,64", 4, 8)
    return Program("app", ProgramFacts(n_ranks=32, **facts), work)


def topics(one):
    return set(advise(Basis(find_storage("archer2-hdd"), program=one)).topics)


def test_a_program_of_own_files_hears_nothing_of_collective_calls():
    own = program(posix_bytes=32 << 20, write_bytes=32 << 20)
    assert not topics(own) & {"Collective calls", "Collective buffering", "Locks of shared files"}
    assert "Striping" in topics(own)


def test_a_program_of_hdf5_hears_why_relaxed_locks_are_wrong():
    hdf5 = program(collective_bytes=1 << 30, shared_files=1, uses_hdf5=True)
    book = advise(Basis(find_storage("archer2-hdd"), program=hdf5))
    assert all(job.nodes == 4 for job in book.basis.jobs)
    assert "serial" in book.aside
    assert not any("all collective MPI-IO" in one.sentence for one in book.advice)


@pytest.mark.parametrize("size", [1 << 16, 1 << 28])
def test_the_files_of_a_program_are_as_large_as_it_writes_them(size):
    own = program(posix_bytes=32 * size, write_bytes=32 * size)
    basis = Basis(find_storage("archer2-hdd"), program=own)
    assert basis.own(basis.largest).bytes == 32 * size


def test_what_no_campaign_wrote_is_said_to_be_unproven():
    """The whole is half of what its targets take together: a small campaign cannot see that."""
    figures = {
        "client.process_write": GIB, "client.node_write": 4 * GIB, "servers.target_write": GIB,
        "servers.targets": 16.0, "servers.whole_write": 8 * GIB, "machine.nodes": 64.0,
        "machine.ranks_per_node": 8.0,
    }  # fmt: skip
    truth = described(figures)
    suite = find_suite("limits")
    alone = [
        replace(one, operation="write")
        for one in suite.cases
        if one.layout == "per-process" and one.operation == "write-read"
    ]

    def advised(most):
        few = tuple(one for one in alone if one.nodes <= most)
        limits = find_limits(
            [simulated_campaign(truth, replace(suite, cases=few))], leave_out=False
        )
        machine = {one: truth.figures[one] for one in ("machine.nodes", "machine.ranks_per_node")}
        fitted = replace(limits.storage, figures={**limits.storage.figures, **machine})
        return advise(Basis(fitted, limits))

    small, large = advised(1), advised(16)
    assert small.basis.unproven_above == pytest.approx(4 * GIB, rel=0.1)
    assert "No case loaded the whole storage" in origin_text(small)
    assert not any("saturate" in one.sentence for one in small.advice)
    job = small.basis.largest
    rate = small.basis.range(small.basis.into_own(job, 1))
    assert rate.low <= 4.4 * GIB
    assert "No case loaded" not in origin_text(large)
    assert any("saturate the storage" in one.sentence for one in large.advice)


def test_a_program_with_its_own_metadata_calls_is_advised_on():
    turns = (Turns(2, (1.0,), {"open": 2.0}),)
    own = (Stretch("first", (TracedCalls(True, 2, 1, 8, 1 << 20),), turns),)
    work = replace(workload_from_kernel("array3d --local 8,8,8", 1, 2), own=own)
    facts = ProgramFacts(n_ranks=2, shared_files=1, collective_bytes=1 << 20)
    storage = described(
        {"client.process_write": GIB, "servers.target_write": GIB, "servers.targets": 4.0},
        stack="romio-lustre",
    )
    program = Program("app.trace", facts, work)
    assert advise(Basis(storage, program=program)).advice is not None
