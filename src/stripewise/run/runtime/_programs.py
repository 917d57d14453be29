# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Starts the built programs: benchmark kernels and the trace replay program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import OwnedDirectory
from stripewise.core.errors import ProgramError, RuntimeMissingError, UsageError
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.replay import Plan, build_plan, write_plan
from stripewise.run.runtime._environment import Runtime, find_runtime, launch_environment
from stripewise.run.runtime._mpi import MpiInstallation, detect_mpis, mpi_of_command
from stripewise.storage.machines import MpiStack

# Benchmark kernels: those that are built, and the words that start them.

WITHOUT_OMPIO = {"OMPI_MCA_io": "^ompio"}
"""Variable that makes Open MPI use its ROMIO, independent of its name in each version."""

_STACK_RANKS = (2, 4)


def built_program(
    runtime: Runtime, built: Mapping[str, Path], what: str, family: str | None
) -> tuple[str, Path]:
    """Return a family and its built program; the first one if no family is given.

    Raises:
        RuntimeMissingError: None is built, or none for this family.
    """
    if family is None and built:
        return next(iter(built.items()))
    if family is None or family not in built:
        which = f" for {family}" if family else ""
        raise RuntimeMissingError(
            f"no {what}{which} in {runtime.directory / 'bin'} (built: {', '.join(built) or 'none'}"
            "); install that MPI's compiler wrapper and run: stripewise doctor build"
        )
    return family, built[family]


def kernel_of_mpiexec(runtime: Runtime) -> str | None:
    """Return the name of the kernel that the `mpiexec` on PATH can start; None if unknown."""
    mpi = mpi_of_command(["mpiexec"])
    names = () if mpi is None else (f"{mpi.family}-{mpi.major}", mpi.family)
    return next((name for name in names if name in runtime.kernels), None)


def find_launcher(family: str) -> MpiInstallation:
    """Return an installation of a family that has a launcher.

    Raises:
        ProgramError: There is none on PATH.
    """
    for mpi in detect_mpis():
        if family in (mpi.family, f"{mpi.family}-{mpi.major}") and mpi.mpiexec:
            return mpi
    raise ProgramError(
        f"there is no mpiexec of {family} on PATH; install it, or start the kernel yourself: "
        f"srun $(stripewise bench kernel --path --mpi {family})"
    )


def mpiexec_words(mpi: MpiInstallation, ranks: int, options: Sequence[str] = ()) -> list[str]:
    """Return the words that start ranks, which allow Open MPI more ranks than cores."""
    words = [str(mpi.mpiexec), "-n", str(ranks)]
    if mpi.family == "openmpi" and ranks > len(os.sched_getaffinity(0)):
        words.append("--oversubscribe")
    return [*words, *options]


def collective_stacks() -> list[MpiStack]:
    """Return the MPI-IO stacks to measure: one for each MPI whose kernel is built.

    Open MPI's ROMIO is added to its own MPI-IO, since its independent transfers are a remedy too.
    """
    try:
        kernels = find_runtime().kernels
    except RuntimeMissingError:
        return []
    found: dict[str, list[MpiStack]] = {}
    for mpi in detect_mpis():
        kernel = kernels.get(mpi.family)
        if kernel is not None and mpi.mpiexec and mpi.family not in found:
            found[mpi.family] = list(_stacks_of(mpi, kernel))
    return [stack for stacks in found.values() for stack in stacks]


def _stacks_of(mpi: MpiInstallation, kernel: Path) -> Iterator[MpiStack]:
    for ranks in _STACK_RANKS:
        words = (*mpiexec_words(mpi, ranks), str(kernel))
        yield MpiStack(mpi.family, words, ranks, True, launch_environment({}))
        for collective in (True, False) if mpi.family == "openmpi" else ():
            environment = launch_environment(WITHOUT_OMPIO)
            yield MpiStack("openmpi-romio", words, ranks, collective, environment)


# Replays of a trace: the plan, its directory, and the command that runs it.

REPLAY_MARK = ".stripewise-replay"
"""Directory inside a replay's directory that contains the plan and marks its files."""


def check_compute(text: str) -> None:
    """Refuse an invalid way to treat the time between calls.

    Raises:
        UsageError: The text is not keep, none or a number.
    """
    try:
        good = text in ("keep", "none") or 0 <= float(text) < float("inf")
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"--compute {text!r}: write keep, none or a factor such as 0.5")


def read_plan(trace: Path) -> Plan:
    """Return the replay plan of a trace, with notes on calls that it leaves out.

    Raises:
        UsageError: It contains no single calls, or too many that cannot be replayed.
        StripewiseError: It cannot be read.
    """
    evidence = read_evidence(trace)
    if evidence.trace is None or not evidence.trace.source.startswith("stripewise"):
        raise UsageError(
            f"{trace} holds no single calls ({evidence.profile.source}); a replay needs a trace "
            "of Stripewise: stripewise run --trace -- COMMAND"
        )
    return build_plan(evidence.trace, evidence.profile)


def replay_program(runtime: Runtime, family: str | None) -> tuple[str, Path]:
    """Return a family and its replay program; the first one if no family is given.

    Raises:
        RuntimeMissingError: None is built, or none for this family.
    """
    return built_program(runtime, runtime.replays, "replay program", family)


@dataclass(frozen=True)
class Replay:
    """A replay plan in its directory.

    Attributes:
        plan: Plan to replay.
        directory: Absolute path of the directory with the inputs and REPLAY_MARK.
        program: Path of the replay program.
        launcher: Words that start as many ranks as the plan has.
        compute: Treatment of the time between calls: "keep", "none" or a factor.
    """

    plan: Plan
    directory: Path
    program: Path
    launcher: Sequence[str]
    compute: str = "keep"

    def command(self, *more: str, directory: str = "") -> list[str]:
        """Return the words that replay in a directory; in its own if not given."""
        words = [*self.launcher, str(self.program)]
        words += ["--plan", str(self.directory / REPLAY_MARK / "plan")]
        where = directory or str(self.directory)
        return [*words, "--directory", where, "--compute", self.compute, *more]

    def prepare(self) -> None:
        """Write the plan and create the files to read.

        Raises:
            StudyError: The directory contains other files, or is not private to the user.
            StorageError: It cannot be written.
            ProgramError: An input cannot be created.
        """
        OwnedDirectory.take(self.directory, "replay").inside(REPLAY_MARK).make()
        write_plan(self.plan, self.directory / REPLAY_MARK / "plan")
        words = self.command("--prepare")
        done = subprocess.run(words, env=launch_environment(), capture_output=True, text=True)
        if done.returncode:
            printed = (done.stderr or done.stdout).splitlines()
            worded = (line.strip() for line in printed if any(map(str.isalpha, line)))
            raise ProgramError(f"the replay cannot be prepared: {next(worded, 'no reason given')}")


def check_ranks(plan: Plan, ranks: int | None) -> None:
    """Refuse a number of ranks that differs from that of the trace.

    Raises:
        UsageError: It differs; the message has the number of the trace.
    """
    if ranks is not None and ranks != plan.n_ranks:
        raise UsageError(
            f"the trace is of {plan.n_ranks} ranks and cannot be replayed with {ranks}; leave "
            f"the number out, or give {plan.n_ranks}"
        )
