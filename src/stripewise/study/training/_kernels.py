# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the kernels of a training, their options, and their size for a machine."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Sequence

from stripewise.core.errors import UsageError
from stripewise.run.runtime import built_program, find_launcher, find_runtime, mpi_of_command
from stripewise.storage.simulation import KERNELS, workload_from_kernel

Words = tuple[str, ...]


def kernel_words(texts: Iterable[str]) -> list[Words]:
    """Parse patterns: kernel names separated by commas, or a name with the kernel's options.

    Args:
        texts: For example "vpic,vorpal", or "vpic --local 131072 --steps 4".

    Raises:
        UsageError: A kernel does not exist, or none is given.
    """
    found: list[Words] = []
    for text in texts:
        try:
            words = shlex.split(text) or [""]
        except ValueError as error:
            raise UsageError(f"--patterns {text!r}: {error}") from error
        names = words[0].split(",")
        if len(names) > 1 and len(words) > 1:
            raise UsageError(
                f"--patterns {text!r}: options apply to one kernel; give --patterns once for each"
            )
        for name in names:
            workload_from_kernel([name], 1, 1)
            found.append((name, *words[1:]))
    return list(dict.fromkeys(found))


def sized(words: Words, bytes_of_rank: int = 0) -> Words:
    """Return a kernel's words with a block so large that a rank moves about the given bytes.

    The dimensions that are divided among ranks grow or shrink equally.  Sizes that the words
    already contain are kept.

    Args:
        words: Name and options of the kernel.
        bytes_of_rank: Bytes that a rank moves; 0 for the published block.
    """
    if {"--local", "--size"} & set(words):
        return words
    kernel = KERNELS[words[0]]
    divided = [name != "*" for name in kernel.distribution.split(",")]
    usual = workload_from_kernel(simulated_words(words), 1, 1).bytes
    factor = (bytes_of_rank / usual) ** (1 / sum(divided)) if bytes_of_rank else 1.0
    local = [
        max(1, round(size * factor)) if cut else size
        for size, cut in zip(kernel.local, divided, strict=True)
    ]
    return (*words, "--local", ",".join(map(str, local)))


def simulated_words(words: Sequence[str]) -> list[str]:
    """Return the words without those that only select how a kernel moves its data."""
    kept, value = [], False
    for word in words:
        if not value and word not in _MEANS:
            kept.append(word)
        value = not value and word in _MEANS
    return kept


def command_words(words: Words) -> list[str]:
    """Return the options of the kernel program: collective calls, unless specified otherwise."""
    mode = () if "--mode" in words else ("--mode", "collective")
    file = () if "--file" in words else ("--file", f"{words[0]}.dat")
    return ["--pattern", *words, *mode, *file]


def name_of(words: Words, ranks: int) -> str:
    """Return a file name for a kernel with these options at a scale."""
    plain = "-".join("".join(c if c.isalnum() else "_" for c in w.lstrip("-")) for w in words)
    return f"{plain}-{ranks}"


_MEANS = frozenset({"--backend", "--file", "--hint", "--engine"})


# The kernel's program for an MPI, and the words that start it.


def kernel_program(
    family: str | None, mpiexec: str, ranks: Sequence[int], options: Sequence[str] = ()
) -> tuple[tuple[str, ...], str]:
    """Return the launcher words before the number of ranks, and the path of the kernel's program.

    Args:
        family: MPI as named by `stripewise doctor runtime`; None for that of the launcher, or the
            first one for which a kernel is built.
        mpiexec: Name or path of the launcher; empty for that of the MPI.
        ranks: Numbers of ranks that will be started.
        options: Options of the launcher.

    Raises:
        UsageError: There is no such launcher, or its MPI cannot be determined.
        RuntimeMissingError: No kernel is built for this MPI.
    """
    runtime = find_runtime()
    if mpiexec and family is None:
        family = _family(mpiexec, tuple(runtime.kernels))
    chosen, program = built_program(runtime, runtime.kernels, "kernel", family)
    if mpiexec:
        return (_located(mpiexec), *options, "-n"), str(program)
    mpi = find_launcher(chosen)
    crowded = mpi.family == "openmpi" and max(ranks) > len(os.sched_getaffinity(0))
    words = (*(["--oversubscribe"] if crowded else []), *options)
    return (str(mpi.mpiexec), *words, "-n"), str(program)


def _located(mpiexec: str) -> str:
    found = shutil.which(mpiexec)
    if found is None:
        raise UsageError(f"--mpiexec {mpiexec}: there is no such program; give its path")
    return os.path.abspath(found)


def _family(mpiexec: str, built: tuple[str, ...]) -> str:
    """Return the MPI family of the built kernels that a launcher can start."""
    mpi = mpi_of_command([_located(mpiexec)])
    if mpi is None:
        raise UsageError(
            f"--mpiexec {mpiexec}: its MPI cannot be determined; add --mpi ({', '.join(built)})"
        )
    precise = f"{mpi.family}-{mpi.major}"
    return precise if precise in built else mpi.family
