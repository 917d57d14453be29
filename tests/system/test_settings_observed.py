# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`run --config` changes what reaches the storage: writers, sizes, alignment."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_cli import as_words, file_of, mpiexec, require_mpi, run

pytestmark = pytest.mark.mpi

KIB = 1024
MIB = 1024 * KIB
BOTH = '{ cb_nodes = 2, cb_config_list = "*:*", romio_cb_write = "enable" }'
ROMIO_UNDER_OPENMPI = '[job]\nmca = { io = "romio321" }\n'


def configuration(work: Path, *, mpiio: str = "", hdf5: str = "", more: str = "") -> Path:
    path = work / "settings.toml"
    lines = ["version = 1", "[[file]]", 'match = "*"', "override = true"]
    lines += [f"mpiio = {mpiio}"] if mpiio else []
    lines += [f"hdf5 = {hdf5}"] if hdf5 else []
    path.write_text("\n".join([*lines, more]) + "\n")
    return path


@pytest.fixture(params=["C", "Fortran"])
def program(request, compiled, family) -> list[str]:
    """Writes 512 KiB, interleaved and collectively, from 2 ranks."""
    if request.param == "C":
        return as_words(mpiexec(family), compiled("blocks.c", family), "out.dat", "4096", "64")
    return as_words(mpiexec(family), compiled("blocks_f.f90", family), "out.dat")


def same_file(work: Path, program: list[str], *options: str | Path) -> tuple[dict, bytes]:
    document = run(*options, "--", *program, cwd=work)
    assert document["state"] == "ok", document
    data = (work / "out.dat").read_bytes()
    (work / "out.dat").unlink()
    return document, data


@pytest.mark.extended(keep=1)
def test_romio_aggregators_and_their_alignment(work, program, family):
    """One aggregator a host by default; two, on boundaries of stripes, when told so."""
    choice = ROMIO_UNDER_OPENMPI if family == "openmpi" else ""
    base = configuration(work, mpiio='{ romio_cb_write = "enable" }', more=choice)
    before, data = same_file(work, program, "--config", base)
    spread = configuration(work, mpiio=BOTH, more=choice)
    between, same = same_file(work, program, "--config", spread)
    pieces = BOTH.replace("}", ", cb_buffer_size = 65536, striping_unit = 65536 }")
    after, too = same_file(
        work, program, "--config", configuration(work, mpiio=pieces, more=choice)
    )
    assert data == same == too
    one, two, small = (file_of(d, "out.dat") for d in (before, between, after))
    assert [f["writers"] for f in (one, two, small)] == [1, 2, 2]
    assert two["largest_write_bytes"] < one["largest_write_bytes"]
    assert small["largest_write_bytes"] == 64 * KIB
    assert small["aligned_fraction"][str(64 * KIB)] == 1.0
    assert after["facts"]["mpiio_implementation"].lower().startswith("romio")
    assert small["applied"]["cb_nodes"] == "2"


@pytest.mark.extended
def test_romio_without_collective_buffering(work, program, family):
    choice = ROMIO_UNDER_OPENMPI if family == "openmpi" else ""
    off = '{ romio_cb_write = "disable", romio_ds_write = "disable" }'
    document, _ = same_file(work, program, "--config", configuration(work, mpiio=off, more=choice))
    seen = file_of(document, "out.dat")
    assert seen["writers"] == 2
    assert seen["system_writes"] == 128
    assert seen["largest_write_bytes"] == 4096


@pytest.mark.extended
def test_ompio_aggregators(work, compiled):
    require_mpi("openmpi")
    words = as_words(mpiexec("openmpi"), compiled("blocks.c", "openmpi"), "out.dat", "4096", "64")
    documents = []
    for count in (1, 2):
        choice = f'io = "ompio", fcoll = "vulcan", io_ompio_num_aggregators = {count}'
        mca = f"[job]\nmca = {{ {choice} }}\n"
        documents.append(same_file(work, words, "--config", configuration(work, more=mca))[0])
    assert [file_of(d, "out.dat")["writers"] for d in documents] == [1, 2]


@pytest.mark.extended
def test_hdf5_alignment(work, compiled, family):
    """Datasets begin at multiples of the alignment, and so do the writes."""
    program = as_words(mpiexec(family), compiled("h5rows.c", family), "out.h5")
    plain = run("--", *program, cwd=work)
    size = (work / "out.h5").stat().st_size
    aligned = configuration(work, hdf5=f"{{ alignment = [65536, {256 * KIB}] }}")
    document = run("--config", aligned, "--", *program, cwd=work)
    before, after = file_of(plain, "out.h5"), file_of(document, "out.h5")
    assert after["applied"]["alignment"] != before["applied"].get("alignment")
    assert after["aligned_fraction"][str(64 * KIB)] > before["aligned_fraction"][str(64 * KIB)]
    assert (work / "out.h5").stat().st_size > size


@pytest.mark.extended(keep=1)
def test_hdf5_takes_hints(work, compiled, family):
    """The hints of MPI-IO reach the file that libhdf5 opens."""
    program = as_words(mpiexec(family), compiled("h5rows.c", family), "out.h5")
    choice = ROMIO_UNDER_OPENMPI if family == "openmpi" else ""
    found = {}
    for name, hints in {
        "one": '{ romio_cb_write = "enable", cb_nodes = 1 }',
        "both": BOTH,
    }.items():
        given = configuration(work, mpiio=hints, more=choice)
        found[name] = file_of(run("--config", given, "--", *program, cwd=work), "out.h5")
    assert found["both"]["applied"]["cb_nodes"] == "2"
    assert found["one"]["largest_write_bytes"] > found["both"]["largest_write_bytes"]
