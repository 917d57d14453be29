# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray MPICH printed into the outputs of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stripewise.core import Measurement, MpiioOutput, ObservedFile, RunStatus, from_json, to_json
from stripewise.evidence.readers import prints_of_mpi, read_job_output, with_printed
from support.cray_output import cray_output
from support.foreign_traces import MPIIO_STATS_BLOCKS


@pytest.fixture
def read(tmp_path):
    def reading(text: str | bytes, name: str = "stderr", **more: Path) -> MpiioOutput:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_job_output([path], tmp_path, **more)

    return reading


def test_all_tables_of_a_file_come_together(read) -> None:
    found = read("step 1\n" + cray_output("out.dat", system_writes=64, stripe=1 << 20))
    assert found.mpi_version == "CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)"
    (file,) = found.files
    assert (file.path, file.write.system_calls, file.write.stripe_bytes) == (
        "out.dat",
        64,
        1 << 20,
    )
    assert file.hints["cb_buffer_size"] == "16777216"
    assert "romio_filesystem_type" in file.hints
    assert "step" not in file.hints
    (timers,) = file.timers
    assert (timers.scale, timers.net_bytes_per_second) == ("all ranks", 500 * 2**20)


def test_a_file_that_is_closed_twice_is_added_up(read) -> None:
    first, second = (
        cray_output("a", system_writes=10),
        cray_output("a", system_writes=30, slower=5),
    )
    (file,) = read(first + second).files
    assert file.write.system_calls == 40
    assert file.write.total_bytes == 2 * 262144
    assert file.write.average_bytes == 2 * 262144 // 40
    assert file.write.aggregators == 4
    (timers,) = file.timers
    shares = {phase.name: phase.average for phase in timers.phases}
    assert shares["total"] == 5 * 4_047_000


def test_names_are_those_in_the_directory_of_the_run(read, tmp_path) -> None:
    burst_buffer = Path("/var/opt/mounts/12/ss")
    text = "".join(
        map(cray_output, (f"{burst_buffer}//sub/a", f"{tmp_path}/b", "./c", "/other/d"))
    )
    found = read(text, worked_in=burst_buffer)
    assert {file.path for file in found.files} == {"sub/a", "b", "c", "/other/d"}


@pytest.mark.parametrize("text", ["", "plain\n", b"\0" + MPIIO_STATS_BLOCKS.encode()])
def test_other_outputs_say_nothing(read, tmp_path, text) -> None:
    assert read(text) == MpiioOutput()
    assert not prints_of_mpi(tmp_path / "stderr")


def test_what_is_no_file_is_passed_over(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    paths = [tmp_path / "pipe", tmp_path, tmp_path / "nothing"]
    assert read_job_output(paths, tmp_path) == MpiioOutput()
    assert not any(map(prints_of_mpi, paths))


def test_a_log_with_tables_is_known(tmp_path) -> None:
    log = tmp_path / "log"
    log.write_text("hello\n" * 20_000 + MPIIO_STATS_BLOCKS)
    assert prints_of_mpi(log)


def test_gaps_of_what_was_observed_are_filled_and_nothing_else(read) -> None:
    printed = read(cray_output("out.dat", system_writes=64, stripe=1 << 20)).files
    unseen, seen = with_printed(
        [ObservedFile("out.dat"), ObservedFile("other", writers=1)], printed
    )
    assert (unseen.writers, unseen.system_writes, unseen.readers) == (4, 64, 0)
    assert unseen.reported["striping_unit"] == "1048576"
    assert unseen.reported["cb_buffer_size"] == "16777216"
    assert seen == ObservedFile("other", writers=1)
    own = ObservedFile("out.dat", writers=2, system_writes=7, reported={"striping_unit": "5"})
    (kept,) = with_printed([own], printed)
    assert (kept.writers, kept.system_writes, kept.reported["striping_unit"]) == (2, 7, "5")


def test_a_measurement_keeps_it_in_the_journal(read) -> None:
    run = Measurement("x", RunStatus.OK, mpiio=read(cray_output("a")).files)
    assert from_json(Measurement, to_json(run)) == run
