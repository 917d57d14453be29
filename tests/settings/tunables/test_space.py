# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a first run shows decides what is searched."""

from __future__ import annotations

import dataclasses

import pytest

from stripewise.core import ProgramFacts, Striping
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import (
    SafetyClass,
    build_configuration,
    find_space,
    is_valid,
    refused_variables,
    settings_class,
)

MPICH = ProgramFacts(
    n_ranks=4,
    mpi_family="mpich",
    mpi_version="MPICH Version: 4.0.2",
    mpiio_implementation="romio",
    independent_bytes=1 << 24,
    write_bytes=1 << 24,
    noncontiguous=True,
)
OPENMPI = dataclasses.replace(
    MPICH,
    mpi_family="openmpi",
    mpiio_implementation="ompio",
    mpiio_alternatives=("ompio", "romio321"),
)


def names(facts: ProgramFacts, **options: object) -> list[str]:
    return [d.tunable.name for d in find_space(facts, **options).dimensions]  # type: ignore[arg-type]


def test_no_io_library_no_knob():
    space = find_space(ProgramFacts(posix_bytes=1 << 20, write_bytes=1 << 20))
    assert space.dimensions == ()
    assert space.size == 1
    assert space.left_out["mpiio.cb_nodes"] == "the program does no MPI-IO"


def test_independent_strided_writes_get_data_sieving_but_no_collective_knob():
    assert names(MPICH) == ["mpiio.romio_ds_write", "mpiio.ind_wr_buffer_size"]
    left_out = find_space(MPICH).left_out
    assert "collective" in left_out["mpiio.romio_cb_write"]
    assert "reads nothing" in left_out["mpiio.romio_ds_read"]


def test_a_namelist_does_not_make_the_reads_of_mpi_io_worth_tuning():
    facts = dataclasses.replace(MPICH, posix_bytes=1 << 14, read_bytes=1 << 14)
    left_out = find_space(facts).left_out
    assert left_out["mpiio.romio_ds_read"] == "the program reads nothing through MPI-IO"
    reads = dataclasses.replace(facts, mpiio_read_bytes=1 << 20)
    assert "mpiio.romio_ds_read" in names(reads)


def test_collective_writes_get_aggregators():
    facts = dataclasses.replace(MPICH, independent_bytes=0, collective_bytes=1 << 24)
    found = names(facts)
    assert {"mpiio.romio_cb_write", "mpiio.cb_nodes", "mpiio.cb_buffer_size"} <= set(found)
    ladder = {d.tunable.name: d.values for d in find_space(facts).dimensions}
    assert ladder["mpiio.cb_nodes"] == (2, 4)  # one is what ROMIO does on one host


def test_striping_needs_a_driver():
    facts = dataclasses.replace(MPICH, filesystem="ext4")
    assert "no striping driver for ext4" in find_space(facts).left_out["mpiio.striping_factor"]
    facts = dataclasses.replace(facts, filesystem="lustre")
    assert "mpiio.striping_factor" in names(facts)


def test_open_mpi_gets_the_choice_of_implementation_first():
    found = names(OPENMPI)
    assert found[0] == "mca.io"
    assert "mpiio.romio_ds_write" in found


def test_romio_hints_need_romio_under_open_mpi():
    assert not is_valid({"mpiio.romio_ds_write": "disable"}, OPENMPI)
    together = {"mca.io": "romio321", "mpiio.romio_ds_write": "disable"}
    assert is_valid(together, OPENMPI)
    assert is_valid({"mpiio.romio_ds_write": "disable"}, MPICH)
    started_with = dataclasses.replace(OPENMPI, mpiio_implementation="romio")
    assert is_valid({"mpiio.romio_ds_write": "disable"}, started_with)
    assert not is_valid({"mca.io": "ompio", "mpiio.romio_ds_write": "disable"}, started_with)


def test_ompio_parameters_do_not_go_with_romio():
    assert not is_valid({"mca.io": "romio321", "mca.fcoll": "dynamic"}, OPENMPI)
    assert is_valid({"mca.fcoll": "dynamic"}, OPENMPI)


def test_a_forbidden_choice_takes_what_needs_it_along():
    space = find_space(OPENMPI, lambda knob: "forbidden" if knob.name == "mca.io" else "")
    assert "mpiio.romio_ds_write" not in [d.tunable.name for d in space.dimensions]
    assert "mca.io=romio321" in space.left_out["mpiio.romio_ds_write"]
    assert space.left_out["mca.io"] == "forbidden"


def test_contract_knobs_only_on_request_and_matched_calls():
    facts = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True, matched_calls=True)
    assert "hdf5.transfer" not in names(facts)
    everything = frozenset(SafetyClass)
    assert "hdf5.transfer" in names(facts, classes=everything)
    uneven = dataclasses.replace(facts, matched_calls=False)
    assert "hdf5.transfer" not in names(uneven, classes=everything)


def test_only_safe_leaves_layout_out():
    facts = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True)
    assert "hdf5.alignment" in names(facts)
    assert "hdf5.alignment" not in names(facts, classes=frozenset({SafetyClass.SAFE}))


def test_sieve_buffer_is_for_serial_hdf5():
    serial = ProgramFacts(uses_hdf5=True, write_bytes=1 << 24)
    assert "hdf5.sieve_buf_size" in names(serial)
    parallel = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True)
    assert "hdf5.sieve_buf_size" not in names(parallel)


def test_only_searches_what_was_asked_for():
    assert names(MPICH, only=["romio_ds_write"]) == ["mpiio.romio_ds_write"]
    with pytest.raises(UsageError, match="no tunable"):
        find_space(MPICH, only=["nonsense"])


def test_points_that_cancel_each_other():
    facts = dataclasses.replace(MPICH, collective_bytes=1 << 24)
    assert not is_valid(
        {"mpiio.romio_no_indep_rw": True, "mpiio.romio_cb_write": "disable"}, facts
    )
    assert not is_valid({"mpiio.romio_cb_write": "disable", "mpiio.cb_nodes": 2}, facts)
    assert not is_valid({"mca.fcoll": "individual", "mpiio.cb_nodes": 2}, OPENMPI)


def test_resources_only_with_the_users_ladder():
    assert "--ranks-per-node" in find_space(MPICH).left_out["job.ranks_per_node"]
    space = find_space(MPICH, ladders={"job.ranks": (2, 4, 8, 2)}, only=["romio_ds_write"])
    ladder = {d.tunable.name: d.values for d in space.dimensions}
    assert ladder["job.ranks"] == (2, 8)  # four is what the command says
    assert list(ladder) == ["job.ranks", "mpiio.romio_ds_write"]
    serial = find_space(ProgramFacts(write_bytes=1), ladders={"job.ranks": (2,)})
    assert serial.left_out["job.ranks"] == "the program uses no MPI"


def test_ranks_and_threads_within_the_cpus_of_the_job():
    facts = dataclasses.replace(MPICH, n_ranks=8, job_cpus=16)
    assert is_valid({"job.threads": 2}, facts)
    assert not is_valid({"job.threads": 4}, facts)
    assert is_valid({"job.ranks": 4, "job.threads": 4}, facts)
    assert not is_valid({"job.ranks": 4, "job.threads": 8}, facts)
    assert is_valid({"job.threads": 64}, dataclasses.replace(facts, job_cpus=0))


def test_what_nothing_proves_is_searched_only_by_name():
    facts = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True, matched_calls=True)
    everything = frozenset(SafetyClass)
    assert "hdf5.fill_time" not in names(facts, classes=everything)
    left_out = find_space(facts, classes=everything).left_out
    assert "--only hdf5.fill_time" in left_out["hdf5.fill_time"]
    assert names(facts, classes=everything, only=["fill_time"]) == ["hdf5.fill_time"]
    assert names(facts, only=["fill_time"]) == []


def test_collective_metadata_needs_matched_calls_on_objects():
    facts = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True, matched_calls=True)
    everything = frozenset(SafetyClass)
    assert "hdf5.all_coll_metadata_ops" not in names(facts, classes=everything)
    matched = dataclasses.replace(facts, matched_metadata=True)
    assert "hdf5.all_coll_metadata_ops" in names(matched, classes=everything)


def test_variables_are_aligned_only_where_calls_are_as_large():
    facts = dataclasses.replace(MPICH, uses_pnetcdf=True, write_bytes=1 << 28, write_calls=100)
    ladder = {d.tunable.name: d.values for d in find_space(facts).dimensions}
    assert ladder["pnetcdf.nc_var_align_size"] == (1 << 20, 1 << 16)
    assert ladder["pnetcdf.nc_header_align_size"] == (1 << 20,)
    small = dataclasses.replace(facts, write_calls=(1 << 28) // 40_000)  # one a variable
    assert not {name for name in names(small) if "align_size" in name}


def test_libraries_bring_their_knobs():
    facts = dataclasses.replace(MPICH, uses_pnetcdf=True)
    assert "pnetcdf.nc_var_align_size" in names(facts)
    assert "pnetcdf.nc_var_align_size" not in names(MPICH)
    facts = dataclasses.replace(MPICH, uses_adios2=True, n_ranks=8, n_hosts=2)
    ladder = {d.tunable.name: d.values for d in find_space(facts).dimensions}
    assert ladder["adios2.NumAggregators"] == (1, 4, 8)  # two is one a host


def test_netcdf4_keeps_what_the_library_sets_itself():
    serial = ProgramFacts(uses_hdf5=True, write_bytes=1 << 28)
    assert {"hdf5.libver", "hdf5.chunk_cache"} <= set(names(serial))
    left_out = find_space(dataclasses.replace(serial, uses_netcdf4=True)).left_out
    assert "netCDF-4 sets the chunk cache" in left_out["hdf5.chunk_cache"]
    assert "older versions" in left_out["hdf5.libver"]


def test_algorithms_are_those_of_the_version():
    facts = dataclasses.replace(OPENMPI, collective_bytes=1 << 24, mpi_version="Open MPI v5.0.3")
    ladder = {d.tunable.name: d.values for d in find_space(facts).dimensions}
    assert ladder["mca.fcoll"] == ("individual", "dynamic_gen2", "dynamic")
    facts = dataclasses.replace(facts, mpi_version="Open MPI v4.1.4")
    ladder = {d.tunable.name: d.values for d in find_space(facts).dimensions}
    assert ladder["mca.fcoll"][-1] == "two_phase"


def test_values_that_the_user_names_take_the_place_of_the_ladder():
    name = "mpiio.ind_wr_buffer_size"
    space = find_space(MPICH, ladders={name: (1 << 16, 1 << 20, 1 << 16)})
    assert {d.tunable.name: d.values for d in space.dimensions}[name] == (1 << 16, 1 << 20)
    hdf5 = dataclasses.replace(MPICH, uses_hdf5=True, uses_parallel_hdf5=True, matched_calls=True)
    asked = {"hdf5.chunk": ((4, 7), (8, 7)), "hdf5.transfer": ("collective",)}
    space = find_space(hdf5, ladders=asked)
    assert {d.tunable.name: d.values for d in space.dimensions}["hdf5.chunk"] == ((4, 7), (8, 7))
    assert space.left_out["hdf5.transfer"] == "class contract: only if requested"


EMULATED = dataclasses.replace(
    MPICH,
    collective_bytes=1 << 26,
    write_bytes=1 << 26,
    filesystem="lustre",
    striping=Striping(12, 1, 1 << 20, by_any_mpi=True),
)


def _ladders(facts: ProgramFacts) -> dict[str, tuple[object, ...]]:
    return {d.tunable.name: d.values for d in find_space(facts).dimensions}


def test_an_emulated_lustre_is_striped_under_every_mpi():
    ladders = _ladders(EMULATED)
    assert ladders["mpiio.striping_factor"] == (4, -1)
    assert 1 << 20 not in ladders["mpiio.striping_unit"]
    ompio = dataclasses.replace(
        EMULATED, mpi_family="openmpi", mpiio_implementation="ompio", mpiio_alternatives=("ompio",)
    )
    assert _ladders(ompio)["mpiio.striping_factor"] == (4, -1)
    assert is_valid({"mpiio.striping_factor": -1, "mca.io": "ompio"}, ompio)


def test_striping_ladders_leave_out_what_a_new_file_has_anyway():
    def with_default(**values: int) -> dict[str, tuple[object, ...]]:
        return _ladders(
            dataclasses.replace(EMULATED, striping=Striping(**values, by_any_mpi=True))
        )

    assert with_default(targets=100, stripe_count=4)["mpiio.striping_factor"] == (16, 64, -1)
    assert with_default(targets=12, stripe_count=12)["mpiio.striping_factor"] == (4,)
    assert "mpiio.striping_factor" not in with_default(targets=1)


def test_stripes_as_many_as_nodes_and_as_large_as_a_node_s_part_of_a_call():
    eight = dataclasses.replace(EMULATED, n_ranks=16, n_hosts=1, virtual_nodes=8, write_calls=512)
    ladders = _ladders(eight)
    assert ladders["mpiio.striping_factor"] == (4, 8, -1)
    assert ladders["mpiio.striping_unit"] == (4 << 20, 16 << 20, 256 << 10)  # 32 calls of 2 MiB
    uneven = _ladders(dataclasses.replace(eight, write_bytes=(1 << 26) + 5))
    assert uneven["mpiio.striping_unit"][-1] == (256 + 64) << 10
    large = _ladders(dataclasses.replace(eight, write_calls=16))
    assert large["mpiio.striping_unit"] == (4 << 20, 16 << 20, 8 << 20)
    independent = dataclasses.replace(eight, independent_bytes=1 << 27)
    assert _ladders(independent)["mpiio.striping_unit"] == (4 << 20, 16 << 20)
    for nodes in (1, 4, 12):
        known = _ladders(dataclasses.replace(eight, virtual_nodes=nodes))
        assert known["mpiio.striping_factor"] == (4, -1)


def test_settings_of_gathered_writes_do_nothing_where_none_are_gathered():
    lustre = dataclasses.replace(EMULATED, mpiio_driver="LUSTRE", striping=None)
    for name in ("mpiio.romio_lustre_co_ratio", "mpiio.cb_nodes"):
        assert is_valid({name: 2}, lustre)
        assert not is_valid({name: 2, "mpiio.romio_cb_write": "disable"}, lustre)
    assert "a stripe in each round" in find_space(lustre).left_out["mpiio.cb_buffer_size"]
    reading = dataclasses.replace(lustre, read_bytes=1 << 26, mpiio_read_bytes=1 << 26)
    assert "mpiio.cb_buffer_size" in _ladders(reading)
    assert "mpiio.cb_buffer_size" in _ladders(dataclasses.replace(lustre, mpiio_driver="UFS"))


def test_settings_with_which_the_same_ranks_aggregate_do_not_act():
    lustre = dataclasses.replace(
        EMULATED, n_ranks=8, n_hosts=1, virtual_nodes=8, mpiio_driver="LUSTRE"
    )
    count, nodes, ratio = "mpiio.striping_factor", "mpiio.cb_nodes", "mpiio.romio_lustre_co_ratio"
    unit = {"mpiio.striping_unit": 4 << 20}
    assert not is_valid({nodes: 4}, lustre)  # one stripe, one aggregator
    assert is_valid({ratio: 2}, lustre)
    assert not is_valid({ratio: 2, nodes: 2}, lustre)
    assert not is_valid({count: 4, nodes: 4}, lustre)
    assert is_valid({count: 4, nodes: 2}, lustre)
    assert is_valid({count: 4, ratio: 2}, lustre)
    assert not is_valid({count: 8, ratio: 2}, lustre)
    assert is_valid({**unit, nodes: 4}, lustre)  # all targets where only the size is given
    assert not is_valid({**unit, ratio: 2}, lustre)
    several = dataclasses.replace(lustre, n_ranks=32)
    assert is_valid({count: 4, nodes: 16}, several)  # other ranks, though as many
    reading = dataclasses.replace(lustre, read_bytes=1 << 26, mpiio_read_bytes=1 << 26)
    for other in (reading, dataclasses.replace(lustre, striping=None)):
        assert is_valid({nodes: 4}, other)


def test_tunables_of_the_lustre_driver_need_it():
    name = "mpiio.romio_lustre_co_ratio"
    assert name in _ladders(dataclasses.replace(EMULATED, mpiio_driver="LUSTRE"))
    assert name in _ladders(EMULATED)
    other = dataclasses.replace(EMULATED, mpiio_driver="UFS")
    assert "UFS driver" in find_space(other).left_out[name]


def test_a_setup_of_the_network_is_tried_where_it_is_described_or_known():
    name = "environment.FI_OFI_RXM_SAR_LIMIT"
    assert "only Cray MPICH" in find_space(EMULATED).left_out[name]
    described = dataclasses.replace(
        EMULATED, network_variables=("FI_OFI_RXM_SAR_LIMIT=32K", "CRAYPE_NETWORK_TARGET=ucx")
    )
    assert _ladders(described)[name] == ("32K",)
    cray = dataclasses.replace(EMULATED, mpi_version="CRAY MPICH 8")
    assert _ladders(cray)[name] == ("64K",)
    built = build_configuration({name: "32K", "mpiio.cb_nodes": 4}, described)
    assert dict(built.job.environment) == {"FI_OFI_RXM_SAR_LIMIT": "32K"}
    assert settings_class(built) is SafetyClass.SAFE
    assert not refused_variables(built)


def test_aggregators_are_placed_by_virtual_nodes():
    rehearsed = dataclasses.replace(EMULATED, n_ranks=8, virtual_nodes=4)
    assert 4 not in _ladders(rehearsed)["mpiio.cb_nodes"], "ROMIO's default is one a node"
    built = build_configuration({"mpiio.cb_nodes": 8}, rehearsed)
    assert built.files[0].mpiio["cb_config_list"] == "*:2"


NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"


def test_what_trials_must_show_is_in_the_space_without_values():
    assert "--burst-buffer-files" in find_space(MPICH).left_out[FILES]
    space = find_space(MPICH, ladders={NODES: (1, 2), FILES: ()})
    ladder = {d.tunable.name: d.values for d in space.dimensions}
    assert (ladder[NODES], ladder[FILES]) == ((1, 2), ())
    assert space.size == find_space(MPICH, ladders={NODES: (1, 2)}).size
    assert space.positions({NODES: 1}) is not None
    assert space.positions({NODES: 1, FILES: "wrfout*"}) is None


def test_the_nodes_that_the_script_has_are_no_rung():
    space = find_space(MPICH, ladders={NODES: (0, 1, 2)})
    assert next(d.values for d in space.dimensions if d.tunable.name == NODES) == (1, 2)
    on_two = dataclasses.replace(MPICH, burst_buffer_nodes=2)
    space = find_space(on_two, ladders={NODES: (0, 1, 2)})
    assert next(d.values for d in space.dimensions if d.tunable.name == NODES) == (0, 1)


def test_files_lie_on_a_burst_buffer_only_where_there_is_one():
    assert is_valid({NODES: 1, FILES: "wrfout*"}, MPICH)
    assert not is_valid({FILES: "wrfout*"}, MPICH)
    on_two = dataclasses.replace(MPICH, burst_buffer_nodes=2)
    assert is_valid({FILES: "wrfout*"}, on_two)
    assert not is_valid({NODES: 0, FILES: "wrfout*"}, on_two)
