# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO's real Lustre driver on an emulated Lustre; the generic one beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from system_cli import file_of, require_mpi, run, stripewise

from stripewise.run.runtime import find_runtime
from support.real_requests import lustre_mpi

pytestmark = [pytest.mark.mpi, pytest.mark.lustre_mpi]
KIB = 1 << 10


def kernel(mpiexec: str, *hints: str) -> list[str]:
    """Four ranks that write the quarters of a table of 2 MiB together."""
    require_mpi("mpich")
    built = find_runtime().kernels["mpich"]
    words = ["--size", "1,512,512", "--grid", "1,2,2", "--mode", "collective", "--halo", "0"]
    words += ["--verify", "--keep", "--file", "out.dat"]
    for hint in ("cb_config_list=*:*", *hints):
        words += ["--hint", hint]
    return [mpiexec, "-n", "4", str(built), *words]


def with_driver(*hints: str) -> list[str]:
    mpiexec = lustre_mpi() / "bin" / "mpiexec"
    if not mpiexec.is_file():
        pytest.skip(f"no {mpiexec}: make lustre-mpi")
    return kernel(str(mpiexec), *hints)


def written(work: Path, command: list[str], *options: str) -> dict[str, Any]:
    """What was reported and observed of the file, on a Lustre of 58 targets."""
    document = run("--on", "lustre-flash", "--root", ".", *options, "--", *command, cwd=work)
    assert document["emulated"]["counted"] or document["emulated"]["late"], document
    return file_of(document, "out.dat")


def layout(work: Path) -> tuple[int, int]:
    (shown,) = stripewise("machine", "layout", "get", "--json", "out.dat", cwd=work).json()
    return shown["stripe_count"], shown["stripe_size_bytes"]


@pytest.mark.extended
def test_striping_hints_reach_the_driver_and_each_stripe_has_one_writer(work: Path) -> None:
    hints = ("striping_factor=4", f"striping_unit={256 * KIB}")
    found = written(work, with_driver(*hints))
    assert found["reported"]["romio_filesystem_type"] == "LUSTRE:"
    assert found["reported"]["striping_factor"] == "4"
    assert found["reported"]["striping_unit"] == str(256 * KIB)
    assert layout(work) == (4, 256 * KIB)
    assert (found["writers"], found["system_writes"]) == (4, 8)
    assert found["median_write_bytes"] == found["largest_write_bytes"] == 256 * KIB
    assert found["aligned_fraction"]["65536"] == 1.0


@pytest.mark.extended
def test_one_stripe_has_one_writer_and_more_where_the_ratio_says_so(work: Path) -> None:
    assert written(work, with_driver("striping_factor=1"))["writers"] == 1
    (work / "out.dat").unlink()
    unit = f"striping_unit={64 * KIB}"
    assert written(work, with_driver("striping_factor=2", unit))["writers"] == 2
    (work / "out.dat").unlink()
    command = with_driver("striping_factor=2", unit, "romio_lustre_co_ratio=2")
    assert written(work, command)["writers"] == 4


@pytest.mark.extended
def test_the_directory_and_the_targets_decide_where_hints_do_not(work: Path) -> None:
    words = ("machine", "layout", "set", "-c", "2", "-S", "128K", ".")
    assert stripewise(*words, cwd=work).code == 0
    found = written(work, with_driver())
    assert found["reported"]["striping_factor"] == "2"
    assert (found["writers"], found["largest_write_bytes"]) == (2, 128 * KIB)
    (work / "out.dat").unlink()
    found = written(work, with_driver("striping_factor=100"))
    assert found["reported"]["striping_factor"] == "58"


@pytest.mark.extended
def test_settings_and_lock_ahead_reach_the_driver(work: Path) -> None:
    hints = "striping_factor = 4, striping_unit = 65536, romio_lustre_cb_lock_ahead_write = 1"
    (work / "hints.toml").write_text(
        f'version = 1\n[[file]]\nmatch = "out.dat"\nmpiio = {{ {hints} }}\n'
    )
    found = written(work, with_driver(), "--config", "hints.toml")
    assert found["reported"]["romio_lustre_cb_lock_ahead_write"] == "1"
    assert layout(work) == (4, 64 * KIB)
    assert (found["writers"], found["system_writes"]) == (4, 32)


@pytest.mark.extended
def test_the_generic_driver_has_the_stripes_but_not_the_writers(work: Path) -> None:
    hints = ("striping_factor=2", f"striping_unit={256 * KIB}")
    found = written(work, kernel("mpiexec.mpich", *hints))
    assert layout(work) == (2, 256 * KIB)
    assert "LUSTRE" not in found["reported"]["romio_filesystem_type"]
    assert (found["writers"], found["system_writes"]) == (4, 4)
    assert found["largest_write_bytes"] == 512 * KIB
