# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the counters of a first run point at: tunable, preferred value, reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stripewise.model import ProgramFacts, Value

SMALL_CALL_BYTES = 64 * 1024
"""Mean size of a data call below which buffers are expected to matter (assumed)."""


@dataclass(frozen=True)
class Hint:
    """One tunable that the counters point at; value None: no preferred value."""

    name: str
    value: Value | None
    reason: str


def hints_for(facts: ProgramFacts) -> Iterator[Hint]:
    """Yield the hints, most promising first; a tunable may come more than once."""
    yield from _implementation(facts)
    yield from _pattern(facts)
    yield from _independent(facts)
    yield from _collective(facts)
    yield from _small_calls(facts)
    yield from _hdf5(facts)


def _implementation(facts: ProgramFacts) -> Iterator[Hint]:
    if len(facts.mpiio_alternatives) > 1 and facts.mpiio_implementation:
        choices = ", ".join(facts.mpiio_alternatives)
        yield Hint("mca.io", None, f"this MPI has several MPI-IO implementations ({choices})")


def _pattern(facts: ProgramFacts) -> Iterator[Hint]:
    """Parts that interleave want to be gathered: by collective calls, or one to a chunk."""
    if not facts.interleaved:
        return
    reason = f"the ranks' parts interleave in the file: {facts.pattern}"
    if facts.collective_bytes > facts.independent_bytes:
        operation = "write" if facts.write_bytes >= facts.read_bytes else "read"
        yield Hint("mpiio.cb_nodes", None, reason)
        yield Hint(f"mpiio.romio_cb_{operation}", "enable", reason)
    elif facts.uses_parallel_hdf5:
        yield Hint("hdf5.transfer", "collective", reason)
    if facts.block:
        yield Hint("hdf5.chunk", facts.block, reason)


def _independent(facts: ProgramFacts) -> Iterator[Hint]:
    if facts.noncontiguous and facts.independent_bytes > facts.collective_bytes:
        reason = "independent, noncontiguous access"
        operation = "write" if facts.write_bytes >= facts.read_bytes else "read"
        yield Hint(f"mpiio.romio_ds_{operation}", "disable", reason)
        buffer = "ind_wr_buffer_size" if operation == "write" else "ind_rd_buffer_size"
        yield Hint(f"mpiio.{buffer}", None, reason)


def _collective(facts: ProgramFacts) -> Iterator[Hint]:
    if not facts.collective_bytes or facts.collective_bytes < facts.independent_bytes:
        return
    operation = "write" if facts.write_bytes >= facts.read_bytes else "read"
    if facts.noncontiguous or _mean_call_bytes(facts) < SMALL_CALL_BYTES:
        reason = "collective, interleaved access"
        yield Hint("mpiio.cb_nodes", None, reason)
        yield Hint(f"mpiio.romio_cb_{operation}", "enable", reason)
        yield Hint("mpiio.cb_buffer_size", None, reason)
    else:
        reason = "collective calls on contiguous pieces"
        yield Hint(f"mpiio.romio_cb_{operation}", "disable", reason)
        yield Hint("mpiio.cb_nodes", None, reason)


def _small_calls(facts: ProgramFacts) -> Iterator[Hint]:
    mean = _mean_call_bytes(facts)
    if 0 < mean < SMALL_CALL_BYTES:
        reason = f"small data calls, {mean:.0f} bytes on average"
        yield Hint("mpiio.ind_wr_buffer_size", None, reason)
        yield Hint("mpiio.cb_buffer_size", None, reason)
        yield Hint("hdf5.sieve_buf_size", None, reason)


def _hdf5(facts: ProgramFacts) -> Iterator[Hint]:
    if facts.uses_hdf5:
        reason = "parallel HDF5" if facts.uses_parallel_hdf5 else "HDF5"
        yield Hint("hdf5.alignment", None, reason)
        if facts.uses_parallel_hdf5:
            yield Hint("hdf5.coll_metadata_write", True, reason)
        yield Hint("hdf5.meta_block_size", None, reason)


def _mean_call_bytes(facts: ProgramFacts) -> float:
    calls = facts.read_calls + facts.write_calls
    return (facts.read_bytes + facts.write_bytes) / calls if calls else 0.0
