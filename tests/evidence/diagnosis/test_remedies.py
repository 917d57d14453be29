# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Remedies act: on the transfers that were made, with the MPI that was used."""

from dataclasses import replace

import pytest
from runs import KIB, MIB, RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.evidence.trace import (
    Evidence,
    IoLayer,
    Op,
    ShapeKind,
    TraceObject,
    TraceShape,
)

FILE = "/scratch/out.h5"
ROMIO = {"romio_cb_write": "automatic", "cb_buffer_size": "16777216"}


def scattered(top=IoLayer.MPIIO):
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone(FILE, top, {Op.WRITE: (24, 24 * 320 * KIB, 20.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (122_880, 24 * 320 * KIB, 15.0)}, own=False)
    return run


def shredded():
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (2, 32 * MIB, 20.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (524_288, 32 * MIB, 15.0)}, own=False)
    return run


def with_profile(run, **fields):
    evidence = run.evidence()
    return Evidence(replace(evidence.profile, **fields), evidence.trace)


def lines_of(run, **fields):
    (found,) = diagnose(with_profile(run, **fields)).findings
    return found.lines


def test_hints_go_to_the_mpi_that_was_used():
    (line,) = lines_of(shredded(), mpi="mpich")
    assert line.startswith("printf '%s\\n' 'romio_cb_write enable' > romio-hints")
    assert lines_of(shredded(), mpi="openmpi")[0].startswith("export OMPI_MCA_io=^ompio")
    (line,) = lines_of(shredded(), source="MPICH_MPIIO_STATS output")
    assert line.startswith("export MPICH_MPIIO_HINTS='*:romio_cb_write=enable")
    assert len(lines_of(shredded())) == 3


def test_romio_inside_open_mpi_hears_its_hints():
    run = shredded()
    run.hints[FILE] = {"reported": ROMIO}
    (line,) = lines_of(run, mpi="openmpi")
    assert "ROMIO_HINTS" in line


@pytest.mark.parametrize(
    ("command", "first"),
    [("mpiexec.openmpi -n 2 a", "export OMPI_MCA_io"), ("mpiexec.mpich -n 2 a", "printf")],
)
def test_the_launcher_tells_the_mpi(command, first):
    assert lines_of(shredded(), command=command)[0].startswith(first)


def test_collective_buffering_is_not_offered_for_independent_transfers():
    (found,) = diagnose(scattered(IoLayer.HDF5).evidence()).findings
    assert found.lines == ()
    assert "hdf5.transfer=collective" in found.remedy
    assert found.tune.startswith("stripewise tune --allow contract -- ")


@pytest.mark.parametrize("command", ["407752450", "1 -n 5"])
def test_a_command_that_is_none_is_not_tuned(command):
    (found,) = diagnose(with_profile(scattered(), command=command)).findings
    assert found.tune == ""


def test_posix_cannot_be_tuned():
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (10_000, 10_000 * KIB, 20.0)}, order=0.0)
    (found,) = diagnose(run.evidence()).findings
    assert (found.code, found.tune, found.lines) == ("small-independent", "", ())


def pattern(block, extents, cuts):
    return Pattern(
        FILE,
        "/u",
        True,
        PatternKind.DISTRIBUTED,
        tuple(Distribution(cut) for cut in cuts),
        block,
        tuple(2 if cut == "BLOCK" else 1 for cut in cuts),
        extents,
        8,
        2,
        2,
    )


def selected(file, memory=None):
    """The run with one selection of each rank in an array of 80 x 1024, and in its buffer."""
    run = scattered(IoLayer.HDF5)
    run.objects = (TraceObject(0, IoLayer.HDF5, "/u", (80, 1024), element_bytes=8),)
    places = (file, memory) if memory else (file,)
    shapes = [
        TraceShape(0, ShapeKind.REGULAR, extents, (1, 1), (1, 1), block)
        for block, extents in places
    ]
    run.shapes = (replace(shapes[0], memory=1 if memory else -1), *shapes[1:])
    for rank in range(2):
        row = run.call(
            FILE, IoLayer.HDF5, Op.WRITE, "H5Dwrite", rank, 1, 40 * 1024 * rank, 320 * KIB
        )
        row["object"] = row["shape"] = 0
    return run.evidence()


def test_the_selections_tell_whether_file_or_memory_has_the_holes():
    memory = pattern((40, 1024), (80, 1024), ("BLOCK", "*"))
    evidence = selected(((40, 1024), (80, 1024)), ((40, 1024), (44, 1028)))
    (found,) = diagnose(evidence, [memory]).findings
    assert "it is the selection in memory that has holes" in found.text
    (found,) = diagnose(selected(((40, 8), (80, 1024))), [memory]).findings
    assert "in memory" not in found.text
    assert "One call moves pieces of 64 B, 8 KiB apart in the file" in found.text
    evidence = scattered(IoLayer.HDF5).evidence()
    (found,) = diagnose(evidence, [memory]).findings  # selections are unknown
    assert "holes" not in found.text
    file = pattern((640, 64), (640, 128), ("*", "BLOCK"))
    (found,) = diagnose(evidence, [file]).findings
    assert "<2D, (*, BLOCK), (640, 64)>" in found.text
    assert "pieces of 512 B lie between one another" in found.text


def test_the_headline_stands_alone():
    run = scattered(IoLayer.HDF5)
    run.everyone("/scratch/b", IoLayer.MPIIO, {Op.READ: (5000, 5000 * KIB, 9.0)})
    told = diagnose(run.evidence())
    assert told.headline.endswith("H5FD_MPIO_COLLECTIVE).")
    assert told.summary == f"{told.headline} 1 more finding: `stripewise profile`."
    for found in told.findings:
        assert len(found.advice) < 110
        assert "…" not in found.advice
