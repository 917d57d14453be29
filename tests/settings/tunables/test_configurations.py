# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Points become configurations; impossible ones are found."""

from __future__ import annotations

import pytest

from stripewise.core import Configuration, DatasetRule, FileRule, JobSettings, ProgramFacts
from stripewise.core.errors import ConfigurationError
from stripewise.settings.tunables import (
    SafetyClass,
    build_configuration,
    check_configuration,
    configuration_warnings,
    settings_class,
)


def rule(**mpiio: object) -> Configuration:
    return Configuration((FileRule("*", mpiio=mpiio),))  # type: ignore[arg-type]


def test_cb_nodes_brings_its_config_list():
    built = build_configuration({"mpiio.cb_nodes": 4})
    assert dict(built.files[0].mpiio) == {"cb_nodes": 4, "cb_config_list": "*:*"}
    assert built.files[0].override
    assert built.files[0].match == "*"


def test_aggregators_are_spread_over_hosts():
    built = build_configuration({"mpiio.cb_nodes": 5}, ProgramFacts(n_ranks=8, n_hosts=2))
    assert built.files[0].mpiio["cb_config_list"] == "*:3"


def test_implied_settings_are_left_out_where_they_are_ignored():
    facts = ProgramFacts(
        n_ranks=4,
        mpi_family="openmpi",
        mpiio_implementation="ompio",
        mpiio_alternatives=("ompio", "romio321"),
    )
    point = {"mpiio.cb_nodes": 2}
    assert dict(build_configuration(point, facts).files[0].mpiio) == {"cb_nodes": 2}
    built = build_configuration({**point, "mca.io": "romio321"}, facts)
    assert built.files[0].mpiio["cb_config_list"] == "*:*"


def test_given_settings_win_over_implied_ones():
    built = build_configuration({"mpiio.cb_nodes": 4, "mpiio.cb_config_list": "*:2"})
    assert built.files[0].mpiio["cb_config_list"] == "*:2"


def test_job_only_and_nothing():
    assert build_configuration({}).is_empty
    built = build_configuration({"mca.io": "romio321"})
    assert built.files == ()
    assert dict(built.job.mca) == {"io": "romio321"}
    with pytest.raises(ConfigurationError):
        build_configuration({"mpiio.cb_nodes": "many"})


def test_class_is_the_most_dangerous():
    assert settings_class(Configuration()) is SafetyClass.SAFE
    assert settings_class(rule(cb_nodes=2)) is SafetyClass.SAFE
    assert settings_class(rule(cb_nodes=2, striping_unit=65536)) is SafetyClass.LAYOUT
    assert settings_class(rule(never_heard_of="1")) is SafetyClass.CONTRACT
    fill = Configuration((FileRule(datasets=(DatasetRule("/x", {"fill_time": "never"}),)),))
    assert settings_class(fill) is SafetyClass.CONTRACT
    variable = Configuration(job=JobSettings(environment={"X": "1"}))
    assert settings_class(variable) is SafetyClass.CONTRACT


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (rule(romio_no_indep_rw=True, romio_cb_write="disable"), "forces collective buffering"),
        (rule(cray_cb_write_lock_mode=1), "needs romio_no_indep_rw=true"),
        (rule(cb_nodes="4x"), "cb_nodes"),
        (rule(cb_nodes=True), "cb_nodes"),
        (rule(cb_buffer_size=0), "cb_buffer_size"),
        (rule(bogus=(1, 2)), "bogus"),
        (Configuration((FileRule("*", hdf5={"aligment": (1, 1)}),)), "alignment"),
        (Configuration((FileRule("*", hdf5={"chunk": (65536, 65537)}),)), "elements"),
        (Configuration((FileRule("*", hdf5={"chunk": ()}),)), "chunk"),
        (Configuration((FileRule("*", hdf5={"alignment": (0, 0)}),)), "at least 1"),
        (Configuration((FileRule("*", hdf5={"mdc": (4096, 2048)}),)), "larger"),
        (Configuration((FileRule("*", hdf5={"libver": "v110"}),)), "v110,latest"),
        (
            Configuration((FileRule(datasets=(DatasetRule("/x", {"alignment": (1, 1)}),)),)),
            "belongs to the file",
        ),
        (Configuration((FileRule("", mpiio={"cb_nodes": 1}),)), "has the match"),
        (Configuration(job=JobSettings(mca={"io": "romio99"})), "mca.io"),
        (Configuration(job=JobSettings(environment={"LD_PRELOAD": "x"})), "LD_PRELOAD"),
        (Configuration(job=JobSettings(environment={"A=B": "x"})), "not a valid name"),
    ],
)
def test_problems(configuration: Configuration, message: str):
    problems = check_configuration(configuration)
    assert len(problems) == 1
    assert message in problems[0]


def test_rules_add_up():
    first = FileRule("*", mpiio={"romio_no_indep_rw": True})
    second = FileRule("out*", mpiio={"romio_cb_write": "disable"})
    assert check_configuration(Configuration((first, second)))
    repaired = FileRule("*", mpiio={"romio_cb_write": "disable", "romio_no_indep_rw": False})
    assert check_configuration(Configuration((first, repaired))) == []


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (rule(cb_nodez=4), "did you mean cb_nodes"),
        (rule(cb_buffer_size=65536, romio_lustre_co_ratio=2), "ignores cb_buffer_size"),
        (
            Configuration(
                (FileRule(mpiio={"romio_ds_read": "disable"}),), JobSettings({"io": "ompio"})
            ),
            "no effect with mca.io=ompio",
        ),
        (Configuration(job=JobSettings({"io": "romio321", "fcoll": "vulcan"})), "no effect"),
        (Configuration((FileRule(hdf5={"transfer": "collective"}),)), "can break a program"),
        (Configuration((FileRule(hdf5={"page_buffer_size": 4096}),)), "fail to open"),
    ],
)
def test_warnings(configuration: Configuration, message: str):
    assert check_configuration(configuration) == []
    assert any(message in line for line in configuration_warnings(configuration))


def test_resources_become_the_jobs():
    built = build_configuration({"job.ranks": 4, "job.threads": 2})
    assert dict(built.job.resources) == {"ranks": 4, "threads": 2}
    assert settings_class(built) is SafetyClass.LAYOUT
    assert not built.is_empty
    twice = Configuration(job=JobSettings(environment={"OMP_NUM_THREADS": "2"}, threads=2))
    assert "OMP_NUM_THREADS" in check_configuration(twice)[0]
    assert check_configuration(Configuration(job=JobSettings(ranks=0)))


def test_settings_of_libraries_stand_in_their_tables():
    built = build_configuration({"pnetcdf.nc_var_align_size": 4096, "adios2.NumAggregators": 2})
    assert dict(built.files[0].pnetcdf) == {"nc_var_align_size": 4096}
    assert dict(built.files[0].adios2) == {"NumAggregators": 2}
    assert build_configuration({"adios2.GrowthFactor": 2}).files[0].adios2["GrowthFactor"] == 2.0
    with pytest.raises(ConfigurationError, match="number"):
        build_configuration({"adios2.GrowthFactor": 0.5})
