# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command in place with the library, and reads the recorded evidence."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core import Configuration, SeriesRule, is_elf, is_static, temporary_directory
from stripewise.core.errors import ContainerError, ProgramError, StorageError
from stripewise.run.runtime._environment import (
    ENV_SERIES,
    Runtime,
    own_outputs,
    preload_environment,
)
from stripewise.run.runtime._launch_lines import ranks_of_command

if TYPE_CHECKING:
    from stripewise.evidence.containers import Handshake
    from stripewise.evidence.trace import Evidence, RunProfile
    from stripewise.storage.emulation import EmulatedRun, EmulatedStorage, Emulation

_FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_SI_KERNEL = 0x80
_UNCHANGED = Configuration()
_ENV_NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES")


@dataclass(frozen=True)
class InPlaceRun:
    """A run in the user's own directory.

    Attributes:
        run_id: UUID as text.
        exit_code: Exit code of the command, or minus the number of a signal.
        elapsed_seconds: Wall-clock time of the command.
        profile: Profile from its containers.
        handshake: Evidence that the library was loaded in the program.
        environment: Complete environment of the command.
        containers: Directory of its containers, while they are kept.
        problem: Why its containers could not be read; empty if they could.
        emulated: Figures recorded by the emulated storage; None without emulation.
        series: Outcome of the settings for later files of a series; None if none were given.
        evidence: All evidence in its containers, if requested.
    """

    run_id: str
    exit_code: int
    elapsed_seconds: float
    profile: RunProfile
    handshake: Handshake
    environment: Mapping[str, str]
    containers: Path
    problem: str = ""
    emulated: EmulatedRun | None = None
    series: SeriesOutcome | None = None
    evidence: Evidence | None = None

    @property
    def shell_exit_code(self) -> int:
        """Exit code as a shell reports it: 128 plus the number of a signal."""
        return 128 - self.exit_code if self.exit_code < 0 else self.exit_code


def run_in_place(
    command: Sequence[str],
    runtime: Runtime,
    *,
    configuration: Configuration = _UNCHANGED,
    sync: bool = False,
    keep: Path | None = None,
    capture: str = "",
    containers: Path | None = None,
    allowed: Collection[str] = (),
    storage: EmulatedStorage | None = None,
    root: Path | None = None,
    servers: Path | None = None,
    series: Sequence[SeriesRule] = (),
    whole: bool = False,
) -> InPlaceRun:
    """Run a command with this process's own standard streams and directory.

    SIGINT, SIGTERM and similar signals are forwarded to it; Ctrl-C on a terminal reaches it anyway
    and is not forwarded again.

    Args:
        command: Command to run, into which the configuration's ranks and threads are put.
        runtime: Runtime to preload.
        configuration: Configuration to apply; none if not given.
        sync: Whether to call fsync at close.
        keep: Directory in which the containers are kept, in a subdirectory of the run; if not
            given, they are removed.
        capture: How to record single calls: "fold", "all", or empty for counters only.
        containers: Directory for the containers, which keeps them; it must exist on every node.
            Only containers on this node are read.
        allowed: Variables that the configuration may set although they can run code.
        storage: Storage system to emulate for files below `root`, which are then not fsync'ed.
        root: Directory for the emulation; the current one if not given.
        servers: Directory to which counters of the storage's servers are written, as Lustre
            parameters.
        series: Settings from the second file of a series on, if the ranks can agree on them.
        whole: Whether to read recorded single calls too.

    Raises:
        ConfigurationError: The configuration contains a variable that can run code.
        ProgramError: The command cannot be started.
        StorageError: There is not enough space for the containers, `root` cannot be emulated, or
            `servers` cannot be written.
        StudyError: Another run emulates storage in `root`.
        UsageError: The configuration's ranks or threads cannot be put into the command.
    """
    run_id = str(uuid.uuid4())
    if configuration.job.resources:
        from stripewise.run.runtime._resources import command_with_resources

        command = command_with_resources(command, configuration.job)
    root = Path.cwd() if root is None else root
    with _container_directory(keep, run_id, containers) as directory, ExitStack() as stack:
        environment = preload_environment(
            runtime,
            directory=directory,
            run_id=run_id,
            configuration=configuration,
            sync=sync and storage is None,
            include=() if storage is None else (root.resolve(),),
            outputs=own_outputs(),
            capture=capture,
            allowed=allowed,
            series=series,
        )
        mapping = None
        if series:
            mapping = stack.enter_context(SeriesMapping.begin(command))
            environment |= mapping.variables
        emulation = None
        if storage is not None:
            from stripewise.storage.emulation import Emulation

            ranks = ranks_of_command(command) or 0
            made = Emulation.begin(storage, root, environment, run_id, ranks)
            emulation = stack.enter_context(made)
            environment |= emulation.variables
            _write_servers(emulation, servers)  # so that a failure occurs before the run
        start = time.monotonic()
        code = _run(command, environment)
        elapsed = time.monotonic() - start
        emulated = emulation.read() if emulation is not None else None
        _write_servers(emulation, servers)
        outcome = mapping.read() if mapping is not None else None
        evidence, seen, problem = _read(directory, command, whole=whole)
    return InPlaceRun(
        run_id,
        code,
        elapsed,
        evidence.profile,
        seen,
        environment,
        directory,
        problem,
        emulated,
        outcome,
        evidence if whole else None,
    )


def _write_servers(emulation: Emulation | None, directory: Path | None) -> None:
    if emulation is not None and directory is not None:
        from stripewise.storage.emulation import write_tree

        write_tree(emulation.path, directory)


@contextmanager
def _container_directory(keep: Path | None, run_id: str, given: Path | None) -> Iterator[Path]:
    """Yield a directory for the containers, which all nodes of the job see."""
    if given is not None:
        yield given.absolute()
        return
    shared = _has_several_nodes(os.environ)
    with ExitStack() as stack:
        try:
            if keep is not None:
                directory = keep.absolute() / run_id
                directory.mkdir(parents=True)
            else:
                made = temporary_directory("run", Path.cwd() if shared else None)
                directory = stack.enter_context(made)
        except OSError as error:
            raise StorageError(
                f"no directory for containers: {error}; "
                "--keep-containers DIR or TMPDIR names another place"
            ) from error
        yield directory


def _read(
    directory: Path, command: Sequence[str], *, whole: bool
) -> tuple[Evidence, Handshake, str]:
    """Return the counters of a run, its handshake, and why they could not be read.

    The readers are imported here, after the end of the program.
    """
    from stripewise.evidence.containers import handshake, read_containers, read_run
    from stripewise.evidence.trace import Evidence

    paths = sorted(directory.glob("*.sw"))
    try:
        found = read_run(paths) if whole else Evidence(read_containers(paths))
        problem = ""
    except ContainerError as error:
        found, problem = Evidence(read_containers([])), str(error)
    return found, handshake(found.profile, command), problem


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start the command, wait for it and forward signals; return its exit code."""
    waited = {signal.SIGCHLD, *_FORWARDED}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        child = _start(command, environment, before)
        while child.poll() is None:
            found = signal.sigtimedwait(waited, 1.0)
            if found is None or found.si_signo == signal.SIGCHLD:
                continue
            if found.si_code != _SI_KERNEL and child.poll() is None:
                child.send_signal(found.si_signo)
        return child.returncode
    finally:
        while signal.sigtimedwait(waited, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(
    command: Sequence[str], environment: Mapping[str, str], mask: Iterable[int]
) -> subprocess.Popen[bytes]:
    def restore() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    try:
        return subprocess.Popen(list(command), env=dict(environment), preexec_fn=restore)
    except FileNotFoundError as error:
        raise ProgramError(
            f"{command[0]}: no such program (nothing was run); check its name and PATH"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramError(f"{command[0]}: cannot be started: {reason}") from error


def _has_several_nodes(environment: Mapping[str, str]) -> bool:
    """Return whether this process is in a job of several nodes."""
    return any(environment.get(name, "1") != "1" for name in _ENV_NODES)


# Settings from the second file of a series on: agreement between the ranks, and its outcome.
#
# The mapping is that of native/include/stripewise/series.h; a test compares the two.

MAGIC = b"SWSERIES"
VERSION = 1
SLOTS = 4096
HEADER = struct.Struct("<8sIIQ7I12x")
REASONS = (
    "its ranks differ in what they open, or in the hints that they give",
    "the table has no settings for such files",
    "nothing was known of a first file when the next one was opened",
    "a rank could not add the hints to those of the program",
    "not every rank was there when the first file was opened",
)
"""Why opened files got no settings; the index is the bit in `reasons` (SW_SERIES_*)."""

_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class SeriesOutcome:
    """Outcome of the settings for later files of a series.

    Attributes:
        opens: Number of opens by several ranks that the ranks negotiated.
        adopted: Number of files that were opened with settings.
        first: Number, in its series, of the first such file; 0 if there is none.
        problem: Why the ranks could not negotiate at all; empty if they could.
        reasons: Why files got no settings, a clause each.
    """

    opens: int = 0
    adopted: int = 0
    first: int = 0
    problem: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Outcome in one line for people."""
        if self.adopted:
            plural = "" if self.adopted == 1 else "s"
            return (
                f"from file {self.first} of a series on, settings for such files were applied "
                f"({self.adopted} file{plural})"
            )
        why = self.problem or "; ".join(self.reasons)
        return f"no settings for a series of files: {why}" if why else ""


@dataclass(frozen=True)
class SeriesMapping:
    """The file by which the ranks of a run know that all of them have loaded the library.

    Attributes:
        path: Path of the file; None if the ranks must not change any settings.
        problem: Why they must not; empty otherwise.
    """

    path: Path | None
    problem: str = ""

    @classmethod
    @contextmanager
    def begin(cls, command: Sequence[str]) -> Iterator[SeriesMapping]:
        """Create the file for a command, and remove it afterwards.

        There is no file if the command may start ranks without the library, or if this host has no
        file system in memory.
        """
        if problem := ranks_not_shown(command):
            yield cls(None, problem)
            return
        try:
            with temporary_directory("series", _MEMORY) as directory:
                path = directory / "series"
                header = HEADER.pack(MAGIC, VERSION, SLOTS, *[0] * 8)
                path.write_bytes(header + bytes(4 * SLOTS))
                yield cls(path)
        except StorageError as error:
            yield cls(None, f"{_MEMORY} cannot be used ({error})")

    @property
    def variables(self) -> dict[str, str]:
        """Variables for the command's environment."""
        return {} if self.path is None else {ENV_SERIES: str(self.path)}

    def read(self) -> SeriesOutcome:
        """Return the outcome, after the end of the run."""
        if self.path is None:
            return SeriesOutcome(problem=self.problem)
        try:
            fields = HEADER.unpack(self.path.read_bytes()[: HEADER.size])
        except (OSError, struct.error):
            return SeriesOutcome(problem=f"{self.path} was lost during the run")
        _, _, _, _, _, _, _, first, opens, adopted, reasons = fields
        clauses = tuple(text for bit, text in enumerate(REASONS) if reasons >> bit & 1)
        return SeriesOutcome(opens, adopted, first, "", clauses)


def ranks_not_shown(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return why a command may start ranks without the library; empty if all ranks load it.

    The ranks themselves determine whether all of them are present; this function detects, before
    the start, commands for which this is impossible.

    Args:
        command: Command of the run.
        environment: Environment of this process, for tests.
    """
    from stripewise.core import drops_preload, executables_in, is_helper, is_launcher

    given = os.environ if environment is None else environment
    if _has_several_nodes(given):
        return "the job has several nodes, and ranks can only agree on one"
    if ":" in command:
        return "the command starts several programs"
    programs = [path for path in executables_in(command) if not is_launcher(path.name)]
    for path in programs[:1]:
        if is_helper(path.name) or not is_elf(path):
            return f"{path.name} may start programs that do not have the library"
        if is_static(path):
            return f"{path} is statically linked"
        if why := drops_preload(path):
            return f"{path} {why}"
    return "" if programs else "the command names no program"
