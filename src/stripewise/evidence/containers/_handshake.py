# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether the library saw the program, and reports what the counters of files leave out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import (
    Gap,
    ReportedPart,
    drops_preload,
    executables_in,
    holds,
    is_elf,
    is_helper,
    is_launcher,
    is_static,
    starts_ranks,
)
from stripewise.evidence.containers.container import NOTE_UNSEEN
from stripewise.evidence.trace import (
    Action,
    FileFlag,
    PluginState,
    ProcessFlag,
    RunProfile,
    requested_bytes,
)

# What the counters of a file leave out, according to the marks on them.

READS_MAPPED = "the program reads files through memory mappings: that I/O is not counted"
WRITES_MAPPED = "the program writes files through shared memory mappings: that I/O is not counted"
UNFETCHED = (
    "the program does not ask for the results of asynchronous requests (aio_return): what these "
    "moved is not counted"
)
_OPENED = (
    (FileFlag.OPENED_READ, ReportedPart.READ_BYTES),
    (FileFlag.OPENED_WRITE, ReportedPart.WRITE_BYTES),
)


def gaps_of_files(rows: NDArray[Any]) -> Iterator[Gap]:
    """Yield the amounts of files that are unknown or incomplete, and why.

    Args:
        rows: (n,) `COUNTER_ROW` of the files.
    """
    for flag, part, why in (
        (FileFlag.MAPPED, ReportedPart.READ_BYTES, READS_MAPPED),
        (FileFlag.MAPPED_SHARED, ReportedPart.BYTES, WRITES_MAPPED),
    ):
        yield from _gap(rows, flag, part, why)
    yield from gaps_of_opened(rows, FileFlag.UNFETCHED, UNFETCHED)


def gaps_of_opened(rows: NDArray[Any], flag: FileFlag, why: str) -> Iterator[Gap]:
    """Yield a gap for the directions (reading, writing) in which marked files were opened."""
    marked = rows["file"][(rows["flags"] & flag) != 0]
    if len(marked):
        of_marked = rows[np.isin(rows["file"], marked)]
        for opened, part in _OPENED:
            yield from _gap(of_marked, opened, part, why)


def _gap(rows: NDArray[Any], flag: FileFlag, part: ReportedPart, why: str) -> Iterator[Gap]:
    files = frozenset(rows["file"][(rows["flags"] & flag) != 0].tolist())
    if files:
        yield Gap(part | ReportedPart.SECONDS, why, files)


# Whether the library saw the program; if not, why, and what to do.

_NO_IO = (
    "the program did no I/O that is counted; files below /dev (such as /dev/shm), /run, /usr, "
    "/opt and other system directories are ignored unless STRIPEWISE_INCLUDE=DIRECTORY names "
    "their directory"
)


UNCOUNTED = (
    (
        ProcessFlag.USES_IO_URING,
        ReportedPart.BYTES | ReportedPart.SECONDS,
        "the program uses io_uring or libaio: that I/O is not counted",
    ),
    (
        ProcessFlag.USES_SHARED_MMAP,
        ReportedPart.BYTES | ReportedPart.SECONDS,
        WRITES_MAPPED,
    ),
    (
        ProcessFlag.LOST_OTHERS,
        ReportedPart.CALLS,
        "calls without data that were made inside others (in a signal handler, or by another "
        "preloaded library) are not counted",
    ),
)
"""Activities of processes that are not counted: the flag, missing amounts, message."""


class HandshakeState(StrEnum):
    """State of the measurement, according to the marks in the containers."""

    OK = "ok"
    NO_IO = "no-io"
    """The program was seen, but it made no I/O call on a regular file."""
    STATIC = "static"
    SETUID = "setuid"
    DROPPED = "dropped"
    PLUGIN_MISSING = "plugin-missing"
    PLUGIN_WRONG = "plugin-wrong"
    RANKS_MISSING = "ranks-missing"
    RANKS_DIED = "ranks-died"
    """Some ranks began and ended before MPI_Init returned in the others."""
    RANKS_APART = "ranks-apart"
    """The launcher belongs to another MPI: each rank is the only one of its own job."""


_PLUGINS = {
    PluginState.MISSING: (
        HandshakeState.PLUGIN_MISSING,
        "for which no plug-in is built",
    ),
    PluginState.WRONG: (
        HandshakeState.PLUGIN_WRONG,
        "and the plug-in found was built for another MPI",
    ),
}
"""Problems of the MPI plug-in in a process."""


@dataclass(frozen=True)
class Handshake:
    """Result of checking whether the library saw a run.

    Attributes:
        message: One line with the problem and its remedy if the measurement does not cover the
            whole program; empty if it does.
        warnings: Remarks for the user on a measurement that covers the program.
        state: The result as an enumeration, for programs.
        seen_ranks / expected_ranks: Number of ranks that left a mark, and size of MPI_COMM_WORLD
            (0 without MPI).
    """

    message: str = ""
    warnings: tuple[str, ...] = ()
    state: HandshakeState = HandshakeState.OK
    seen_ranks: int = 0
    expected_ranks: int = 0

    @property
    def ok(self) -> bool:
        """Whether the measurement covers the whole program."""
        return not self.message


def handshake(
    profile: RunProfile, command: Sequence[str], directory: Path | None = None
) -> Handshake:
    """Compare the marks that processes left with what the command should have started.

    Args:
        profile: Profile of the run.
        command: Command line of the user.
        directory: Directory in which the command was started; the current one by default.
    """
    mpi = profile.processes[profile.used_mpi]
    ranks = mpi[mpi["rank"] >= 0]
    seen, expected = len(set(ranks["rank"].tolist())), int(ranks["world_size"].max(initial=0))
    if len(mpi):
        state, message = _incomplete(mpi, seen, expected, _count_died(profile, ranks))
    else:
        state, message = _unseen(profile, command, directory)
    others = [] if message else [*unseen_programs(profile)]
    warnings = [*_warnings(profile), *others]
    launchers = [is_launcher(Path(word).name) for word in command]
    if not message and not len(mpi) and any(launchers[:1]):
        warnings.append(
            f"{Path(command[0]).name} started a program that never called MPI_Init; "
            "its copies are measured as separate processes"
        )
    if not message and expected == 1 and (apart := _separate_worlds(mpi)):
        warnings.append(apart)
        state = HandshakeState.RANKS_APART if any(launchers) else state
    if state is HandshakeState.OK and not profile.read_bytes + profile.write_bytes:
        if not profile.gaps and not others:
            warnings.append(_describe_no_data(profile))
        state = HandshakeState.NO_IO
    return Handshake(message, tuple(warnings), state, seen, expected)


def _count_died(profile: RunProfile, ranks: NDArray[Any]) -> int:
    """Count the processes of the ranks' program that died in MPI_Init or before it."""
    table = profile.processes
    ended = ProcessFlag.EXITED | ProcessFlag.EXECED | ProcessFlag.FORKED
    own = np.isin(table["exe"], ranks["exe"]) & ~profile.used_mpi
    return int((own & ((table["flags"] & ended) == 0)).sum())


def _incomplete(
    mpi: NDArray[Any], seen: int, expected: int, died: int
) -> tuple[HandshakeState, str]:
    """Return state and message if some processes that called MPI_Init were not seen as ranks."""
    for plugin, (state, problem) in _PLUGINS.items():
        hit = mpi[mpi["plugin_state"] == plugin]
        if hit.size:
            return state, (
                f"the program runs on {_mpi_name(hit[0]) or 'an MPI'}, {problem}; build one with "
                "that MPI's compiler: stripewise doctor build --mpicc PATH_OF_ITS_mpicc"
            )
    if seen < expected and seen + died >= expected:
        return HandshakeState.RANKS_DIED, (
            f"{expected - seen} of {expected} ranks died in MPI_Init, which the others left: the "
            "MPI library crashed, or they were killed; see the output of the run"
        )
    if seen < expected:
        return HandshakeState.RANKS_MISSING, (
            f"only {seen} of {expected} ranks were seen: LD_PRELOAD did not reach the others "
            "(other nodes need the environment and the library's directory too, or some ranks "
            "run a static program); the measurement would be incomplete"
        )
    return HandshakeState.OK, ""


def _describe_no_data(profile: RunProfile) -> str:
    """Describe what a program did that neither read nor wrote data."""
    names = profile.names
    counts, failed = names["count"].sum(axis=0), int(names["failed"].sum())
    if not counts.any():
        return _NO_IO
    most = Action(int(np.argmax(counts))).name.lower()
    seconds = profile.over_ranks(names["seconds"].sum(axis=1), names["process"])
    took = f"{seconds:.3g} s" if seconds >= 0.1 else f"{1000 * seconds:.3g} ms"
    return (
        "the program read and wrote no data in files that are counted; it made "
        f"{counts.sum():,} calls on names (most of them {most}; {failed:,} failed) "
        f"in {took}"
    )


def _separate_worlds(mpi: NDArray[Any]) -> str:
    """Return a warning if ranks did not find each other, as under the launcher of another MPI."""
    alone = mpi[(mpi["rank"] == 0) & (mpi["world_size"] == 1)]
    at_once = sum(
        (alone["start_ns"] < end) & (alone["end_ns"] > start)
        for start, end in zip(alone["start_ns"], alone["end_ns"], strict=True)
    )
    count = int(np.max(at_once, initial=0))
    if count < 2:
        return ""
    return (
        f"{count} processes ran at once, each as the only rank of its own job "
        f"({_mpi_name(alone[0])}): start the program with the mpiexec of that MPI"
    )


def _mpi_name(process: Any) -> str:
    """Return the name and version of an MPI library, without the details of its build."""
    version = bytes(process["mpi_version"]).decode(errors="replace")
    return " ".join(version.partition(",")[0].split())


def _unseen(
    profile: RunProfile, command: Sequence[str], directory: Path | None
) -> tuple[HandshakeState, str]:
    """Return state and message if no process of the program itself was seen."""
    named = executables_in(command, directory)
    seen = {os.fsdecode(bytes(exe)) for exe in profile.processes["exe"]}
    unseen = [path for path in named if str(path) not in seen and is_elf(path)]
    for path in unseen:
        if is_static(path):
            return HandshakeState.STATIC, (
                f"{path} is statically linked, so no library can be preloaded into it; "
                "link it dynamically (for example without -static) to measure and tune it"
            )
        if why := drops_preload(path):
            return HandshakeState.SETUID, (
                f"{path} {why}, so the loader ignores LD_PRELOAD for it; "
                "run an ordinary copy of it"
            )
        if holds(path, b"libasan.so"):
            return HandshakeState.DROPPED, (
                f"{path} is built with AddressSanitizer and options that let no other library "
                "be preloaded before it; run it with ASAN_OPTIONS=verify_asan_link_order=0"
            )
    if not len(profile.processes):
        return HandshakeState.DROPPED, (
            "no process was seen at all: something drops LD_PRELOAD, or the library cannot be "
            "loaded (`stripewise doctor` tries it)"
        )
    if not (unseen or any(_lost_execs(profile))) or _program_io(profile):
        return HandshakeState.OK, ""
    missing = str(unseen[-1]) if unseen else "what it started" + _names_of_unseen(profile)
    return HandshakeState.DROPPED, (
        f"{_last_seen(profile)} was seen but not {missing}: a wrapper drops LD_PRELOAD from the "
        "environment, or the program is static; keep LD_PRELOAD and STRIPEWISE_* in the wrapper"
    )


def _program_io(profile: RunProfile) -> bool:
    """Return whether anything other than shells and launchers read or wrote."""
    table = profile.processes
    moved = table[requested_bytes(table) > 0]
    names = (Path(os.fsdecode(bytes(exe))).name for exe in moved["exe"])
    return not all(is_helper(name) for name in names)


def _lost_execs(profile: RunProfile) -> Iterator[Any]:
    """Yield the processes that replaced themselves by a program that left no mark."""
    table = profile.processes
    for row in table[(table["flags"] & ProcessFlag.EXECED) != 0]:
        same = (table["pid"] == row["pid"]) & (table["host"] == row["host"])
        if not (table["start_ns"][same] > row["start_ns"]).any():
            yield row


def unseen_programs(profile: RunProfile) -> Iterator[str]:
    """Yield messages about programs that were started but not seen, except a launcher's ranks."""
    table = profile.program
    names = np.array([Path(os.fsdecode(bytes(exe))).name for exe in table["exe"]], object)
    own = np.array([not starts_ranks(name) for name in names], bool)
    if (table["flags"][own] & ProcessFlag.STARTED_UNSEEN).any():
        yield (
            "programs were started without the library: their I/O is not counted"
            + _names_of_unseen(profile)
        )
    became = dict.fromkeys(
        Path(os.fsdecode(bytes(row["exe"]))).name
        for row in _lost_execs(profile)
        if row["is_program"] and not row["flags"] & ProcessFlag.STARTED_UNSEEN
    )
    if found := [name for name in became if not starts_ranks(name)]:
        yield f"{', '.join(found)} became a program without the library: its I/O is not counted"


def _names_of_unseen(profile: RunProfile) -> str:
    """Return, in brackets, the programs that the library was not loaded into, and why."""
    texts = [text.partition(NOTE_UNSEEN)[2] for text in profile.troubles]
    which = "; ".join(dict.fromkeys(filter(None, texts)))
    return f" ({which})" if which else ""


def _last_seen(profile: RunProfile) -> str:
    latest = profile.processes[int(np.argmax(profile.processes["start_ns"]))]
    return Path(os.fsdecode(bytes(latest["exe"]))).name or "the launcher"


def _warnings(profile: RunProfile) -> list[str]:
    flags = int(np.bitwise_or.reduce(profile.program["flags"], initial=0))
    found = [text for flag, _, text in UNCOUNTED if flags & flag]
    if flags & ProcessFlag.CONFIG_BAD:
        found.append("a process could not read its configuration: settings were not applied there")
    lost = int(profile.processes["lost_records"].sum())
    if lost:
        found.append(
            f"{lost} file(s) were lost, as the container reached its size limit: raise "
            "STRIPEWISE_MAX_BYTES"
        )
    if profile.hdf5_unseen:
        name = Path(profile.paths[profile.hdf5_unseen[0]]).name
        found.append(
            f"{name} is a file of HDF5, but HDF5 is linked statically into the program: its calls "
            "are not seen and its settings do not act; link it dynamically (libhdf5.so)"
        )
    return [*found, *(text for text in profile.troubles if NOTE_UNSEEN not in text)]
