# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings for some files only: names, configurations, and what cannot act together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core.errors import UsageError
from stripewise.settings.formats import effective, get
from stripewise.settings.tunables import (
    build_configuration,
    is_valid,
    scoped,
    scopes,
    settings_on,
    settings_text,
    split_scope,
    tunable_of,
)
from support.strategy_suite import romio_facts

FACTS = replace(romio_facts(), collective_bytes=1 << 26)
OPENMPI = replace(
    FACTS, mpi_family="openmpi", mpiio_implementation="ompio",
    mpiio_alternatives=("ompio", "romio321"),
)  # fmt: skip
POINT = {
    "mpiio.cb_buffer_size": 1 << 22,
    "mpiio.romio_ds_write@plt*.h5": "disable",
    "mpiio.cb_nodes@plt*.h5": 2,
    "mpiio.cb_buffer_size@chk@home.nc": 1 << 20,
}


def test_names():
    assert scoped("mpiio.cb_nodes", "a*") == "mpiio.cb_nodes@a*"
    assert scoped("mpiio.cb_nodes", "") == "mpiio.cb_nodes"
    assert split_scope("mpiio.cb_nodes@chk@home.nc") == ("mpiio.cb_nodes", "chk@home.nc")
    assert tunable_of("mpiio.cb_nodes@a*").name == "mpiio.cb_nodes"
    with pytest.raises(UsageError):
        tunable_of("mpiio.cb_nods@a*")
    assert scopes(POINT) == ("plt*.h5", "chk@home.nc")


def test_what_acts_on_the_files_of_a_glob():
    assert settings_on(POINT, "chk@home.nc") == {"mpiio.cb_buffer_size": 1 << 20}
    assert settings_on(POINT, "other") == {"mpiio.cb_buffer_size": 1 << 22}


def test_settings_for_some_files_are_said_last():
    assert settings_text(POINT) == (
        "cb_buffer_size=4194304 for plt*.h5: romio_ds_write=disable cb_nodes=2 "
        "for chk@home.nc: cb_buffer_size=1048576"
    )


def test_a_configuration_has_a_rule_for_all_files_and_one_for_each_glob():
    built = build_configuration(POINT, FACTS)
    assert [rule.match for rule in built.files] == ["*", "plt*.h5", "chk@home.nc"]
    plt = effective(built, "run/plt0001.h5").layers["mpiio"]
    assert plt["cb_nodes"] == 2
    assert plt["cb_config_list"] == "*:*", "what a setting needs goes with it"
    assert plt["cb_buffer_size"] == 1 << 22
    other = effective(built, "log.txt").layers["mpiio"]
    assert dict(other) == {"cb_buffer_size": 1 << 22}
    assert effective(built, "chk@home.nc").layers["mpiio"]["cb_buffer_size"] == 1 << 20
    written = get("toml").write(built)
    assert not written.lost
    assert get("toml").read(written.text).configuration == built


def test_rules_alone_leave_all_other_files_as_they_are():
    built = build_configuration({"mpiio.romio_ds_write@plt*": "disable"}, FACTS)
    assert [rule.match for rule in built.files] == ["plt*"]


@pytest.mark.parametrize(
    ("point", "valid"),
    [
        ({"mca.io": "romio321"}, True),
        ({"mca.io@a*": "romio321"}, False),  # it acts on the whole job
        ({"mpiio.romio_cb_write@a*": "disable"}, True),
        ({"mpiio.romio_cb_write@a*": "disable", "mpiio.cb_nodes": 2}, False),
        ({"mpiio.romio_cb_write@a*": "disable", "mpiio.cb_nodes@b*": 2}, True),
        (POINT, True),
    ],
)
def test_problems_are_found_on_each_class(point, valid):
    assert is_valid(point, FACTS) is valid


def test_a_rule_needs_the_implementation_that_the_job_chooses():
    alone = {"mpiio.romio_ds_write@a*": "disable"}
    assert not is_valid(alone, OPENMPI)
    assert is_valid({"mca.io": "romio321", **alone}, OPENMPI)
