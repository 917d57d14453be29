# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which plug-in is taken, what is said without one, and programs that are unusual."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from runtime_harness import (
    FAMILIES,
    checked,
    core,
    flat,
    plugins,
    program,
    require,
    run,
    run_plain,
    scratch,
)

from stripewise.evidence.trace import IoLayer, Op, PluginState, ProcessFlag

pytestmark = pytest.mark.mpi

HINTS = flat("file * 1", "mpiio cb_nodes 1")


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def command(family: str) -> list[str | Path]:
    return [program(family, "strided.c"), "out.dat", "collective", "4096", "16"]


@pytest.mark.extended(keep=1)
def test_a_loaded_plugin_tells_rank_and_version(family: str, tmp_path: Path) -> None:
    ran = run(family, 2, command(family), tmp_path)
    assert ran.state("plugin_state") == {PluginState.LOADED}
    assert ran.state("world_size") == {2}
    names = {bytes(row["mpi_version"]).decode() for row in ran.profile.processes} - {""}
    assert len(names) == 1
    assert {"mpich": "MPICH", "openmpi": "Open MPI"}[family] in names.pop()
    done = ProcessFlag.MPI_INITIALIZED | ProcessFlag.MPI_FINALIZED | ProcessFlag.EXITED
    flags = [int(row["flags"]) for row in ran.profile.processes if row["rank"] >= 0]
    assert all(flag & done == done for flag in flags)


def check_without(ran: object, family: str) -> None:
    """Calls and time are counted, bytes of MPI-IO are not, nothing is adopted."""
    assert ran.code == 0, ran.err  # type: ignore[attr-defined]
    assert ran.ranks() == []  # type: ignore[attr-defined]
    assert ran.applied() == {}  # type: ignore[attr-defined]
    records = ran.records(IoLayer.MPIIO, "out.dat")  # type: ignore[attr-defined]
    assert [int(r["count"][Op.WRITE_COLLECTIVE]) for r in records] == [1, 1]
    assert [int(r["bytes"].sum()) for r in records] == [0, 0]
    assert all(r["outermost_seconds"] > 0 for r in records)


@pytest.mark.extended(keep=1)
def test_a_missing_plugin(family: str, tmp_path: Path) -> None:
    ran = run(family, 2, command(family), tmp_path, plugin_path=tmp_path, configuration=HINTS)
    check_without(ran, family)
    assert ran.state("plugin_state") == {PluginState.MISSING}
    assert any("stripewise doctor build" in note for note in ran.profile.notes)


@pytest.mark.extended(keep=1)
def test_a_renamed_plugin_of_another_mpi(family: str, tmp_path: Path) -> None:
    other = next(name for name in FAMILIES if name != family)
    require(f"mpicc.{other}")
    shutil.copy(
        plugins(other) / f"libstripewise-mpi-{other}-4.so",
        tmp_path / f"libstripewise-mpi-{family}-4.so",
    )
    ran = run(family, 2, command(family), tmp_path, plugin_path=tmp_path, configuration=HINTS)
    check_without(ran, family)
    assert ran.state("plugin_state") == {PluginState.WRONG}
    assert any("another MPI" in note for note in ran.profile.notes)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF stripewise-plugin-mark\0"])
def test_a_file_that_is_no_plugin(family: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / f"libstripewise-mpi-{family}-4.so").write_bytes(content)
    ran = run(family, 2, command(family), tmp_path, plugin_path=tmp_path)
    check_without(ran, family)
    assert ran.state("plugin_state") == {PluginState.WRONG}


@pytest.mark.extended(keep=1)
def test_a_plugin_that_does_not_load(family: str, tmp_path: Path) -> None:
    whole = (plugins(family) / f"libstripewise-mpi-{family}-4.so").read_bytes()
    broken = tmp_path / f"libstripewise-mpi-{family}-4.so"
    broken.write_bytes(b"\0" * 64 + whole[64:])
    ran = run(family, 2, command(family), tmp_path, plugin_path=tmp_path)
    check_without(ran, family)
    assert ran.state("plugin_state") == {PluginState.WRONG}


@pytest.mark.extended(keep=1)
def test_mpi_that_is_never_started(family: str, tmp_path: Path) -> None:
    ran = run(family, 1, [program(family, "quiet.c"), "out.txt"], tmp_path, configuration=HINTS)
    assert ran.code == 0, ran.err
    assert (tmp_path / "out.txt").read_text() == "initialized 0\n"
    assert ran.ranks() == []
    assert ran.state("plugin_state") == set()


@pytest.mark.extended(keep=1)
def test_fork_in_an_mpi_program(family: str, tmp_path: Path) -> None:
    forker = [program(family, "forker.c"), "out.dat"]
    plain = run_plain(family, 2, forker, tmp_path)
    ran = run(family, 2, forker, tmp_path, configuration=HINTS)
    assert (ran.code, ran.out) == (plain.returncode, plain.stdout) == (0, "")
    assert ran.ranks() == [0, 1]
    assert ran.bytes(IoLayer.MPIIO, "out.dat", Op.WRITE) == 2 * 4096
    assert (tmp_path / "out.dat.child2").read_text() == "child 2\n"
    children = [p for p in ran.profile.processes if p["flags"] & ProcessFlag.FORKED]
    assert all(int(child["rank"]) == -1 for child in children)


@pytest.mark.extended(keep=1)
def test_a_disabled_library_does_nothing(family: str, tmp_path: Path) -> None:
    ran = run(
        family,
        2,
        command(family),
        tmp_path,
        configuration=HINTS,
        extra={"STRIPEWISE_DISABLE": "1"},
    )
    assert ran.code == 0
    assert len(ran.profile.processes) == 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "text",
    [
        "something else\n",
        flat("mpiio cb_nodes 2"),
        flat("file * 2"),
        flat("file * 0", "mpiio cb_nodes"),
        flat("file * 0", "nonsense a b"),
        flat("file * 0", "mpiio a %4"),
    ],
)
def test_a_broken_configuration_is_refused_as_a_whole(text: str, tmp_path: Path) -> None:
    require("mpicc.mpich", "mpiexec.mpich", "cmake")
    configuration = text + "file\t*\t1\nmpiio\tcb_nodes\t1\n"
    ran = run("mpich", 1, command("mpich"), tmp_path, configuration=configuration)
    assert ran.code == 0
    assert ran.applied() == {}
    assert all(p["flags"] & ProcessFlag.CONFIG_BAD for p in ran.profile.processes)
    assert any("not applied" in note for note in ran.profile.notes)


@pytest.mark.extended(keep=1)
def test_a_configuration_in_a_file(family: str, tmp_path: Path) -> None:
    path = tmp_path / "configuration.flat"
    path.write_text(HINTS)
    extra = {"STRIPEWISE_CONFIGURATION_FILE": str(path)}
    ran = run(family, 2, command(family), tmp_path, extra=extra)
    assert ran.applied() == {"cb_nodes": {"1"}}


def fake_mpi(version: str) -> Path:
    """A library that only says which MPI it is, and a program that starts it."""
    where = scratch() / ("fake-" + "".join(c for c in version if c.isalnum()))
    where.mkdir(exist_ok=True)
    (where / "mpi.c").write_text(
        "#include <string.h>\n"
        "int MPI_Init(int *c, char ***v) { (void)c; (void)v; return 0; }\n"
        "int PMPI_Initialized(int *f) { *f = 1; return 0; }\n"
        "int MPI_Get_version(int *a, int *b) { *a = 3; *b = 1; return 0; }\n"
        "int MPI_Get_library_version(char *t, int *n)\n"
        f'{{ strcpy(t, "{version}"); *n = (int)strlen(t); return 0; }}\n'
    )
    (where / "main.c").write_text(
        "int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n"
    )
    checked(["cc", "-shared", "-fPIC", where / "mpi.c", "-o", where / "libfake.so"])
    checked(["cc", where / "main.c", "-o", where / "main", where / "libfake.so"])
    return where / "main"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("MPICH Version:\\t4.0.2\\nMPICH Release date", "mpich-4"),
        ("MPICH Version:      3.4.3", "mpich-3"),
        ("MPI VERSION    : CRAY MPICH version 8.1.23 (ANL base 3.4a2)", "mpich-3"),
        ("Intel(R) MPI Library 2021.5 for Linux* OS", "mpich-3"),
        ("MVAPICH2 Version      :2.3.7", "mpich-3"),
        ("Open MPI v5.0.3, package: x", "openmpi-5"),
        ("Some other MPI 7", "other-0"),
    ],
)
def test_the_version_decides_which_plugin(version: str, wanted: str, tmp_path: Path) -> None:
    require("cc", "cmake", "mpiexec.mpich")
    core()
    ran = run("mpich", 1, [fake_mpi(version)], tmp_path, plugin_path=tmp_path)
    assert any(f"libstripewise-mpi-{wanted}.so" in note for note in ran.profile.notes)
