# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Begins and ends one run on an emulated storage, and claims the mapping of its directory."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil, log2
from pathlib import Path
from types import TracebackType

from stripewise.core.errors import StorageError, StudyError, UsageError
from stripewise.present import plural, printable, text_of
from stripewise.storage.emulation import _mapping
from stripewise.storage.emulation._layout import check_attributes
from stripewise.storage.emulation._mapping import read_root
from stripewise.storage.emulation._storage import EmulatedStorage
from stripewise.storage.machines import Transport

# Results of a run on an emulated storage, from the counters of its mapping.


LATE_SHARE = 0.05
"""If the host causes more than this share of the requests' time, it was the limit."""
_LEAST_SHARE = 0.01
_WORDS = {
    "request": "each request's own time",
    "exchange": "the exchange of collective buffering",
    "lock": "locks",
    "process": "single processes",
    "file": "a node into one file",
    "node": "the nodes' links",
    "target": "the targets",
    "whole": "the storage as a whole",
    "metadata": "the metadata server",
}


@dataclass(frozen=True)
class EmulatedRun:
    """Results of one run on an emulated storage.

    Attributes:
        storage: Identity of the storage that was emulated: "archer2-hdd@1/64".
        machine: Name that the user gave it, with its slow motion; slowdown: factor of that.
        processes: Number of processes that used the emulation.
        writes / reads / metadata: Number of requests; held: number of those that were held back.
        held_seconds / model_seconds: Sums over the requests: time held back, and duration on the
            storage.
        late / late_seconds: Requests that this host ended clearly later, and by how much.
        limits: Share of the requests' waiting time by resource, largest first.
        ranks_per_node: Number of ranks on one virtual node.
        transport: Set-up of the network; hangs_from_nodes: number of nodes from which jobs hang
            with it; 0 if they never do.
        mapped / rings / static_programs: Memory maps of files, processes with io_uring or libaio,
            and static programs that were started: all of these bypass the emulation.
        notes: Other deviations from what was requested, for the user.
    """

    storage: str
    machine: str = ""
    slowdown: float = 1.0
    processes: int = 0
    writes: int = 0
    reads: int = 0
    metadata: int = 0
    held: int = 0
    held_seconds: float = 0.0
    model_seconds: float = 0.0
    late: int = 0
    late_seconds: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)
    ranks_per_node: int = 1
    transport: str = ""
    hangs_from_nodes: int = 0
    mapped: int = 0
    rings: int = 0
    static_programs: int = 0
    notes: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Number of requests of all kinds."""
        return self.writes + self.reads + self.metadata

    @property
    def late_share(self) -> float:
        """Share of the requests' time that is caused by the host, not the storage."""
        whole = self.model_seconds + self.late_seconds
        return self.late_seconds / whole if whole > 0 else 0.0

    @property
    def host_was_the_limit(self) -> bool:
        """Whether the host is so late that the times are not those of the storage."""
        return self.late_share > LATE_SHARE

    @property
    def problem(self) -> str:
        """Reason why the run does not count, with the remedy; empty if it does count."""
        if not self.host_was_the_limit:
            return ""
        return (
            f"the host was the limit: {plural(self.late, 'request')} took {self.late_seconds:.3g}"
            f" s longer here than on {self.machine.partition('@')[0]} ({self.late_share:.0%} of "
            f"the time of all requests), so this run does not count; {self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """Remedy that names a slower motion in which the host would be fast enough."""
        needed = self.slowdown * 2 * (1 + self.late_seconds / max(self.model_seconds, 1e-9))
        power = min(2 ** ceil(log2(needed)), 1 << 20)
        return f"emulate in slower motion: --on {self.machine.partition('@')[0]}@1/{power}"

    def why_it_hangs(self, n_ranks: int) -> str:
        """Return why a run on this number of ranks would hang on the storage; empty if not."""
        nodes = ceil(n_ranks / self.ranks_per_node)
        if not 0 < self.hangs_from_nodes <= nodes:
            return ""
        return (
            f"jobs of {self.hangs_from_nodes} nodes or more hang on "
            f"{self.machine.partition('@')[0]} with the transport {self.transport}, and this one "
            f"is on {nodes} virtual nodes, so this run does not count; choose another transport"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Remarks on the run for the user, except for the problem."""
        found = []
        if not self.requests:
            found.append(
                "no request was held back: the program made none below the emulated directory "
                "(--root names another one)"
            )
        if self.mapped:
            maps = plural(self.mapped, "memory map")
            found.append(f"{maps} of files bypassed the emulation: that I/O was not held back")
        if self.rings:
            processes = plural(self.rings, "process", "processes")
            found.append(f"{processes} used io_uring or libaio, which the emulation does not see")
        if self.static_programs:
            programs = plural(self.static_programs, "statically linked program")
            found.append(
                f"{programs} that the command started bypassed the emulation: that I/O was "
                "not held back; link such programs dynamically"
            )
        return (*found, *self.notes)

    @property
    def limits_text(self) -> str:
        """Resources that requests waited for: "single processes 62 %, the targets 35 %"."""
        shown = {name: share for name, share in self.limits.items() if share >= _LEAST_SHARE}
        return ", ".join(f"{_WORDS[name]} {share:.0%}" for name, share in shown.items())


def emulated_run(
    counters: Mapping[str, int],
    *,
    storage: str,
    machine: str,
    slowdown: float,
    ranks_per_node: int = 1,
    transport: Transport | None = None,
) -> EmulatedRun:
    """Return the results of a run from the counters of a mapping.

    Args:
        counters: Values by name; times in nanoseconds.
        storage: Identity of the storage, for people.
        machine: Name that the user gave it.
        slowdown: Factor of its slow motion.
        ranks_per_node: Number of ranks on one virtual node.
        transport: Set-up of the network that the run had.
    """
    spent = {
        name.removeprefix("limit."): value
        for name, value in counters.items()
        if name.startswith("limit.") and value
    }
    whole = sum(spent.values())
    order = sorted(spent, key=lambda name: -spent[name])
    return EmulatedRun(
        storage=storage,
        machine=machine,
        slowdown=slowdown,
        held_seconds=counters["held_ns"] / 1e9,
        model_seconds=counters["model_ns"] / 1e9,
        late_seconds=counters["late_ns"] / 1e9,
        ranks_per_node=ranks_per_node,
        transport=transport.name if transport else "",
        hangs_from_nodes=transport.hangs_from_nodes if transport else 0,
        limits={name: spent[name] / whole for name in order},
        notes=tuple(text for name, text in _NOTES.items() if counters[name]),
        **{name: counters[name] for name in _PLAIN},
    )


_PLAIN = (
    "processes",
    "writes",
    "reads",
    "metadata",
    "held",
    "late",
    "mapped",
    "rings",
    "static_programs",
)
_NOTES = {
    "tables_full": "more files were used than the emulation has clocks: some shared a clock",
    "stripes_cut": "a layout asked for more stripes than there are targets: it got all targets",
    "layouts_refused": "a layout was not valid for the storage, or an attribute of a file or "
    "directory is not a layout (see `stripewise machine layout get`): the "
    "default was used for it",
    "layouts_unkept": "a layout could not be kept as an attribute of its file",
}


ENV_EMULATE = "STRIPEWISE_EMULATE"


@dataclass
class Emulation:
    """Clocks of one run; a context manager that always removes them.

    Attributes:
        storage: Storage that is emulated.
        root: Real path of the directory that contains its files.
        path: Path of the mapping.
        transport: Set-up of the network that the run has.
    """

    storage: EmulatedStorage
    root: Path
    path: Path
    _descriptor: int
    transport: Transport | None = None

    @classmethod
    def begin(
        cls,
        storage: EmulatedStorage,
        root: Path,
        environment: Mapping[str, str] = os.environ,
        run_id: str = "",
        ranks: int = 0,
    ) -> Emulation:
        """Create clocks for a run in a directory.

        Args:
            storage: Storage to emulate.
            root: Directory; files below it are on that storage.
            environment: Environment of the run, which can choose the transport.
            run_id: Identifier of the run; noise depends on it.
            ranks: Number of ranks of the run; 0 if unknown.

        Raises:
            UsageError: The directory does not exist, or its path is too long.
            StorageError: It cannot be written, supports no attributes, or has no space left.
            StudyError: Another run is emulating it.
        """
        real = _checked(root)
        head = _mapping.header(storage, str(real), environment, run_id, ranks)
        with one_at_a_time():
            path, descriptor = claim(real)
            made = cls(storage, real, path, descriptor, storage.transport(environment))
            try:
                _mapping.write_mapping(descriptor, head, storage.options.first)
            except BaseException:
                made.end()
                raise
        return made

    @classmethod
    def find_again(cls, storage: EmulatedStorage, root: Path) -> Emulation | None:
        """Return the clocks of a run whose tuner is dead; None if they no longer exist."""
        found = find_again(Path(os.path.realpath(root)))
        if found is None:
            return None
        return cls(storage, Path(os.path.realpath(root)), *found)

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that the run needs."""
        return {ENV_EMULATE: str(self.path)}

    def read(self) -> EmulatedRun:
        """Return the results of the run so far."""
        return emulated_run(
            _mapping.read_counters(self._descriptor),
            storage=self.storage.identity,
            machine=self.storage.options.machine,
            slowdown=self.storage.storage.slowdown,
            ranks_per_node=self.storage.options.ranks_per_node,
            transport=self.transport,
        )

    def end(self) -> None:
        """Remove the mapping; processes that still use it continue with theirs."""
        if self._descriptor >= 0:
            release(self.path, self._descriptor)
            self._descriptor = -1

    def forget(self) -> None:
        """Close the mapping in a forked copy of its owner, without removing it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Emulation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()


def _checked(root: Path) -> Path:
    """Return the real path of a directory that can represent a storage."""
    real = Path(os.path.realpath(root))
    try:
        mode = real.stat().st_mode
    except OSError as error:
        raise UsageError(f"--root {root}: {error.strerror}; give a directory") from None
    if not stat.S_ISDIR(mode):
        raise UsageError(f"--root {root} is not a directory")
    if not os.access(real, os.W_OK | os.X_OK):
        raise StorageError(f"--root {root} cannot be written; give a directory of your own")
    check_attributes(real)
    return real


# File of a mapping: one for each emulated directory, removed when its owner ends.

_PREFIX = "stripewise-emulation"
_SHARED_MEMORY = Path("/dev/shm")
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OWNER_ONLY = 0o600
_PATIENCE_SECONDS = 5.0


def home() -> Path:
    """Return the directory of mappings: in memory if the system has a place for that."""
    usable = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK | os.X_OK)
    return _SHARED_MEMORY if usable else Path(tempfile.gettempdir())


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Exclude other processes from claiming; ignore one that has stopped, after a while."""
    descriptor = os.open(home(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with suppress(OSError):  # directories cannot be locked here
            while not _lock(descriptor) and time.monotonic() < deadline:
                time.sleep(0.002)
        yield
    finally:
        os.close(descriptor)


def claim(root: Path) -> tuple[Path, int]:
    """Create the file of a directory's mapping and lock it for this process.

    The lock is held by the kernel: it ends with this process, for whatever reason. Others
    recognise its directory once the root is written in it; until then, claims are serialised.

    Args:
        root: Real path of the directory.

    Returns:
        Path and descriptor; the file is empty.

    Raises:
        StudyError: The directory, or one above or below it, is already being emulated.
        StorageError: The file cannot be created.
    """
    status = root.stat()
    path = home() / f"{_prefix()}-{status.st_dev:x}-{status.st_ino:x}"
    for other, owner in _active_mappings():
        if root.is_relative_to(other) or Path(other).is_relative_to(root):
            raise _in_use(other, owner)
    try:
        while True:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, _OWNER_ONLY)
            if _is_own(descriptor) and _lock(descriptor) and _is_at(path, descriptor):
                os.ftruncate(descriptor, 0)
                return path, descriptor
            is_free, owner = (
                _is_own(descriptor) and not _is_at(path, descriptor),
                _owner(descriptor),
            )
            os.close(descriptor)
            if not is_free:  # otherwise its owner has ended meanwhile
                raise _in_use(str(root), owner)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot make {path}: {error.strerror}; see that it is free") from error


def release(path: Path, descriptor: int) -> None:
    """Remove a file that this process has claimed; no error if it no longer exists."""
    with suppress(OSError):
        if _is_at(path, descriptor):
            path.unlink()
    os.close(descriptor)


def find_again(root: Path) -> tuple[Path, int] | None:
    """Claim the file left by a dead process, with its contents; None if there is none."""
    try:
        status = root.stat()
        path = home() / f"{_prefix()}-{status.st_dev:x}-{status.st_ino:x}"
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None
    if _is_own(descriptor) and _lock(descriptor) and _is_at(path, descriptor):
        return path, descriptor
    os.close(descriptor)
    return None


def _prefix() -> str:
    return f"{_PREFIX}-{os.getuid()}"


def _active_mappings() -> Iterator[tuple[str, str]]:
    """Yield roots and owners of emulated directories; remove the files of dead processes."""
    for path in home().glob(f"{_prefix()}-*"):
        with _opened(path) as descriptor:
            if descriptor is None:
                continue
            if _lock(descriptor):
                with suppress(OSError):
                    if _is_at(path, descriptor):
                        path.unlink()
            elif root := read_root(descriptor):
                yield root, _owner(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Open a file of this user; None if it belongs to another one, or no longer exists."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        yield None
        return
    try:
        yield descriptor if _is_own(descriptor) else None
    finally:
        os.close(descriptor)


def _is_own(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    return status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether a file still has its name."""
    try:
        named, opened = os.lstat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _owner(descriptor: int) -> str:
    """Return the pid of the process that has the lock, from the kernel; empty if unknown."""
    inode = f":{os.fstat(descriptor).st_ino}"
    for line in text_of(Path("/proc/locks")).splitlines():
        words = line.split()  # 1: FLOCK ADVISORY WRITE 4711 00:1a:22 0 EOF.  Source: proc(5)
        if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(inode):
            return words[4]
    return ""


def _in_use(root: str, owner: str) -> StudyError:
    by = f" by process {owner}" if owner else ""
    return StudyError(
        f"storage is being emulated in {printable(root)} already{by}; wait for that run, or work "
        "in another directory"
    )
