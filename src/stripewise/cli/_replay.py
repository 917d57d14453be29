# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Replays of a trace: the plan, its directory, the command that runs it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import mpiexec_words, note
from stripewise.errors import (
    ContainerError,
    ProgramError,
    RuntimeMissingError,
    StorageError,
    UsageError,
)

if TYPE_CHECKING:
    from stripewise.replay import Plan
    from stripewise.runtime import MpiInstallation, Runtime

MARK = ".stripewise-replay"
"""Directory inside of a replay's directory: it holds the plan, and says whose files these are."""


@dataclass(frozen=True)
class ReplayOptions:
    """What stands behind `--from`.

    Attributes:
        compute: "keep", "none" or a factor, of the time between calls.
        directory: Where the files go; None: a new one that is removed afterwards.
        ranks: As the user says; None: as in the trace.
        keep: The files stay.
    """

    compute: str = "keep"
    directory: Path | None = None
    ranks: int | None = None
    keep: bool = False


@click.command("--from", add_help_option=False)
@click.option("--compute", default="keep")
@click.option("--file", "directory", type=click.Path(path_type=Path))
@click.option("-np", "--np", "ranks", type=click.IntRange(min=1))
@click.option("--keep", is_flag=True)
def _options(**given: object) -> None:
    """Parse; it is never invoked."""


def replay_options(arguments: Sequence[str]) -> ReplayOptions:
    """Read the words that the command itself does not know.

    Raises:
        UsageError: One of them is no option of a replay.
    """
    try:
        given = _options.make_context("kernel --from", list(arguments)).params
    except click.UsageError as error:
        raise UsageError(
            f"{error.format_message()} (with --from: --compute, --file, --np and --keep)"
        ) from error
    options = ReplayOptions(**given)
    check_compute(options.compute)
    return options


def check_compute(text: str) -> None:
    """Refuse what is no way to treat the time between calls.

    Raises:
        UsageError: It is not keep, none or a number.
    """
    try:
        good = text in ("keep", "none") or 0 <= float(text) < float("inf")
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"--compute {text!r}: write keep, none or a factor such as 0.5")


def read_plan(trace: Path) -> Plan:
    """Return the plan of a trace, and say what it leaves out.

    Raises:
        UsageError: It holds no single calls, or too much that cannot be replayed.
        StripewiseError: It cannot be read.
    """
    from stripewise.readers import read_evidence
    from stripewise.replay import build_plan

    evidence = read_evidence(trace)
    if evidence.trace is None or not evidence.trace.source.startswith("stripewise"):
        raise UsageError(
            f"{trace} holds no single calls ({evidence.profile.source}); a replay needs a trace "
            "of Stripewise: stripewise trace -- COMMAND"
        )
    plan = build_plan(evidence.trace, evidence.profile)
    for text in plan.notes:
        note(text, kind="note")
    return plan


def traced_family(trace: Path) -> str | None:
    """Return the MPI that the traced program ran on; None if there is no telling."""
    from stripewise.readers import read_containers
    from stripewise.readers._container import MpiFamily

    paths = sorted(trace.glob("*.sw")) if trace.is_dir() else [trace]
    try:
        families = read_containers(paths).processes["mpi_family"]
    except (ContainerError, OSError):
        return None
    known = {int(MpiFamily.MPICH): "mpich", int(MpiFamily.OPENMPI): "openmpi"}
    return next((known[int(family)] for family in families if int(family) in known), None)


def replay_program(runtime: Runtime, family: str | None) -> tuple[str, Path]:
    """Return the family and the program that replays; the first one without a family.

    Raises:
        RuntimeMissingError: None is built, or none for this family.
    """
    if family is None and runtime.replays:
        return next(iter(runtime.replays.items()))
    if family is None or family not in runtime.replays:
        which = f" for {family}" if family else ""
        built = ", ".join(runtime.replays) or "none"
        raise RuntimeMissingError(
            f"no replay program{which} in {runtime.directory / 'bin'} (built: {built}); "
            "install that MPI's compiler wrapper and run: stripewise runtime build"
        )
    return family, runtime.replays[family]


@dataclass(frozen=True)
class Replay:
    """A plan in its directory.

    Attributes:
        plan: What is done.
        directory: Absolute; it holds the inputs, and MARK.
        program: That replays.
        mpi: Whose mpiexec starts it.
        launcher_options: Words for mpiexec.
        compute: As in `ReplayOptions`.
        line: Words that start it in the place of mpiexec and its options; None: none.
    """

    plan: Plan
    directory: Path
    program: Path
    mpi: MpiInstallation
    launcher_options: tuple[str, ...] = ()
    compute: str = "keep"
    line: tuple[str, ...] | None = None

    def command(self, *more: str, directory: str = "") -> list[str]:
        """Return the words that replay; `directory`: where, of its own if not given."""
        line = self.line or mpiexec_words(self.mpi, self.plan.n_ranks, self.launcher_options)
        words = [*line, str(self.program)]
        words += ["--plan", str(self.directory / MARK / "plan")]
        where = directory or str(self.directory)
        return [*words, "--directory", where, "--compute", self.compute, *more]

    def prepare(self) -> None:
        """Write the plan and make the files that are read.

        Raises:
            StorageError: The directory is somebody else's, or cannot be written.
            ProgramError: An input cannot be made.
        """
        from stripewise.replay import write_plan

        _claim(self.directory)
        write_plan(self.plan, self.directory / MARK / "plan")
        done = subprocess.run(self.command("--prepare"), capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr or done.stdout).splitlines()
            worded = (line.strip() for line in said if any(map(str.isalpha, line)))
            raise ProgramError(f"the replay cannot be prepared: {next(worded, 'no reason given')}")


def _claim(directory: Path) -> None:
    """Make the directory, or take one that is empty or was a replay's before."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        if any(directory.iterdir()) and not (directory / MARK).is_dir():
            raise StorageError(
                f"{directory} holds other files, which a replay might overwrite; give a new or "
                "empty directory"
            )
        (directory / MARK).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot use {directory}: {error.strerror or error}") from error


@contextmanager
def replay_directory(options: ReplayOptions) -> Iterator[Path]:
    """Give the directory of a replay; one that nobody named is removed afterwards."""
    if options.directory is not None:
        yield options.directory.absolute()
        return
    try:
        made = Path(tempfile.mkdtemp(prefix="stripewise-replay.", dir=Path.cwd()))
    except OSError as error:
        raise StorageError(f"cannot write in {Path.cwd()}: {error.strerror}") from error
    try:
        yield made
    finally:
        if options.keep:
            note(f"the files of the replay are in {made}")
        else:
            shutil.rmtree(made, ignore_errors=True)


def check_ranks(plan: Plan, ranks: int | None) -> None:
    """Refuse another number of ranks than the trace has.

    Raises:
        UsageError: With the number it has.
    """
    if ranks is not None and ranks != plan.n_ranks:
        raise UsageError(
            f"the trace is of {plan.n_ranks} ranks and cannot be replayed with {ranks}; leave "
            f"the number out, or give {plan.n_ranks}"
        )
