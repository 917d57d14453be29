# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines when a tunable can act on a program, and which values are worth trying."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables._base import Condition, Rungs

KIB = 1024
MIB = 1024 * KIB

# File systems on which an MPI-IO driver can set the layout of a new file.
STRIPED_FILESYSTEMS = frozenset({"lustre", "gpfs", "panfs", "pvfs2", "orangefs", "beegfs"})


def needs(met: Callable[[ProgramFacts], object], otherwise: str) -> Condition:
    """Return the condition that a property of a program is true or not zero."""
    return lambda facts: "" if met(facts) else otherwise


def moves(name: str, otherwise: str) -> Condition:
    """Return the condition that an amount is not zero, or unknown."""
    return lambda facts: "" if facts.amount(name).most else otherwise


mpiio = needs(lambda facts: facts.mpiio_implementation, "the program does no MPI-IO")
collective = moves("collective_bytes", "the program makes no collective MPI-IO data calls")
moves_independently = needs(
    # besides collective calls there is only metadata
    lambda facts: facts.amount("independent_bytes").most * 20 > facts.collective_bytes,
    "its transfers are collective already",
)
several_ranks = needs(lambda facts: facts.n_ranks > 1, "one rank only")
noncontiguous = needs(  # data sieving acts on file views with holes
    lambda facts: facts.noncontiguous, "every access is contiguous in the file"
)
written = moves("write_bytes", "the program writes nothing")
read = moves("read_bytes", "the program reads nothing")
mpiio_read = moves("mpiio_read_bytes", "the program reads nothing through MPI-IO")
hdf5 = needs(lambda facts: facts.uses_hdf5, "the program does not use HDF5")
parallel_hdf5 = needs(lambda facts: facts.uses_parallel_hdf5, "HDF5 is not used through MPI-IO")
serial_hdf5 = needs(
    lambda facts: not facts.uses_parallel_hdf5,
    "it acts on serial HDF5 files only; these are opened through MPI-IO",
)
pnetcdf = needs(lambda facts: facts.uses_pnetcdf, "the program does not use PnetCDF")
adios2 = needs(lambda facts: facts.uses_adios2, "the program does not use ADIOS2")
cray = needs(lambda facts: facts.uses_cray_mpich, "only Cray MPICH supports it")
open_mpi = needs(lambda facts: facts.mpi_family == "openmpi", "the program uses no Open MPI")
matched = needs(  # data calls: required by forced collective transfer
    lambda facts: facts.matched_calls, "ranks make different numbers of calls: it would hang"
)
matched_metadata = needs(  # required by collective metadata
    lambda facts: facts.matched_metadata,
    "ranks make different numbers of calls on objects: it would hang",
)


def _implementation(name: str, title: str) -> Condition:
    """Return the condition that MPI-IO uses this implementation, or can be switched to it."""

    def condition(facts: ProgramFacts) -> str:
        here = (facts.mpiio_implementation, *facts.mpiio_alternatives)
        if any(known.startswith(name) for known in here):
            return mpiio(facts)
        return mpiio(facts) or f"MPI-IO here is {facts.mpiio_implementation}, not {title}"

    return condition


romio = _implementation("romio", "ROMIO")
ompio = _implementation("ompio", "OMPIO")


def lustre(facts: ProgramFacts) -> str:
    """Require files on Lustre, unless ROMIO reports another driver for them."""
    if facts.filesystem != "lustre":
        return "the files do not lie on Lustre"
    if facts.mpiio_driver in ("", "LUSTRE"):
        return ""
    return f"ROMIO uses its {facts.mpiio_driver} driver here, not that for Lustre"


def rounds_by_size(facts: ProgramFacts) -> str:
    """Require that a hint, not the stripe size, sets the bytes of an aggregator per round."""
    other = facts.mpiio_alternatives or facts.amount("mpiio_read_bytes").most
    if other or facts.mpiio_driver != "LUSTRE":
        return ""
    return "ROMIO's Lustre driver writes a stripe in each round, whatever its value"


def _hints_act_everywhere(facts: ProgramFacts) -> bool:
    return facts.striping is not None and facts.striping.by_any_mpi


def striped(facts: ProgramFacts) -> str:
    """Require a file system whose striping can be set by hints."""
    if _hints_act_everywhere(facts) or facts.filesystem in STRIPED_FILESYSTEMS:
        return ""
    where = facts.filesystem or "this file system"
    return f"MPI-IO has no striping driver for {where}"


def striping_hints(facts: ProgramFacts) -> str:
    """Require that MPI-IO or the emulated storage accepts hints for the layout of new files."""
    return mpiio(facts) if _hints_act_everywhere(facts) else romio(facts)


def romio_name(facts: ProgramFacts) -> str:
    """Return the value of MCA `io` that selects ROMIO in this Open MPI."""
    return next((a for a in facts.mpiio_alternatives if a.startswith("romio")), "romio321")


def requires_romio(facts: ProgramFacts) -> Mapping[str, Value]:
    """Return the settings that select ROMIO in Open MPI, so that its hints act."""
    return {"mca.io": romio_name(facts)} if facts.mpi_family == "openmpi" else {}


def requires_striping_hints(facts: ProgramFacts) -> Mapping[str, Value]:
    """Return the settings that select ROMIO, unless the storage accepts striping hints itself."""
    return {} if _hints_act_everywhere(facts) else requires_romio(facts)


def requires_ompio(facts: ProgramFacts) -> Mapping[str, Value]:
    """Return the settings that select OMPIO, so that its parameters act."""
    return {"mca.io": "ompio"} if facts.mpi_family == "openmpi" else {}


def most_bytes(facts: ProgramFacts) -> float:
    """Return an upper bound of the bytes moved in one direction, which is infinite if unknown."""
    return max(facts.amount(name).most for name in ("read_bytes", "write_bytes"))


def mean_write_bytes(facts: ProgramFacts) -> float:
    """Return the mean size of a write, which is infinite if unknown."""
    written = facts.amount("write_bytes")
    known = written.most if written.value is None else written.value
    return known / max(1, facts.write_calls)


def buffer_sizes(default: int, larger: tuple[int, ...], smaller: tuple[int, ...]) -> Rungs:
    """Return the ladder for a buffer, with larger sizes only if data would fill the default."""

    def ladder(facts: ProgramFacts) -> tuple[Value, ...]:
        n_bytes = most_bytes(facts)
        grown = tuple(size for size in larger if n_bytes > default and size < 4 * n_bytes)
        return (*grown, *(size for size in smaller if size < n_bytes))

    return ladder


def stripe_counts(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return 4, 16 and all targets; with a known number of targets, each power of four below it.

    The number of nodes is added, so that each node writes its own stripe: with fewer aggregators
    than stripes, ROMIO's Lustre driver uses a divisor of the stripe count.
    """
    if facts.striping is None:
        return (4, 16, ALL_TARGETS)
    targets, usual = facts.striping.targets, facts.striping.stripe_count
    nodes = facts.aggregator_hosts
    wanted = {*(4**n for n in range(1, 9)), *([nodes] if nodes > 1 else [])}
    below = sorted(count for count in wanted if count < targets)
    usual = ALL_TARGETS if usual >= targets else usual
    return tuple(count for count in (*below, ALL_TARGETS) if count != usual and targets > 1)


def stripe_sizes(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return 1 and 4 MiB; if the default is known, add 16 MiB and leave out the default itself.

    In that case the bytes per node of a collective call are added too: with larger stripes a call
    covers fewer stripes than nodes, with smaller ones a node writes several.
    """
    if facts.striping is None:
        return (1 * MIB, 4 * MIB)
    usual = facts.striping.stripe_size
    n_bytes = most_bytes(facts)
    rungs = [size for size in (MIB, 4 * MIB, 16 * MIB) if size < n_bytes]
    share = _share_of_a_call(facts)
    fitting = [share] if 0 < share <= 16 * MIB and share not in rungs else []
    return tuple(size for size in (*rungs, *fitting) if size != usual)


def _share_of_a_call(facts: ProgramFacts) -> int:
    """Return the bytes that each node writes in a collective call, rounded to layout units."""
    known = all(facts.amount(name).is_exact for name in ("write_bytes", "collective_bytes"))
    if not known or not facts.write_calls or facts.collective_bytes <= facts.independent_bytes:
        return 0
    calls_of_a_node = facts.write_calls / facts.n_ranks * max(facts.aggregator_hosts, 1)
    of_a_node = facts.write_bytes / calls_of_a_node
    return ceil(of_a_node / STRIPE_STEP) * STRIPE_STEP


STRIPE_STEP = 64 * KIB
"""Unit of Lustre's stripe sizes (documented: Lustre Operations Manual, setstripe)."""
ALL_TARGETS = -1
LARGEST_CHUNK_BYTES = 2**32 - 1
SMALLEST_CHUNK_BYTES = 4 * KIB


def chunk_of_a_rank(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return one rank's block as a chunk, so that its data are contiguous in the file.

    Return None if the block is unknown or already contiguous in the file.
    """
    fits = SMALLEST_CHUNK_BYTES <= facts.block_bytes <= LARGEST_CHUNK_BYTES
    return (facts.block,) if facts.interleaved and facts.block and fits else ()


def aggregators(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return the powers of two up to the number of ranks, and that number.

    ROMIO's default is one per host, so that value is left out if ROMIO is the only choice.
    """
    rungs = [*(2**n for n in range((facts.n_ranks - 1).bit_length())), facts.n_ranks]
    if facts.mpiio_implementation == "romio" and "ompio" not in facts.mpiio_alternatives:
        rungs = [rung for rung in rungs if rung != facts.aggregator_hosts]
    return tuple(rungs)
