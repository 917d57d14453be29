# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the synthetic centre: all made up, apart from four of a published survey.

Sizes and run times are assumed, so that each program shows one thing that real ones do.  The
first four are the cases of T. Nakagawa (JAMSTEC), 28th WSSP, 2018, in ordinary runs that are
smaller than those of the survey (`_survey.py` has these).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stripewise.evidence.trace import FileHints, IoLayer
from synthetic_centre._behaviour import Behaviour, Part, Who

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
POSIX, MPIIO, HDF5 = IoLayer.POSIX, IoLayer.MPIIO, IoLayer.HDF5


@dataclass(frozen=True)
class Program:
    """A program that users run.

    Attributes:
        name / area: As the portal shows them.
        versions: Day of the year from which a version is used -> its behaviour; none: its runs
            are never profiled.
        ranks: Of its jobs.
        compute_seconds: Median of a run, beside its I/O.
        weight: Of its jobs among all.
        array: Tasks of a job array; 0: single jobs.
        arguments: Of its command line.
    """

    name: str
    area: str
    versions: Sequence[tuple[int, Behaviour]]
    ranks: Sequence[int]
    compute_seconds: float
    weight: float = 1.0
    array: int = 0
    arguments: str = "run.nml"

    def behaviour(self, day: int) -> Behaviour | None:
        """Return the behaviour on a day of the year; None: it is never profiled."""
        known = [behaviour for since, behaviour in self.versions if since <= day]
        return known[-1] if known else None


_ROMIO = {"cb_buffer_size": "16777216", "romio_cb_write": "automatic", "cb_nodes": "2",
          "striping_unit": "1048576"}  # fmt: skip
TUNED = {"romio_cb_write": "enable", "cb_nodes": "8", "striping_factor": "8"}
TUNED_DAY = 160
"""Of the year that is shown: lattice_qcd is tuned."""
STRIPED_BADLY_DAY = 250
"""From which a new version of cfd_les does not stripe its files."""

_QCD = Part("cfg/conf_{:05d}.bin", MPIIO, Who.ALL, True, 24 * MIB, 3 * KIB, files=6, stripes=2,
            consecutive=0.1, bursts=6, hints=FileHints(reported=_ROMIO))  # fmt: skip
_QCD_TUNED = replace(
    _QCD, call_bytes=4 * MIB, collective=True, system_bytes=4 * MIB, stripes=8, consecutive=0.9,
    hints=FileHints(requested=TUNED, reported={**_ROMIO, **TUNED, "cb_nodes": "8"}),
)  # fmt: skip
_LES = Part("chk/chk_{:04d}.h5", HDF5, Who.ALL, True, 6 * GIB, 8 * MIB, files=8,
            collective=True, system_bytes=4 * MIB, stripes=8, bursts=8,
            grid=("BLOCK", "BLOCK", "BLOCK"))  # fmt: skip
_LES_READ = Part("input/restart.h5", HDF5, Who.ALL, False, 256 * MIB, 8 * MIB, collective=True,
                 system_bytes=4 * MIB, stripes=8, grid=("BLOCK", "BLOCK", "BLOCK"))  # fmt: skip

PROGRAMS = (
    Program("regional_atmosphere", "Atmosphere", [(0, Behaviour("3.9", (
        Part("input/bc_{:05d}.nc", POSIX, Who.EACH, False, 58 * MIB, MIB, files=6, stats=140),
        Part("out/hist_{:05d}.nc", POSIX, Who.EACH, True, 250 * MIB, 4 * MIB, files=2, stats=140,
             bursts=4),
    )))], (8, 16), 1500, 0.6),
    Program("global_ocean", "Ocean", [(0, Behaviour("4.2", (
        Part("input/forcing_{:03d}.nc", POSIX, Who.ROOT, False, 45 * GIB, 4 * MIB, files=12,
             stripes=4),
        Part("out/restart_{:05d}.nc", POSIX, Who.EACH, True, 28 * MIB, 4 * MIB, stats=300),
    )))], (16, 32), 800, 1.0),
    Program("tsunami", "Solid Earth", [(0, Behaviour("2.0", (
        Part("input/grid_{:03d}.grd", POSIX, Who.ROOT, False, 125 * MIB, MIB, files=24),
        Part("out/snap_{:05d}.grd", POSIX, Who.EACH, True, 32 * MIB, MIB, files=12, stats=60,
             bursts=12),
    )))], (8, 16), 700, 1.0),
    Program("seqsearch", "Bio", [(0, Behaviour("1.1", (
        Part("input/query_{:04d}.fa", POSIX, Who.ROOT, False, 38 * KIB, KIB, files=38, stats=4),
        Part("out/hits.txt", POSIX, Who.ROOT, True, 326 * KIB, 4 * KIB),
    ), mpi=""))], (1,), 320, 0.5, 6, "-db nr.fa"),
    Program("plasma_pic", "Astrophysics", [(0, Behaviour("5.0", (
        Part("input/mesh.h5", HDF5, Who.ALL, False, 20 * MIB, MIB, grid=("BLOCK", "*", "*")),
        Part("out/field_{:04d}.h5", HDF5, Who.ALL, True, 16 * MIB, 2 * KIB, files=4, bursts=4,
             consecutive=0.2, grid=("BLOCK", "*", "*")),
    ), True))], (32, 64), 700, 1.2, 0, "--deck laser.in"),
    Program("cfd_les", "Engineering", [
        (0, Behaviour("2.3", (_LES_READ, _LES), True)),
        (STRIPED_BADLY_DAY, Behaviour("2.4", (_LES_READ, replace(_LES, stripes=1)), True)),
    ], (32, 64), 1300, 1.2, 0, "case.toml"),
    Program("lattice_qcd", "Particle physics", [
        (0, Behaviour("7.1", (_QCD,), True)),
        (TUNED_DAY, Behaviour("7.1", (_QCD_TUNED,), True)),
    ], (32, 64), 900, 1.2, 0, "b3.30.in"),
    Program("climate_post", "Atmosphere", [(0, Behaviour("0.8", (
        Part("input/day_{:03d}.nc", POSIX, Who.ROOT, False, 6 * GIB, 256 * KIB, files=60,
             stats=20),
        Part("out/mean.nc", POSIX, Who.ROOT, True, 200 * MIB, MIB),
    ), True, "", 60_000))], (1,), 300, 1.0, 0, "--season DJF"),
    Program("md_engine", "Materials", [(0, Behaviour("11.2", (
        Part("input/system.top", POSIX, Who.ROOT, False, 40 * MIB, MIB),
        Part("out/traj.xyz", POSIX, Who.ROOT, True, 2 * GIB, 512, bursts=20),
    )))], (16, 32, 64), 900, 1.2, 0, "-deffnm prod"),
    Program("fem_crash", "Engineering", [(0, Behaviour("6.0", (
        Part("input/model.k", POSIX, Who.ROOT, False, 300 * MIB, MIB),
        Part("out/part_{:04d}.log", POSIX, Who.EACH, True, 8 * MIB, 4 * KIB, syncs=2000,
             bursts=10),
    )))], (16, 32), 350, 0.8, 0, "i=model.k"),
    Program("genome_asm", "Bio", [(0, Behaviour("3.3", (
        Part("input/index.bin", POSIX, Who.ALL, False, 300 * MIB, MIB, times_read=20),
        Part("out/contig_{:04d}.fa", POSIX, Who.EACH, True, 20 * MIB, MIB),
    )))], (32,), 500, 0.8, 0, "-k 31"),
    Program("seismic_fwi", "Solid Earth", [(0, Behaviour("1.6", (
        Part("chk/state_{:04d}.bin", POSIX, Who.EACH, False, 512 * MIB, 8 * MIB),
        Part("chk/next_{:04d}.bin", POSIX, Who.EACH, True, 3 * GIB, 8 * MIB, bursts=6),
    )))], (16, 32), 1800, 1.0, 0, "fwi.par"),
    Program("ml_train", "Data science", [(0, Behaviour("2.9", (
        Part("data/shard_{:03d}.tar", POSIX, Who.EACH, False, 2 * GIB, 128 * KIB, files=6,
             opens=14_000, stats=0, bursts=12, consecutive=0.3),
        Part("ckpt/epoch_{:02d}.pt", POSIX, Who.ROOT, True, 4 * GIB, 8 * MIB, files=6, bursts=6),
    )))], (4, 8), 900, 0.8, 0, "--epochs 6"),
    Program("wave_model", "Ocean", [(0, Behaviour("6.7", (
        Part("out/wave_{:03d}.nc", MPIIO, Who.ALL, True, 300 * MIB, 4 * MIB, files=6,
             collective=True, system_bytes=4 * MIB, stripes=2, bursts=6,
             hints=FileHints(requested={"romio_cb_wirte": "enable", "striping_factor": "64"},
                             reported={**_ROMIO, "striping_factor": "2"})),
    ), True))], (16, 32), 800, 0.8, 0, "ww.inp"),
    Program("turb_dns", "Engineering", [(0, Behaviour("1.0", (
        Part("out/u_{:03d}.dat", MPIIO, Who.ALL, True, 32 * MIB, 4 * MIB, files=4,
             collective=True, system_bytes=4 * KIB, stripes=2, bursts=4, consecutive=0.1),
    ), True, "openmpi"))], (64,), 700, 0.6, 0, "re5200.in"),
    Program("chem_scf", "Materials", [(0, Behaviour("4.4", (
        Part("input/basis.dat", POSIX, Who.ROOT, False, 12 * MIB, MIB),
        Part("tmp/int_{:03d}.scr", POSIX, Who.EACH, True, 256 * MIB, 4 * MIB),
    )))], (8, 16), 1200, 1.0, 0, "water.inp"),
    Program("render_frames", "Data science", [], (8,), 600, 0.6),
    Program("matlab_batch", "Data science", [], (1,), 900, 0.6),
    Program("unit_tests", "Engineering", [], (1, 4), 60, 0.4),
    Program("python3", "Bio", [], (1,), 400, 0.6),
)  # fmt: skip
