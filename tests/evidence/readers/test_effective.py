# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stripewise.core import Configuration, FileRule, JobSettings, ObservedFile, ProgramFacts
from stripewise.evidence.facts import cannot_act

MPICH = ProgramFacts(n_ranks=2, mpi_family="mpich", mpiio_implementation="romio")
OMPIO = ProgramFacts(n_ranks=2, mpi_family="openmpi", mpiio_implementation="ompio")


def hints(match: str = "*", **values: object) -> Configuration:
    return Configuration((FileRule(match, mpiio=values),))  # type: ignore[arg-type]


def file(**more: object) -> ObservedFile:
    return ObservedFile("out/a.dat", interface="mpiio", **more)  # type: ignore[arg-type]


def test_all_is_well() -> None:
    acted = file(applied={"cb_nodes": "2"}, reported={"cb_nodes": "2"})
    assert cannot_act(hints(cb_nodes=2), [acted], MPICH) == []
    assert cannot_act(Configuration(), [], MPICH) == []


def test_no_file_of_that_name() -> None:
    (line,) = cannot_act(hints("*.h5", cb_nodes=2), [file()], MPICH)
    assert "'*.h5'" in line


def test_an_absolute_rule_needs_the_root() -> None:
    rule = hints("/run/out/*.dat", cb_nodes=2)
    assert cannot_act(rule, [file()], MPICH, Path("/run")) == []
    assert cannot_act(rule, [file()], MPICH, Path("/other")) != []
    assert cannot_act(rule, [file()], MPICH) == []


def test_the_mpi_made_it_something_else() -> None:
    changed = file(applied={"cb_nodes": "9"}, reported={"cb_nodes": "1"})
    (line,) = cannot_act(hints(cb_nodes=9), [changed], MPICH)
    assert line == "cb_nodes=9 on out/a.dat: the MPI made it 1"


def test_what_open_mpi_echoes_is_no_evidence() -> None:
    echoed = file(applied={"cb_nodes": "9"}, reported={"cb_nodes": "1"})
    assert not any("made it" in line for line in cannot_act(hints(cb_nodes=9), [echoed], OMPIO))


def test_romio_in_open_mpi_5_tells_what_it_does() -> None:
    """Its own keys show that it was asked; hints given at the open are dropped there."""
    reported = {"cb_nodes": "1", "romio_filesystem_type": "UFS"}
    dropped = file(applied={"cb_nodes": "9"}, reported=reported)
    (line,) = cannot_act(
        hints(cb_nodes=9), [dropped], replace(OMPIO, mpiio_implementation="romio")
    )
    assert line == "cb_nodes=9 on out/a.dat: the MPI made it 1"


def test_a_hint_of_the_other_implementation() -> None:
    (line,) = cannot_act(hints(romio_cb_write="enable"), [file()], OMPIO)
    assert "ompio has no such hint" in line


def test_the_program_sets_it_itself() -> None:
    own = file(requested={"cb_nodes": "4"}, reported={"cb_nodes": "4"})
    (line,) = cannot_act(hints(cb_nodes=2), [own], MPICH)
    assert "the program sets it itself (4)" in line


def test_not_through_that_layer() -> None:
    plain = ObservedFile("a", interface="posix")
    (line,) = cannot_act(hints(cb_nodes=2), [plain], ProgramFacts())
    assert "is used through MPI-IO" in line
    rule = Configuration((FileRule("*", hdf5={"sieve_buf_size": 1}),))
    (line,) = cannot_act(rule, [plain], ProgramFacts())
    assert "is used through HDF5" in line


def test_settings_of_libraries_on_files_of_others() -> None:
    rule = Configuration((FileRule("*", pnetcdf={"a": 1}, adios2={"B": 2}),))
    lines = cannot_act(rule, [file()], MPICH)
    assert ["used through PnetCDF" in lines[0], "used through ADIOS2" in lines[1]] == [True, True]


def through(interface: str, **more: object) -> ObservedFile:
    return ObservedFile("out", interface=interface, **more)  # type: ignore[arg-type]


def test_pnetcdf_says_what_it_made_of_a_hint() -> None:
    rule = Configuration((FileRule("*", pnetcdf={"nc_var_align_size": 5}),))
    acted = through(
        "pnetcdf", applied={"nc_var_align_size": "5"}, reported={"nc_var_align_size": "8"}
    )
    (line,) = cannot_act(rule, [acted], MPICH)
    assert line == "nc_var_align_size=5 on out: PnetCDF made it 8"


def test_adios2_parameters_by_the_data_files() -> None:
    rule = Configuration((FileRule("*", adios2={"NumAggregators": 4}),))
    acted = through("adios2", applied={"NumAggregators": "4"}, reported={"NumSubFiles": "1"})
    assert cannot_act(rule, [acted], MPICH) == ["NumAggregators=4 on out: 1 data file written"]
    own = through("adios2", requested={"NumAggregators": "2"}, reported={"NumSubFiles": "2"})
    (line,) = cannot_act(rule, [own], MPICH)
    assert "the program sets it itself (2)" in line


def test_mca_without_open_mpi() -> None:
    configuration = Configuration((), JobSettings(mca={"io": "ompio"}))
    (line,) = cannot_act(configuration, [], MPICH)
    assert "does not run on Open MPI" in line


def test_hints_count_for_the_mpi_io_that_the_configuration_chooses() -> None:
    files = [file(applied={"ind_wr_buffer_size": "4194304"})]
    alone = hints(ind_wr_buffer_size=4194304)
    assert "no such hint" in cannot_act(alone, files, OMPIO)[0]
    chosen = Configuration(alone.files, JobSettings(mca={"io": "romio321"}))
    assert cannot_act(chosen, files, OMPIO) == []
