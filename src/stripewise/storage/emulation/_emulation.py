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

# What a run on an emulated storage showed, from the counters of its mapping.


LATE_SHARE = 0.05
"""More than this share of the requests' time is the host's: then it was the limit."""
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
    """One run, as the storage saw it.

    Attributes:
        storage: That was emulated: "archer2-hdd@1/64".
        machine: How the user named it, with its slow motion; slowdown: of it.
        processes: That were reached.
        writes / reads / metadata: Requests; held: of them, how many were held back.
        held_seconds / model_seconds: Sums over the requests: held back, and from beginning to
            end as the storage has it.
        late / late_seconds: Requests that this host ended clearly later, and by how much.
        limits: Resource to its share of the time that requests waited for, the largest first.
        ranks_per_node: On one virtual node.
        transport: Set-up of the network; hangs_from_nodes: jobs of so many nodes hang with it
            there; 0: none.
        mapped / rings / static_programs: Memory maps of files, processes with io_uring or libaio,
            and static programs that were started: what bypasses it.
        notes: What else went otherwise than asked; for the user.
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
        """Requests of all kinds."""
        return self.writes + self.reads + self.metadata

    @property
    def late_share(self) -> float:
        """Share of the requests' time that is the host's, not the storage's."""
        whole = self.model_seconds + self.late_seconds
        return self.late_seconds / whole if whole > 0 else 0.0

    @property
    def host_was_the_limit(self) -> bool:
        """Whether the times are not those of the storage."""
        return self.late_share > LATE_SHARE

    @property
    def problem(self) -> str:
        """Why the run does not count, with the remedy; "" if it does."""
        if not self.host_was_the_limit:
            return ""
        return (
            f"the host was the limit: {plural(self.late, 'request')} took {self.late_seconds:.3g}"
            f" s longer here than on {self.machine.partition('@')[0]} ({self.late_share:.0%} of "
            f"the time of all requests), so this run does not count; {self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """Name a slower motion in which the host would have had room to spare."""
        needed = self.slowdown * 2 * (1 + self.late_seconds / max(self.model_seconds, 1e-9))
        power = min(2 ** ceil(log2(needed)), 1 << 20)
        return f"emulate in slower motion: --on {self.machine.partition('@')[0]}@1/{power}"

    def why_it_hangs(self, n_ranks: int) -> str:
        """Say why a run on so many ranks would not have ended there; "" if it would."""
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
        """What a user should know of the run, the problem not among it."""
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
        """Say what requests waited for: "single processes 62 %, the targets 35 %"."""
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
    """Make sense of the counters of a mapping.

    Args:
        counters: Name to value; times in nanoseconds.
        storage: Identity of the storage, for people.
        machine: As the user names it.
        slowdown: Of its slow motion.
        ranks_per_node: On one virtual node.
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
    """The clocks of one run; a context that removes them whatever happens.

    Attributes:
        storage: That is emulated.
        root: Real path of the directory whose files are.
        path: Of the mapping.
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
        """Make fresh clocks for a run in a directory.

        Args:
            storage: To be emulated.
            root: Files below it are on that storage.
            environment: Of the run: it can choose the transport.
            run_id: Of the run; noise depends on it.
            ranks: Of the run; 0: not known.

        Raises:
            UsageError: There is no such directory, or its path is too long.
            StorageError: It cannot be written, keeps no attributes, or there is no room.
            StudyError: It is being emulated by another run.
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
        """Return the clocks of a run whose tuner is dead; None if they are gone."""
        found = find_again(Path(os.path.realpath(root)))
        if found is None:
            return None
        return cls(storage, Path(os.path.realpath(root)), *found)

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of the run needs."""
        return {ENV_EMULATE: str(self.path)}

    def read(self) -> EmulatedRun:
        """Return what the storage saw so far."""
        return emulated_run(
            _mapping.read_counters(self._descriptor),
            storage=self.storage.identity,
            machine=self.storage.options.machine,
            slowdown=self.storage.storage.slowdown,
            ranks_per_node=self.storage.options.ranks_per_node,
            transport=self.transport,
        )

    def end(self) -> None:
        """Remove the mapping; processes that still use it go on with theirs."""
        if self._descriptor >= 0:
            release(self.path, self._descriptor)
            self._descriptor = -1

    def forget(self) -> None:
        """Let go of the mapping in a forked copy of its owner; it is not removed."""
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
    """Return the real path of a directory that can stand for a storage."""
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


# The file of a mapping: one for each directory that is emulated, gone when its owner is.

_PREFIX = "stripewise-emulation"
_SHARED_MEMORY = Path("/dev/shm")
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OWNER_ONLY = 0o600
_PATIENCE_SECONDS = 5.0


def home() -> Path:
    """Return where mappings lie: in memory where the system has a place for that."""
    usable = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK | os.X_OK)
    return _SHARED_MEMORY if usable else Path(tempfile.gettempdir())


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Keep other processes from claiming; one that has stopped amid it is passed after a while."""
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
    """Make the file for a directory's mapping and lock it for this process.

    The lock is the kernel's: it ends with this process, whatever ends that.  Others see what it
    is for when the root is in it: until then, one at a time.

    Args:
        root: Real path of the directory.

    Returns:
        Path and descriptor; the file is empty.

    Raises:
        StudyError: The directory, one above or one below it is being emulated already.
        StorageError: The file cannot be made.
    """
    status = root.stat()
    path = home() / f"{_prefix()}-{status.st_dev:x}-{status.st_ino:x}"
    for other, owner in _living():
        if root.is_relative_to(other) or Path(other).is_relative_to(root):
            raise _in_use(other, owner)
    try:
        while True:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, _OWNER_ONLY)
            if _is_own(descriptor) and _lock(descriptor) and _is(path, descriptor):
                os.ftruncate(descriptor, 0)
                return path, descriptor
            is_free, owner = _is_own(descriptor) and not _is(path, descriptor), _owner(descriptor)
            os.close(descriptor)
            if not is_free:  # else its owner has ended in between
                raise _in_use(str(root), owner)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot make {path}: {error.strerror}; see that it is free") from error


def release(path: Path, descriptor: int) -> None:
    """Remove a file that this process has claimed; no error if it is gone."""
    with suppress(OSError):
        if _is(path, descriptor):
            path.unlink()
    os.close(descriptor)


def find_again(root: Path) -> tuple[Path, int] | None:
    """Claim the file that a process left which is dead, as it is; None if there is none."""
    try:
        status = root.stat()
        path = home() / f"{_prefix()}-{status.st_dev:x}-{status.st_ino:x}"
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None
    if _is_own(descriptor) and _lock(descriptor) and _is(path, descriptor):
        return path, descriptor
    os.close(descriptor)
    return None


def _prefix() -> str:
    return f"{_PREFIX}-{os.getuid()}"


def _living() -> Iterator[tuple[str, str]]:
    """Yield roots and owners of what is being emulated; remove what dead processes left."""
    for path in home().glob(f"{_prefix()}-*"):
        with _opened(path) as descriptor:
            if descriptor is None:
                continue
            if _lock(descriptor):
                with suppress(OSError):
                    if _is(path, descriptor):
                        path.unlink()
            elif root := read_root(descriptor):
                yield root, _owner(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Open a file of this user's; None if it is none, or is gone."""
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


def _is(path: Path, descriptor: int) -> bool:
    """Whether a file still has its name."""
    try:
        named, opened = os.lstat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _owner(descriptor: int) -> str:
    """Return the pid of the process that has the lock, as the kernel tells; "" if not."""
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
