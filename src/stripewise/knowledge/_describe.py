# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The case that studies are compared by: this machine without its name, the stack, the program."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import replace
from math import log2
from pathlib import Path

from stripewise.elf import library_versions
from stripewise.emulation import EmulatedStorage
from stripewise.knowledge._records import LIBRARIES, Case, Fingerprint, Machine, Stack
from stripewise.machines import local_storage
from stripewise.model import ProgramFacts
from stripewise.text import plural, text_of

_LARGEST_BYTES = 256 << 20
_MOST_CHARACTERS = 300
_SAME_IN_FACTS = (
    "n_ranks", "n_hosts", "noncontiguous", "shared_files", "patterns", "file_classes"
)  # fmt: skip


def describe_case(
    machine: Machine,
    facts: ProgramFacts,
    *,
    program: str,
    executable: Path | None = None,
    synced: bool = True,
) -> Case:
    """Describe a case.

    Args:
        machine: Where it runs.
        facts: Of its first run.
        program: Name of the program.
        executable: Its file, None if that is not known.
        synced: Whether runs wait for the storage.
    """
    stack = Stack(
        mpi_family=facts.mpi_family,
        mpi_version=version_of(facts.mpi_version),
        mpiio=facts.mpiio_implementation,
        mpiio_driver=facts.mpiio_driver,
        **(library_versions(executable) if executable else {}),
    )
    return Case(machine, stack, _fingerprint(facts, program, executable), synced)


def describe_machine(directory: Path, root: Path = Path("/")) -> Machine:
    """Describe the machine and the storage that a directory is on.

    Args:
        directory: Of the study.
        root: Where `proc` and `sys` are (for tests).
    """
    found = local_storage(directory, root)
    mount = found.mount
    source = mount.source.encode("utf-8", "surrogateescape")
    return Machine(
        architecture=platform.machine(),
        cpu=cpu_model(text_of(root / "proc/cpuinfo")),
        processors=os.cpu_count() or 0,
        memory_bytes=memory_bytes(text_of(root / "proc/meminfo")),
        kernel=one_line(platform.release()),
        filesystem=one_line(mount.kind),
        device=mount.medium,
        storage=hashlib.sha256(source).hexdigest()[:16] if mount.is_network else "",
        described=found.name if found.is_described else "",
    )


def emulated_machine(machine: Machine, storage: EmulatedStorage) -> Machine:
    """Return a machine with the storage that its runs find, which is emulated."""
    return replace(
        machine,
        filesystem=storage.storage.kind,
        device="",
        storage=storage.digest,
        emulated=storage.identity,
        described="",
    )


def tier_machine(machine: Machine, tier: str, nodes: int, details: Sequence[str] = ()) -> Machine:
    """Return a machine with the burst buffer that its runs lie on: another storage for each size.

    Args:
        machine: Without it.
        tier: Kind of the burst buffer.
        nodes: Of the burst buffer.
        details: What else tells it from others: pool, access mode, directory.
    """
    text = "\0".join((machine.storage, tier, str(nodes), *details))
    return replace(
        machine,
        filesystem=one_line(f"{tier}, {plural(nodes, 'node')}"),
        device="burst buffer",
        storage=hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16],
        described="",
    )


def version_of(text: str) -> str:
    """Return the number in what an MPI says of itself; "" if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return found.group() if found else ""


def digest_of(executable: Path | None) -> str:
    """Return the SHA-256 of a regular file that can be read; "" otherwise."""
    try:
        if executable is None or not executable.is_file():
            return ""
        if executable.stat().st_size > _LARGEST_BYTES:
            return ""
        with executable.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def cpu_model(text: str) -> str:
    """Return the processor's model in /proc/cpuinfo; some architectures name parts only."""
    for name in ("model name", "cpu", "CPU part"):
        found = re.search(rf"^{name}\s*:\s*(.+)$", text, flags=re.M)
        if found:
            return one_line(" ".join(found.group(1).split()))
    return ""


def memory_bytes(text: str) -> int:
    """Return the memory in /proc/meminfo; 0 if it is not told."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, flags=re.M)
    return int(found.group(1)) * 1024 if found else 0


def one_line(text: str) -> str:
    """Return a text without what a terminal cannot show, shortened."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown[:_MOST_CHARACTERS]


def _fingerprint(facts: ProgramFacts, program: str, executable: Path | None) -> Fingerprint:
    moved = facts.read_bytes + facts.write_bytes
    calls = facts.read_calls + facts.write_calls
    by_interface = facts.collective_bytes + facts.independent_bytes + facts.posix_bytes
    return Fingerprint(
        program=one_line(program),
        executable_sha256=digest_of(executable),
        collective_share=_share(facts.collective_bytes, by_interface),
        independent_share=_share(facts.independent_bytes, by_interface),
        posix_share=_share(facts.posix_bytes, by_interface),
        read_share=_share(facts.read_bytes, moved),
        bytes_per_call_log2=_logarithm(moved, calls),
        calls_per_rank_log2=_logarithm(calls, facts.n_ranks),
        volume_log2=_logarithm(moved, 1),
        **{name: getattr(facts, name) for name in (*_SAME_IN_FACTS, *LIBRARIES)},
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole > 0 else 0.0


def _logarithm(amount: int, number: int) -> float:
    return round(log2(amount / number), 3) if amount > 0 and number > 0 else 0.0
