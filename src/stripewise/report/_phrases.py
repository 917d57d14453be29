# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What happened, in words that fit on one line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stripewise.model import NOTHING, Measurement, ProgramFacts, RunRole, Trial, TrialState
from stripewise.report._digest import digest
from stripewise.report._text import amount_words, format_bandwidth, format_ratio, plural
from stripewise.text import printable
from stripewise.tunables import format_settings

if TYPE_CHECKING:
    from stripewise.study import RunSlot

_ROLE = {
    RunRole.WARM_UP: "warm-up run (not counted)",
    RunRole.BASELINE: "baseline run",
    RunRole.TRIAL: "trial {trial}",
    RunRole.PAIR_BASELINE: "fresh pair {pair}: baseline",
    RunRole.PAIR_WINNER: "fresh pair {pair}: best",
    RunRole.REFERENCE: "fresh pair {pair}: other default",
    RunRole.REFERENCE_WINNER: "fresh pair {pair}: best, against the other default",
    RunRole.UNSYNCED_BASELINE: "baseline without sync",
    RunRole.UNSYNCED_WINNER: "best without sync",
}


def trial_phrase(trial: Trial) -> str:
    """Say one ended trial: its outcome against the baseline, its settings."""
    return f"{_outcome(trial):<42} {format_settings(trial.settings) or 'defaults'}"


def run_line(measurement: Measurement) -> str:
    """Say the figures of one run, or how it ended."""
    if not measurement.ok:
        return f"{measurement.status.value}: {printable(measurement.message)}".rstrip(": ")
    if measurement.total_amount == NOTHING:
        return "no I/O seen"
    seconds = amount_words(measurement, "io_seconds")
    rate = measurement.bandwidth
    bandwidth = format_bandwidth(rate.least) if rate.is_exact else "bandwidth unknown"
    return f"I/O {seconds}   {bandwidth}"


def _outcome(trial: Trial) -> str:
    if trial.state in (TrialState.FAILED, TrialState.LOST, TrialState.REJECTED):
        message = printable(trial.message)
        return f"{trial.state.value.upper()}: {message}" if message else trial.state.value.upper()
    figures = digest(trial.measurements)
    text = f"I/O {amount_words(figures, 'io_seconds')}" if not trial.case_ratios else "I/O"
    if math.isfinite(trial.io_ratio) and trial.io_ratio > 0:
        text += f"   {format_ratio(1 / trial.io_ratio)}x"
    if ratios := part_ratios(trial):
        text += f" ({ratios})"
    runs = plural(figures.n_runs, "run")
    return f"{text}   {runs}{', stopped early' if trial.state is TrialState.HOPELESS else ''}"


def part_ratios(trial: Trial) -> str:
    """Say the speed-ups of the cases, or of the classes of files: "plt*.h5 3.1x, chk*.h5 0.4x"."""
    return ", ".join(
        f"{printable(name)} {format_ratio(1 / ratio)}x"
        for name, ratio in (trial.case_ratios or trial.class_ratios).items()
        if ratio > 0
    )


def role_name(slot: RunSlot) -> str:
    """Say which run it is: "trial 4", "fresh pair 2: best", "small: baseline run"."""
    where = f"{printable(slot.case)}: " if slot.case else ""
    if slot.role is RunRole.BASELINE and slot.trial_number is not None:
        return f"{where}baseline beside trial {slot.trial_number}"
    return where + _ROLE[slot.role].format(trial=slot.trial_number, pair=slot.pair_number or "")


def facts_phrase(facts: ProgramFacts) -> str:
    """Say in one line what the first run showed."""
    mpiio = facts.mpiio_implementation
    how = {
        {"romio": "ROMIO", "ompio": "OMPIO"}.get(mpiio, mpiio): mpiio,
        "collective": facts.collective_bytes,
        "independent": facts.independent_bytes,
    }
    interfaces = {
        "ADIOS2": facts.uses_adios2,
        "netCDF-4": facts.uses_netcdf4,
        "parallel HDF5" if facts.uses_parallel_hdf5 else "HDF5": facts.uses_hdf5,
        "PnetCDF": facts.uses_pnetcdf,
        f"MPI-IO ({', '.join(name for name, used in how.items() if used)})": mpiio,
        "POSIX": facts.posix_bytes,
    }
    parts = [
        plural(facts.n_ranks, "rank"),
        " + ".join(name for name, used in interfaces.items() if used),
        _mpi_name(facts.mpi_version),
        f"pattern {printable(facts.pattern)}" if facts.pattern else "",
    ]
    return ", ".join(part for part in parts if part)


def _mpi_name(version: str) -> str:
    """Shorten what an MPI says of itself: "Open MPI v4.1.4", "MPICH 4.0.2"."""
    words = version.strip().partition(",")[0].split()
    return printable(" ".join(word for word in words if word != "Version:"))
