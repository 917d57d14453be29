# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Did the library see the program?  If not: why, and what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.readers._container import PluginState, ProcessFlag
from stripewise.readers._elf import drops_preload, executables_in, is_elf, is_static
from stripewise.readers._launchers import is_helper, is_launcher
from stripewise.readers._profile import Profile

_NO_IO = (
    "the program made no I/O that can be seen; files below /dev (so /dev/shm), /run, /usr, /opt "
    "and other system directories are left out unless STRIPEWISE_INCLUDE=DIRECTORY names theirs"
)


class HandshakeState(StrEnum):
    """What the marks in the containers say."""

    OK = "ok"
    NO_IO = "no-io"
    """Seen, but it made no I/O call on a regular file."""
    STATIC = "static"
    SETUID = "setuid"
    DROPPED = "dropped"
    PLUGIN_MISSING = "plugin-missing"
    PLUGIN_WRONG = "plugin-wrong"
    RANKS_MISSING = "ranks-missing"


@dataclass(frozen=True)
class Handshake:
    """Whether a run was seen.

    Attributes:
        ok: The measurement covers the whole program.
        message: One line with the remedy where not ok; "" otherwise.
        warnings: What a user should know although it is ok.
        state: The same, for programs.
        seen_ranks / expected_ranks: Marks found, and the size of MPI_COMM_WORLD (0 without
            MPI).
    """

    ok: bool
    message: str = ""
    warnings: tuple[str, ...] = ()
    state: HandshakeState = HandshakeState.OK
    seen_ranks: int = 0
    expected_ranks: int = 0


def handshake(
    profile: Profile, command: Sequence[str], directory: Path | None = None
) -> Handshake:
    """Compare the marks that processes left with what the command should have started.

    Args:
        profile: Of the run.
        command: The user's command.
        directory: Where the command was started; the current directory if not given.
    """
    if profile.used_mpi.any():
        return _with_mpi(profile)
    state, message = _unseen(profile, command, directory)
    if message:
        return Handshake(False, message, _warnings(profile), state)
    warnings = list(_warnings(profile))
    if any(is_launcher(Path(word).name) for word in command[:1]):
        warnings.append(
            f"{Path(command[0]).name} started a program that never called MPI_Init; "
            "its copies are measured as separate processes"
        )
    if not profile.read_bytes + profile.write_bytes:
        warnings.append(_NO_IO)
        return Handshake(True, "", tuple(warnings), HandshakeState.NO_IO)
    return Handshake(True, "", tuple(warnings))


def _with_mpi(profile: Profile) -> Handshake:
    mpi = profile.processes[profile.used_mpi]
    ranks = np.unique(mpi["rank"][mpi["rank"] >= 0])
    sizes = mpi["world_size"][mpi["rank"] >= 0]
    expected = int(sizes.max()) if sizes.size else 0
    seen = int(ranks.size)
    for plugin, result in (
        (PluginState.MISSING, HandshakeState.PLUGIN_MISSING),
        (PluginState.WRONG, HandshakeState.PLUGIN_WRONG),
    ):
        hit = mpi[mpi["plugin_state"] == plugin]
        if hit.size:
            version = bytes(hit[0]["mpi_version"]).decode(errors="replace")
            return Handshake(
                False, _plugin_message(plugin, version), _warnings(profile), result, seen, expected
            )
    if seen < expected:
        message = (
            f"only {seen} of {expected} ranks were seen: LD_PRELOAD did not reach the others "
            "(other nodes need the environment and the library's directory too, or some ranks "
            "run a static program); the measurement would be incomplete"
        )
        state = HandshakeState.RANKS_MISSING
        return Handshake(False, message, _warnings(profile), state, seen, expected)
    warnings = (*_warnings(profile), *_apart(mpi))
    state = HandshakeState.OK
    if not profile.read_bytes + profile.write_bytes:
        warnings = (*warnings, _NO_IO)
        state = HandshakeState.NO_IO
    return Handshake(True, "", warnings, state, seen, expected)


def _apart(mpi: NDArray[Any]) -> tuple[str, ...]:
    """Warn of ranks that did not find each other, as under the launcher of another MPI."""
    alone = mpi[(mpi["rank"] == 0) & (mpi["world_size"] == 1)]
    at_once = sum(
        (alone["start_ns"] < end) & (alone["end_ns"] > start)
        for start, end in zip(alone["start_ns"], alone["end_ns"], strict=True)
    )
    count = int(np.max(at_once, initial=0))
    if count < 2:
        return ()
    name = " ".join(bytes(alone[0]["mpi_version"]).decode(errors="replace").split(",")[0].split())
    return (
        f"{count} processes ran at once, each as the only rank of its own job ({name}): "
        "start the program with the mpiexec of that MPI",
    )


def _plugin_message(state: PluginState, version: str) -> str:
    name = " ".join(version.partition(",")[0].split())
    what = f"the program runs on {name or 'an MPI'}"
    if state == PluginState.MISSING:
        problem = f"{what}, for which no plug-in is built"
    else:
        problem = f"{what}, and the plug-in found was built for another MPI"
    return (
        f"{problem}; build one with that MPI's compiler: "
        "stripewise runtime build --mpicc PATH_OF_ITS_mpicc"
    )


def _unseen(
    profile: Profile, command: Sequence[str], directory: Path | None
) -> tuple[HandshakeState, str]:
    """State and message if no process of the program itself was seen."""
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
    if not len(profile.processes):
        return HandshakeState.DROPPED, (
            "no process was seen at all: something drops LD_PRELOAD, or the library cannot be "
            "loaded (`stripewise doctor` tries it)"
        )
    if not (unseen or _lost_exec(profile)) or _program_io(profile):
        return HandshakeState.OK, ""
    missing = str(unseen[-1]) if unseen else "what it started"
    return HandshakeState.DROPPED, (
        f"{_last_seen(profile)} was seen but not {missing}: a wrapper drops LD_PRELOAD from the "
        "environment, or the program is static; keep LD_PRELOAD and STRIPEWISE_* in the wrapper"
    )


def _program_io(profile: Profile) -> bool:
    """Whether anything but shells and launchers read or wrote."""
    table = profile.processes
    moved = table[table["outermost_read_bytes"] + table["outermost_write_bytes"] > 0]
    names = (Path(os.fsdecode(bytes(exe))).name for exe in moved["exe"])
    return not all(is_helper(name) for name in names)


def _lost_exec(profile: Profile) -> bool:
    """Whether a process replaced itself by a program that left no mark."""
    table = profile.processes
    for row in table[(table["flags"] & ProcessFlag.EXECED) != 0]:
        same = (table["pid"] == row["pid"]) & (table["host"] == row["host"])
        if not (table["start_ns"][same] > row["start_ns"]).any():
            return True
    return False


def _last_seen(profile: Profile) -> str:
    latest = profile.processes[int(np.argmax(profile.processes["start_ns"]))]
    return Path(os.fsdecode(bytes(latest["exe"]))).name or "the launcher"


def _warnings(profile: Profile) -> tuple[str, ...]:
    flags = int(np.bitwise_or.reduce(profile.processes["flags"][profile.counted], initial=0))
    texts = {
        ProcessFlag.USES_IO_URING: "the program uses io_uring: that I/O is not counted",
        ProcessFlag.USES_SHARED_MMAP: (
            "the program writes files through shared memory mappings: that I/O is not counted"
        ),
        ProcessFlag.CONFIG_BAD: (
            "a process could not read its configuration: settings were not applied there"
        ),
    }
    found = [text for flag, text in texts.items() if flags & flag]
    lost = int(profile.processes["lost_records"].sum())
    if lost:
        found.append(f"{lost} file(s) found no room in the container: raise STRIPEWISE_MAX_BYTES")
    return (*found, *profile.notes)
