# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulated storage under MPI programs: hints shape files, ranks are on nodes, data is right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from runtime_harness import FAMILIES, Ran, flat, program, require, run

from emulated_machine import LUSTRE, Machine, counters

pytestmark = pytest.mark.mpi

KIB = 1 << 10


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def emulated(
    family: str, where: Path, machine: Machine, mode: str, *hints: str, **more: str
) -> tuple[Ran, dict[str, int]]:
    """Run the interleaving program (it checks what it reads) on two ranks; and the counters."""
    work = where / "work"
    work.mkdir()
    machine.write(where / "mapping", work)
    command = [program(family, "strided.c"), "out.dat", mode, str(16 * KIB), "8", *hints]
    extra = {"STRIPEWISE_EMULATE": str(where / "mapping")}
    ran = run(family, 2, command, work, extra=extra, **more)  # type: ignore[arg-type]
    assert (ran.code, ran.err) == (0, "")
    return ran, counters(where / "mapping")


def layout(where: Path) -> str:
    """What the program's file keeps."""
    return os.getxattr(where / "work/out.dat", "user.stripewise.layout").decode()


@pytest.mark.extended(keep=1)
def test_hints_of_the_program_shape_its_file(family: str, tmp_path: Path) -> None:
    hints = ("striping_factor=3", "striping_unit=65536", "start_iodevice=2")
    emulated(family, tmp_path, Machine({}, targets=4), "independent", *hints)
    assert layout(tmp_path) == "3 65536 2"


@pytest.mark.extended(keep=1)
def test_hints_of_the_configuration_shape_it_too(family: str, tmp_path: Path) -> None:
    rules = flat("file * 0", "mpiio striping_factor 9", "mpiio striping_unit 131072")
    _, found = emulated(
        family, tmp_path, Machine({}, targets=4), "independent", configuration=rules
    )
    assert layout(tmp_path).startswith("4 131072 ")
    assert found["stripes_cut"] >= 1


@pytest.mark.extended(keep=1)
def test_ranks_are_on_nodes_and_locks_go_from_one_to_the_other(
    family: str, tmp_path: Path
) -> None:
    machine = Machine({"locks.revoke": 0.002}, ranks_per_node=1)
    _, found = emulated(family, tmp_path, machine, "independent")
    (tmp_path / "same").mkdir()
    machine.ranks_per_node = 2
    _, same = emulated(family, tmp_path / "same", machine, "independent")
    assert found["limit lock"] >= 2_000_000
    assert same["limit lock"] == 0


@pytest.mark.extended(keep=1)
def test_the_hint_for_locks_is_heard(family: str, tmp_path: Path) -> None:
    machine = Machine({"locks.revoke": 0.002})
    _, found = emulated(family, tmp_path, machine, "independent", "cray_cb_write_lock_mode=1")
    writes = found["limit lock"]
    assert writes <= 16 * 2_000_000  # reads may take locks from the last writer


ALWAYS = ("romio_cb_write=enable", "romio_cb_read=enable")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("mode", "hints", "exchanged"),
    [("collective", ALWAYS, True), ("collective", (), True), ("independent", ALWAYS, False)],
)
def test_collective_calls_exchange(
    family: str, tmp_path: Path, mode: str, hints: tuple[str, ...], exchanged: bool
) -> None:
    machine = Machine({"exchange.round": 0.003, "exchange.rank": 0.001})
    io = "romio321" if family == "openmpi" else ""
    _, found = emulated(family, tmp_path, machine, mode, *hints, io=io)
    assert (found["exchanges"] > 0) == exchanged
    assert found["limit exchange"] == found["exchanges"] * 5_000_000


def test_pieces_of_a_round_share_an_exchange(tmp_path: Path) -> None:
    require("mpicc.openmpi", "mpiexec.openmpi", "cmake")
    machine = Machine({"exchange.round": 0.002})
    machine.write(tmp_path / "mapping", tmp_path)
    rows = ["32", "40960", "0", "32", "0", "8192", "2", "2"]  # of each, the first fifth
    command = [program("openmpi", "holes.c"), "out.dat", "collective", "write", *rows]
    ran = run(
        "openmpi", 4, command, tmp_path, extra={"STRIPEWISE_EMULATE": str(tmp_path / "mapping")}
    )
    found = counters(tmp_path / "mapping")
    assert (ran.code, found["writes"], found["exchanges"]) == (0, 32, 1)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("choice", "exchanged"), [("automatic", False), ("enable", True)])
def test_collective_calls_of_separate_data_are_carried_out_one_by_one(
    family: str, tmp_path: Path, choice: str, exchanged: bool
) -> None:
    machine = Machine({"exchange.round": 0.001})
    machine.write(tmp_path / "mapping", tmp_path)
    (tmp_path / "input").write_bytes(bytes(64 * KIB))
    variables = {"STRIPEWISE_EMULATE": str(tmp_path / "mapping")}
    rules = flat("file * 0", f"mpiio romio_cb_write {choice}", "mpiio cb_nodes 1")
    io = "romio321" if family == "openmpi" else ""
    command = [program(family, "together.c")]
    ran = run(family, 2, command, tmp_path, extra=variables, io=io, configuration=rules)
    assert ran.code == 0
    assert (counters(tmp_path / "mapping")["exchanges"] > 0) == exchanged


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("ranks_per_node", "aggregators"), [(1, 2), (2, 1)])
def test_romio_has_an_aggregator_on_each_virtual_node(
    family: str, tmp_path: Path, ranks_per_node: int, aggregators: int
) -> None:
    machine = Machine({}, ranks_per_node=ranks_per_node)
    io = "romio321" if family == "openmpi" else ""
    ran, _ = emulated(family, tmp_path, machine, "collective", "romio_cb_write=enable", io=io)
    assert len(ran.writers("out.dat")) == aggregators


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["nonblocking", "ordered", "at"])
def test_data_is_right_and_held_back_in_every_mode(family: str, tmp_path: Path, mode: str) -> None:
    machine = Machine({"servers.target_write": 0.5e6}, targets=2, stripe_count=2)
    _, found = emulated(family, tmp_path, machine, mode)
    assert found["held_ns"] > 1_000_000
    assert found["written_bytes"] >= 2 * 8 * 16 * KIB


# ---- two storages ------------------------------------------------------------------------------


@pytest.mark.extended(keep=1)
def test_each_file_has_the_storage_that_its_root_names(family: str, tmp_path: Path) -> None:
    shared, buffer = tmp_path / "shared", tmp_path / "buffer"
    rates = {"servers.target_write": 50e6, "exchange.round": 0.001}
    machines = {
        shared: Machine(rates, targets=2, ranks_per_node=2, flags=LUSTRE),
        buffer: Machine(rates, targets=8, ranks_per_node=1),
    }
    for root, machine in machines.items():
        root.mkdir()
        machine.write(root.with_suffix(".clocks"), root)
    listed = ":".join(str(root.with_suffix(".clocks")) for root in machines)
    io = "romio321" if family == "openmpi" else ""
    hints = ("striping_factor=4", "striping_unit=65536", "romio_cb_write=enable")
    aggregators = {}
    for root in machines:
        ran = run(
            family,
            2,
            [program(family, "strided.c"), "out.dat", "collective", str(16 * KIB), "8", *hints],
            root,  # the name is relative
            extra={"STRIPEWISE_EMULATE": listed},
            io=io,
        )
        assert (ran.code, ran.err) == (0, "")
        aggregators[root] = len(ran.writers("out.dat"))
    assert [aggregators[root] for root in machines] == [1, 2]
    stripes = [os.getxattr(root / "out.dat", "user.stripewise.layout") for root in machines]
    assert [int(text.split()[0]) for text in stripes] == [2, 4]
    for root in machines:
        found = counters(root.with_suffix(".clocks"))
        assert found["written_bytes"] == 2 * 8 * 16 * KIB
        assert found["exchanges"] > 0


def test_two_files_of_one_program_on_two_storages(tmp_path: Path) -> None:
    require("mpicc.openmpi", "mpiexec.openmpi", "cmake")
    files = []
    for name, rate in (("slow", 0.25e6), ("fast", 50e6)):
        (tmp_path / name).mkdir()
        Machine({"servers.target_write": rate}).write(tmp_path / f"{name}.clocks", tmp_path / name)
        files.append(f"{name}/out.dat")
    ran = run(
        "openmpi",
        2,
        [program("openmpi", "two_files.c"), *files],
        tmp_path,
        extra={"STRIPEWISE_EMULATE": f"{tmp_path / 'slow.clocks'}:{tmp_path / 'fast.clocks'}"},
    )
    assert ran.code == 0
    assert float(ran.out.split()[0]) >= 1.9  # 2 x 256 KiB
    slow, fast = (counters(tmp_path / f"{name}.clocks") for name in ("slow", "fast"))
    assert slow["written_bytes"] == fast["written_bytes"] == 512 * KIB
    assert slow["model_ns"] > 20 * fast["model_ns"]  # a busy host adds nothing to these
