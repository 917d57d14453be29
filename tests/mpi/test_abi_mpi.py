# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Other major versions of MPICH and Open MPI, and the ABI of MPI 5, under the library."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from runtime_harness import Ran, flat, plugins, program, require, run, run_plain
from stacks import MPIS, family_of, is_openmpi, major_of, tool

from stripewise.core import Configuration, FileRule
from stripewise.evidence.facts import cannot_act, observed_files, program_facts
from stripewise.evidence.trace import (
    IoLayer,
    MpiFamily,
    Op,
    PluginState,
    ProcessFlag,
    SettingsKind,
)
from support import roots

pytestmark = [pytest.mark.mpi, pytest.mark.roots]

MPIIO = IoLayer.MPIIO
BLOCK, BLOCKS = 4096, 64
SHARE = BLOCK * BLOCKS
READS = (Op.READ, Op.READ_COLLECTIVE)
ROMIO_OF_5 = "romio341"
AGGREGATORS = (
    "mpiio cb_nodes 2",
    "mpiio cb_config_list *:*",
    "mpiio cb_buffer_size 65536",
    "mpiio romio_cb_write enable",
)


@pytest.fixture(params=MPIS)
def mpi(request: pytest.FixtureRequest) -> str:
    tool(request.param, "mpicc")
    return str(request.param)


def strided(mpi: str, where: Path, mode: str, *hints: str, **more: object) -> Ran:
    """Run the interleaving program on two ranks; it checks what it reads back."""
    (where / "out.dat").unlink(missing_ok=True)
    command = [program(mpi, "strided.c"), "out.dat", mode, str(BLOCK), str(BLOCKS), *hints]
    ran = run(mpi, 2, command, where, **more)  # type: ignore[arg-type]
    assert (ran.code, ran.err) == (0, "")
    return ran


def test_the_plugin_of_that_version_is_loaded(mpi: str, tmp_path: Path) -> None:
    ran = strided(mpi, tmp_path, "collective")
    assert ran.state("plugin_state") == {PluginState.LOADED}
    assert ran.state("world_size") == {2}
    assert ran.ranks() == [0, 1]
    names = {bytes(row["mpi_version"]).decode() for row in ran.profile.processes} - {""}
    wanted = f"Open MPI v{major_of(mpi)}." if is_openmpi(mpi) else "MPICH Version:      5."
    assert [wanted in name for name in names] == [True]
    done = ProcessFlag.MPI_INITIALIZED | ProcessFlag.MPI_FINALIZED | ProcessFlag.EXITED
    flags = [int(row["flags"]) for row in ran.profile.processes if row["rank"] >= 0]
    assert all(flag & done == done for flag in flags)
    assert not any(flag & ProcessFlag.USES_SHARED_MMAP for flag in flags)  # not PMIx's either


def test_the_implementation_is_known_behind_the_abi(tmp_path: Path) -> None:
    """Tunables depend on who does the I/O, not on whose mpi.h the program was compiled with."""
    assert strided("abi-1", tmp_path, "collective").state("mpi_family") == {MpiFamily.MPICH}


@pytest.mark.parametrize(
    ("mode", "write"),
    [
        ("independent", Op.WRITE),
        ("nonblocking", Op.WRITE),
        ("split", Op.WRITE_COLLECTIVE),
        ("at", Op.WRITE),
        ("ordered", Op.WRITE_COLLECTIVE),
        ("large", Op.WRITE_COLLECTIVE),
        ("large-nonblocking", Op.WRITE),
        ("large-at", Op.WRITE_COLLECTIVE),
    ],
)
def test_calls_and_bytes_are_counted(mpi: str, mode: str, write: Op, tmp_path: Path) -> None:
    if mode.startswith("large") and mpi == "openmpi-5":
        pytest.skip("Open MPI 5 speaks MPI 3.1: no MPI_Count variants")
    ran = strided(mpi, tmp_path, mode)
    for record in ran.records(MPIIO, "out.dat"):
        calls = BLOCKS if mode.endswith("at") else 1
        assert record["count"][write] == calls
        assert record["bytes"][write] == SHARE
        assert record["count"][[Op.OPEN, Op.CLOSE, Op.SYNC]].tolist() == [1, 1, 1]
    assert ran.bytes(MPIIO, "out.dat", *READS) == 2 * SHARE
    assert ran.bytes(IoLayer.POSIX, "out.dat", Op.WRITE) >= 2 * SHARE
    assert (ran.profile.write_bytes, ran.profile.read_bytes) == (2 * SHARE, 2 * SHARE)
    assert ran.profile.io_seconds > 0


@pytest.mark.parametrize("mode", ["collective", "large"])
@pytest.mark.parametrize("mpi", [mpi for mpi in MPIS if not is_openmpi(mpi)])
def test_hints_change_who_writes_and_how_much(mpi: str, mode: str, tmp_path: Path) -> None:
    before = strided(mpi, tmp_path, mode)
    assert before.writers("out.dat") == {0}
    configuration = flat("file *.dat 0", *AGGREGATORS)
    after = strided(mpi, tmp_path, mode, configuration=configuration)
    assert after.writers("out.dat") == {0, 1}
    assert after.largest_write("out.dat") == 65536
    assert after.applied()["cb_nodes"] == {"2"}
    assert "65536" in after.settings(SettingsKind.REPORTED, MPIIO)["cb_buffer_size"]


def test_hints_that_open_mpi_5_drops_are_seen_to_be(tmp_path: Path) -> None:
    """Its ROMIO takes none at MPI_File_open, not even the program's own; and says so."""
    configuration = flat("file *.dat 0", *AGGREGATORS[:2])
    hint = "cb_buffer_size=65536"
    ran = strided(
        "openmpi-5", tmp_path, "collective", hint, io=ROMIO_OF_5, configuration=configuration
    )
    assert ran.applied()["cb_nodes"] == {"2"}
    reported = ran.settings(SettingsKind.REPORTED, MPIIO)
    assert (reported["cb_nodes"], reported["cb_buffer_size"]) == ({"1"}, {"16777216"})
    rule = FileRule("*.dat", mpiio={"cb_nodes": 2})
    facts = program_facts(ran.profile, environment={"OMPI_MCA_io": ROMIO_OF_5})
    files = observed_files(ran.profile, tmp_path)
    (line,) = cannot_act(Configuration((rule,)), files, facts, tmp_path)
    assert line.startswith("cb_nodes=2 on out.dat: the MPI made it 1")


def test_the_programs_own_hints_stay(mpi: str, tmp_path: Path) -> None:
    configuration = flat("file *.dat 0", *AGGREGATORS)
    hint = "cb_buffer_size=131072"
    ran = strided(mpi, tmp_path, "collective", hint, configuration=configuration)
    assert ran.settings(SettingsKind.PROGRAM, MPIIO) == {"cb_buffer_size": {"131072"}}
    assert "cb_buffer_size" not in ran.applied()
    if not is_openmpi(mpi):
        assert ran.largest_write("out.dat") == 131072


def test_the_file_is_the_same_as_without(mpi: str, tmp_path: Path) -> None:
    command = [program(mpi, "strided.c"), "out.dat", "collective", str(BLOCK), str(BLOCKS)]
    assert run_plain(mpi, 2, command, tmp_path).returncode == 0
    expected = (tmp_path / "out.dat").read_bytes()
    strided(mpi, tmp_path, "collective", configuration=flat("file * 0", *AGGREGATORS))
    assert (tmp_path / "out.dat").read_bytes() == expected


@pytest.mark.parametrize("mode", ["missing", "handler", "comms"])
def test_errors_are_the_programs_own(mpi: str, mode: str, tmp_path: Path) -> None:
    command = [program(mpi, "errors.c"), mode, "out.dat"]
    plain = run_plain(mpi, 1, command, tmp_path)
    ran = run(mpi, 1, command, tmp_path, configuration=flat("file * 1", "mpiio cb_nodes 1"))
    assert (ran.code, ran.out) == (plain.returncode, plain.stdout)
    assert ran.code == 0


def test_a_plugin_of_the_other_library_is_not_loaded(tmp_path: Path) -> None:
    """Both say MPICH 5; the wrong one would bring a second MPI into the process."""
    name = f"libstripewise-mpi-{family_of('abi-1')}-{major_of('abi-1')}.so"
    image = (plugins("mpich-5") / "libstripewise-mpi-mpich-5.so").read_bytes()
    mark = b"stripewise-plugin-mark\0\0"
    at = image.index(mark) + len(mark) + 4
    forged = image[:at] + b"\1\0\0\0" + b"abi\0\0" + image[at + 9 :]
    (tmp_path / name).write_bytes(forged)
    ran = strided("abi-1", tmp_path, "collective", plugin_path=tmp_path)
    assert ran.state("plugin_state") == {PluginState.WRONG}
    assert any("an MPI library that the program does not use" in n for n in ran.profile.notes)


def test_without_that_version_the_message_names_it(mpi: str, tmp_path: Path) -> None:
    family = "openmpi" if is_openmpi(mpi) else "mpich"
    require(f"mpicc.{family}")
    shutil.copytree(plugins(family), tmp_path / "plugins")
    ran = strided(mpi, tmp_path, "collective", plugin_path=tmp_path / "plugins")
    assert ran.state("plugin_state") == {PluginState.MISSING}
    wanted = f"libstripewise-mpi-{family_of(mpi)}-{major_of(mpi)}.so"
    assert any(wanted in note for note in ran.profile.notes)


DETECT = """
import json
from stripewise.run.runtime import detect_mpis
print(json.dumps([
    [mpi.version, mpi.mpiexec.name, mpi.mpiio, mpi.problem, mpi.hdf5.version,
     [library.title for library in mpi.libraries]] for mpi in detect_mpis()]))
"""


@pytest.mark.parametrize(
    ("suite", "mpich", "openmpi", "mpiio", "hdf5"),
    [("trixie", "4.", "5.", ["ompio", ROMIO_OF_5], "1.14."), ("forky", "5.", "6.", [], "2.")],
)
def test_the_build_knows_what_a_debian_has(
    suite: str, mpich: str, openmpi: str, mpiio: list[str], hdf5: str
) -> None:
    first, second = json.loads(roots.python(suite, DETECT))
    assert first[1:4] == ["mpiexec.mpich", [], ""]
    assert second[1:4] == ["mpiexec.openmpi", mpiio, ""]
    assert (first[0].startswith(mpich), second[0].startswith(openmpi)) == (True, True)
    assert all(found[4].startswith(hdf5) for found in (first, second))
    assert (first[5], second[5]) == ([], ["NetCDF", "PnetCDF", "ADIOS2"])


@pytest.mark.parametrize("binding", ["WITH_F08", "WITH_MODULE"])
def test_fortran(mpi: str, binding: str, tmp_path: Path) -> None:
    writer = program(mpi, "writer.F90", f"-D{binding}")
    ran = run(mpi, 2, [writer, "out.dat"], tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.bytes(MPIIO, "out.dat", Op.WRITE_COLLECTIVE) == 2 * 65536 * 4
