# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every rule keeps the contract, and what it says is true in the model over wider alternatives."""

from itertools import product

import pytest

from stripewise.bench.advice import advise, rule_names
from stripewise.bench.advice.rules import Basis
from stripewise.storage.machines import find_storage
from support.rule_suite import RuleSuite, bare_storage, described, find_rule


class TestRules(RuleSuite):
    """Every rule of the registry."""


SPEAKING = {
    "striping": ("archer2-hdd", "archer", "shaheen2-lustre", "jamstec-da", "edison"),
    "shared-or-own": ("archer2-hdd", "archer", "shaheen2-lustre", "jamstec-da"),
    "serial": ("archer2-hdd", "jamstec-da"),
    "collective": ("archer2-hdd", "jamstec-da", "shaheen2-datawarp"),
    "aggregators": ("archer2-hdd", "archer", "shaheen2-lustre"),
    "lock-mode": ("archer2-hdd", "lustre-flash"),
    "transport": ("archer2-hdd",),
    "adios2": ("archer2-hdd", "jamstec-da"),
    "transfer-size": ("archer2-hdd", "earth-simulator"),
    "metadata": ("archer2-hdd", "jamstec-da"),
    "burst-buffer": ("shaheen2-datawarp", "cori-datawarp"),
}
"""Storages of which a rule is known to have something to say."""


@pytest.mark.parametrize(
    ("name", "storage"), [(name, one) for name, some in SPEAKING.items() for one in some]
)
def test_it_has_advice_on_well_known_storages(name, storage):
    assert list(find_rule(name).advise(described(storage)))


def sentences(name, storage="archer2-hdd"):
    return [one.sentence for one in find_rule(name).advise(Basis(find_storage(storage)))]


def test_the_statements_of_archer2_come_out():
    assert any("one writer for each stripe" in one for one in sentences("aggregators"))
    assert any("saturate the storage from 8 nodes" in one for one in sentences("shared-or-own"))
    locks = sentences("lock-mode")
    assert any("lock mode 2" in one and "HDF5" in one for one in locks)
    assert any(one.startswith("Do not use lock mode 1 with HDF5 or NetCDF") for one in locks)
    transport = sentences("transport")
    assert any("FI_OFI_RXM_SAR_LIMIT=64K" in one for one in transport)
    assert any("32 nodes or more" in one and "hang" in one for one in transport)
    assert any("never exceeds" in one for one in sentences("serial"))


def test_a_shared_file_saturates_archer_with_more_nodes_than_targets():
    said = sentences("shared-or-own", "archer")
    assert any("as fast as a file for each process" in one for one in said)
    assert find_rule("lock-mode").missing(Basis(find_storage("archer"))) == ""
    assert not sentences("lock-mode", "archer")


@pytest.mark.parametrize("storage", ["archer2-hdd", "archer", "shaheen2-lustre", "jamstec-da"])
def test_the_advised_stripes_are_the_best_of_all(storage):
    basis = Basis(find_storage(storage))
    job = basis.largest
    count = basis.best_stripes(job)
    advised = basis.rate(basis.into_one(job, {"mpiio.striping_factor": count}))
    for other in range(1, basis.targets + 1, max(1, basis.targets // 24)):
        assert advised >= 0.9 * basis.rate(basis.into_one(job, {"mpiio.striping_factor": other}))


def test_the_advised_locks_and_aggregators_are_the_best_of_a_wider_grid():
    basis = Basis(find_storage("archer2-hdd"))
    job = basis.largest
    for one in find_rule("lock-mode").advise(basis):
        if one.claim is None:
            continue
        settings = dict(one.claim.advised.settings)
        mode = settings["mpiio.cray_cb_write_lock_mode"]
        stripes = settings["mpiio.striping_factor"]
        advised = basis.rate(one.claim.advised)
        modes = (0, 1, 2) if mode == 1 else (0, 2)
        for times, other in product((1, 2, 3, 4, 6, 8, 12, 16, 24, 32), modes):
            trial = basis.into_one(job, {
                "mpiio.striping_factor": stripes, "mpiio.cray_cb_nodes_multiplier": times,
                "mpiio.cray_cb_write_lock_mode": other,
            })  # fmt: skip
            assert advised >= 0.9 * basis.rate(trial)


def test_site_defaults_lose_for_no_size_of_job():
    for storage in ("archer2-hdd", "archer", "shaheen2-lustre", "edison", "hopper"):
        basis = Basis(find_storage(storage))
        for name, (value, _) in advise(basis).defaults.items():
            if name != "MPICH_MPIIO_HINTS":
                continue
            times = int(value.rpartition("=")[2])
            for job in basis.jobs:
                usual = {"mpiio.striping_factor": basis.best_stripes(job)}
                changed = {**usual, "mpiio.cray_cb_nodes_multiplier": times}
                before, after = (basis.into_one(job, one) for one in (usual, changed))
                assert basis.rate(after) >= 0.9 * basis.rate(before)


def test_the_book_says_what_is_missing():
    book = advise(Basis(bare_storage()))
    assert not book.advice
    assert set(book.missing) | set(book.silent) == set(rule_names())
    full = advise(Basis(find_storage("archer2-hdd")))
    assert set(full.topics) >= {"Striping", "Locks of shared files", "Many files"}
    assert full.defaults["FI_OFI_RXM_SAR_LIMIT"][0] == "64K"
    assert set(full.missing) == {"burst-buffer"}
