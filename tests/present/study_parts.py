# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of realistic study results: a clock that makes runs, trials, facts."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from stripewise.core import (
    Configuration,
    FileRule,
    JobSettings,
    Measurement,
    ObservedFile,
    ProgramFacts,
    RunEntry,
    RunRole,
    RunStatus,
    Trial,
    TrialState,
    Value,
)

START = 1_790_000_000.0
COMMAND = ("mpiexec", "-n", "16", "./flash_io", "out.h5")
EVIL = "<script>alert('x')</script>.h5"
MIB = 2**20


class Clock:
    """Lays runs one after the other."""

    def __init__(self, seed: int = 7) -> None:
        self.now = START
        self.random = random.Random(seed)
        self.runs: list[RunEntry] = []

    def run(
        self,
        role: RunRole,
        io_seconds: float,
        *,
        trial: int | None = None,
        pair: int | None = None,
        status: RunStatus = RunStatus.OK,
        settings: Mapping[str, Value] | None = None,
        message: str = "",
        noise: float = 0.05,
    ) -> Measurement:
        io_seconds *= math.exp(self.random.gauss(0, noise))
        elapsed = io_seconds + 28.0
        ok = status is RunStatus.OK
        measurement = Measurement(
            run_id=f"00000000-0000-4000-8000-{len(self.runs):012d}",
            status=status,
            exit_code=0 if ok else (None if status is RunStatus.TIMEOUT else 1),
            elapsed_seconds=elapsed,
            io_seconds=io_seconds if ok else 0.0,
            write_bytes=12_850 * MIB if ok else 0,
            started_unix_seconds=self.now,
            files=observed(settings or {}, io_seconds) if ok else (),
            message=message,
        )
        self.now += elapsed + 3.0
        self.runs.append(RunEntry(role, measurement, trial, pair))
        return measurement


def observed(settings: Mapping[str, Value], io_seconds: float) -> tuple[ObservedFile, ...]:
    hints = {
        name.partition(".")[2]: str(value)
        for name, value in settings.items()
        if name.startswith("mpiio.")
    }
    tuned = bool(hints)
    big = ObservedFile(
        path="out.h5",
        write_bytes=12_840 * MIB,
        io_seconds=io_seconds * 0.98,
        interface="hdf5",
        writers=4 if tuned else 16,
        system_writes=3_210 if tuned else 98_304,
        system_write_bytes=12_840 * MIB,
        median_write_bytes=4 * MIB if tuned else 131_072,
        largest_write_bytes=16 * MIB if tuned else 262_144,
        aligned_fraction=(
            {4096: 0.99, 65_536: 0.98, MIB: 0.97}
            if tuned
            else {4096: 0.08, 65_536: 0.02, MIB: 0.0}
        ),
        requested={"romio_ds_write": "disable"},
        applied=hints,
        reported={"romio_ds_write": "disable", "cb_buffer_size": "16777216", **hints},
    )
    small = ObservedFile(
        path=EVIL,
        write_bytes=10 * MIB,
        io_seconds=0.4,
        interface="posix",
        writers=1,
        system_writes=12,
        system_write_bytes=10 * MIB,
        median_write_bytes=MIB,
        largest_write_bytes=MIB,
        aligned_fraction={4096: 1.0, 65_536: 1.0, MIB: 0.5},
    )
    return (big, small)


def configuration(settings: Mapping[str, Value]) -> Configuration:
    def layer(name: str) -> dict[str, Value]:
        return {
            key.partition(".")[2]: value
            for key, value in settings.items()
            if key.startswith(name + ".")
        }

    rule = FileRule("*", layer("mpiio"), layer("hdf5"), override=True)
    return Configuration((rule,), JobSettings(mca=layer("mca")))


POINTS: tuple[tuple[dict[str, Value], float], ...] = (
    ({"mpiio.romio_cb_write": "enable"}, 0.52),
    ({"mpiio.romio_cb_write": "disable"}, 1.04),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 2}, 0.43),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 4}, 0.24),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 8}, 0.29),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "mpiio.cb_buffer_size": 4 * MIB,
        },
        0.27,
    ),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "hdf5.alignment": (MIB, MIB),
        },
        0.19,
    ),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "hdf5.alignment": (4 * MIB, 4 * MIB),
        },
        0.2,
    ),
)

SEARCHED = {
    "mpiio.romio_cb_write": ("enable", "disable"),
    "mpiio.cb_nodes": ("2", "4", "8"),
    "mpiio.cb_buffer_size": ("4194304", "33554432"),
    "hdf5.alignment": ("1048576,1048576", "4194304,4194304"),
}
LEFT_OUT = {
    "mca.io": "the program runs under MPICH, which has one MPI-IO implementation",
    "mpiio.striping_factor": "the storage is not Lustre",
}
FACTS = ProgramFacts(
    n_ranks=16,
    mpi_family="mpich",
    mpi_version="MPICH Version:\t4.0.2",
    mpiio_implementation="romio",
    uses_hdf5=True,
    uses_parallel_hdf5=True,
    independent_bytes=12_840 * MIB,
    posix_bytes=10 * MIB,
    write_bytes=12_850 * MIB,
    shared_files=1,
    write_calls=98_304,
    io_seconds=41.2,
    elapsed_seconds=69.2,
)
PROVENANCE = {
    "stripewise": "0.1.0",
    "host": "node0042",
    "storage": "ext4 on /scratch",
    "started": "2026-09-21T14:13:20+00:00",
    "seed": "1",
    "strategy": "auto",
}


def search(
    clock: Clock,
    points: tuple[tuple[dict[str, Value], float], ...] = POINTS,
    io_seconds: float = 41.2,
) -> tuple[Trial, ...]:
    trials = []
    for number, (settings, ratio) in enumerate(points, 1):
        runs = tuple(
            clock.run(RunRole.TRIAL, io_seconds * ratio, trial=number, settings=settings)
            for _ in range(2 if ratio < 0.5 else 1)
        )
        state = TrialState.HOPELESS if ratio > 1 else TrialState.COMPLETE
        trials.append(
            Trial(
                number,
                settings,
                configuration(settings),
                state,
                runs,
                ratio,
                0.4 + ratio * 0.6,
                "ladder of mpiio.cb_nodes",
                {"observed": "4 writers", "observed without": "16 writers"},
            )
        )
    return tuple(trials)
