# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells facts about HDF5: collective transfers that became independent, and conversions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stripewise.core import ReportedPart
from stripewise.evidence.diagnosis._base import WAYS, Numbers
from stripewise.evidence.diagnosis._facts_base import FactRule, SeenRun
from stripewise.evidence.figures import (
    COLLECTIVE,
    READS,
    SYSTEM,
    WRITES,
    Fact,
    FileUse,
    Transfers,
)
from stripewise.evidence.trace import Cause, IoLayer
from stripewise.present import count_text as count
from stripewise.present import files_of
from stripewise.present import plural as things
from stripewise.present import size_text as size

LEAST_BYTES = 1 << 20
LEAST_CALLS = 16


class _Reason(NamedTuple):
    """Cause of an independent transfer in words, and its remedy."""

    cause: str
    remedy: str


_REASONS = {
    Cause.CONVERSION: _Reason(
        "the type in memory differs from that in the file, so HDF5 converts the values",
        "Give the dataset and the buffer the same type; write whole elements of a compound.",
    ),
    Cause.TRANSFORMS: _Reason(
        "a data transform is set in the transfer list",
        "Compute it in memory before the call instead of H5Pset_data_transform.",
    ),
    Cause.MPI_TYPES_DISABLED: _Reason(
        "HDF5_MPI_OPT_TYPES disables derived MPI datatypes",
        "Unset HDF5_MPI_OPT_TYPES, or set it to 1.",
    ),
    Cause.NOT_SIMPLE_DATASPACE: _Reason(
        "a dataspace is neither simple nor scalar",
        "Use a simple dataspace; a rank without a part selects nothing (H5Sselect_none).",
    ),
    Cause.STORAGE: _Reason(
        "the dataset is neither contiguous nor chunked (compact, external or virtual)",
        "Store it contiguously or in chunks (H5Pset_layout).",
    ),
    Cause.FILTERED_WRITES: _Reason(
        "this HDF5 cannot write filtered chunks in parallel",
        "Use an HDF5 from 1.10.2 on over MPI-3, or write without filters and run h5repack later.",
    ),
    Cause.ERROR: _Reason(
        "HDF5 failed to find out whether a collective transfer was possible",
        "Check the identifiers that are passed to the call on each rank.",
    ),
    Cause.NO_SELECTION_IO: _Reason(
        "selection I/O was not used, which a collective transfer with conversion needs",
        "Give dataset and buffer the same type, or set H5Pset_selection_io(dxpl, "
        "H5D_SELECTION_IO_MODE_ON).",
    ),
    Cause.NOT_REQUESTED: _Reason(
        "the transfer list of some rank did not ask for collective I/O",
        "Set H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) on each rank.",
    ),
}
_CHUNKS = _Reason(
    "HDF5 moved each chunk by itself, as too few ranks share one",
    "Set H5Pset_dxpl_mpio_chunk_opt(dxpl, H5FD_MPIO_CHUNK_ONE_IO).",
)


class OfHdf5(FactRule):
    """Fact about runs that use HDF5."""

    def concerns(self, run: SeenRun) -> bool:
        return any(use.top is IoLayer.HDF5 for use in run.files)


class Fallback(OfHdf5):
    """Collective HDF5 transfers that HDF5 carried out independently."""

    code = "fallback"
    subject = "collective HDF5 calls that became independent"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        by_index = {use.index: use for use in run.files}
        for found in run.transfers:
            if found.independent.count and found.file in by_index:
                yield self._answered(run, by_index[found.file], found)
        known = {(found.file, found.writing) for found in run.transfers if found.answered}
        for use in run.files:
            for writing, _ in WAYS:
                if (use.index, writing) not in known:
                    yield from self._seen_below(run, use, writing)

    def _answered(self, run: SeenRun, use: FileUse, found: Transfers) -> Fact:
        reason = _REASONS[found.causes[0][0]] if found.causes else _CHUNKS
        way = "writes to" if found.writing else "reads from"
        dataset = f" (dataset {found.datasets[0]})" if found.datasets[0] else ""
        fallen = found.independent
        text = (
            f"HDF5 carried out {count(fallen.count)} of {count(found.collective)} collective "
            f"{way} {files_of([use.path], 1)}{dataset} independently: {reason.cause}. "
            f"{reason.remedy}"
        )
        numbers: Numbers = {
            "calls": found.collective,
            "independent_calls": fallen.count,
            "cause": found.causes[0][0].name.lower() if found.causes else "chunks",
            "way": "writes" if found.writing else "reads",
        }
        return run.timed_fact(
            self.code, text, fallen.cumulated, fallen.elapsed, numbers, [use.path]
        )

    def _seen_below(self, run: SeenRun, use: FileUse, writing: bool) -> Iterable[Fact]:
        """Yield a fallback that shows only in the calls of MPI-IO, without HDF5's own answer."""
        independent, collective = dict(WAYS)[writing]
        asked = use.calls([collective], layers=[IoLayer.HDF5])
        below = use.calls([independent], layers=[IoLayer.MPIIO], own=False)
        together = use.calls([collective], layers=[IoLayer.MPIIO], own=False)
        if not asked.count or 2 * together.count >= asked.count or 2 * below.bytes < asked.bytes:
            return
        verb = "write" if writing else "read"
        text = (
            f"{things(asked.count, f'collective HDF5 {verb}')} of {files_of([use.path], 1)} "
            f"became {count(together.count)} collective and {count(below.count)} independent "
            f"{verb}s of MPI-IO. H5Pget_mpio_no_collective_cause tells the cause, which this "
            "source does not record."
        )
        numbers: Numbers = {
            "calls": asked.count,
            "mpiio_collective": together.count,
            "mpiio_independent": below.count,
            "cause": "unknown",
            "way": f"{verb}s",
        }
        yield run.timed_fact(self.code, text, asked.cumulated, asked.elapsed, numbers, [use.path])

    def why_unknown(self, run: SeenRun) -> str:
        asked = any(use.calls(COLLECTIVE, layers=[IoLayer.HDF5]).count for use in run.files)
        answered = any(found.answered for found in run.transfers)
        if asked and not answered:
            return "the source does not record HDF5's answers on collective calls"
        return run.profile.why_missing(ReportedPart.CALLS)


class Conversion(OfHdf5):
    """HDF5 transfers whose values are converted, or that move single members of a compound."""

    code = "conversion"
    subject = "conversions of types in HDF5"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        by_index = {use.index: use for use in run.files}
        for found in run.transfers:
            use = by_index.get(found.file)
            if use is None:
                continue
            for part, words, kind in (
                (found.members, _members_text, "members"),
                (found.converted, _values_text, "values"),
            ):
                if part.bytes < LEAST_BYTES and part.count < LEAST_CALLS:
                    continue
                read, written = _reached(use)
                numbers: Numbers = {
                    "calls": part.count,
                    "asked_bytes": part.bytes,
                    "read_bytes": read,
                    "written_bytes": written,
                    "kind": kind,
                    "way": "writes" if found.writing else "reads",
                }
                yield run.timed_fact(
                    self.code,
                    words(use, found),
                    part.cumulated,
                    part.elapsed,
                    numbers,
                    [use.path],
                )

    def why_unknown(self, run: SeenRun) -> str:
        used = any(use.calls(layers=[IoLayer.HDF5]).count for use in run.files)
        if used and not run.transfers:
            return "the source does not record the types of HDF5's transfers"
        return ""


def _reached(use: FileUse) -> tuple[int, int]:
    """Return bytes that were read from and written to the operating system."""
    read, written = (use.calls(ops, layers=SYSTEM, own=False) for ops in (READS, WRITES))
    return read.bytes, written.bytes


def _reached_words(use: FileUse) -> str:
    """Return what was read and written in words, with a leading comma; empty if unknown."""
    read, written = _reached(use)
    parts = [
        f"{size(moved)} were {verb}" for moved, verb in ((read, "read"), (written, "written"))
    ]
    return f"; in all, {' and '.join(parts)} in this file" if read or written else ""


def _members_text(use: FileUse, found: Transfers) -> str:
    part, dataset = found.members, found.datasets[2]
    verb = "write" if found.writing else "read"
    before = " HDF5 then reads and rewrites whole elements." if found.writing else ""
    return (
        f"{things(part.count, f'HDF5 {verb}')} of {files_of([use.path], 1)} moved only some "
        f"members of a compound{f' ({dataset})' if dataset else ''}: {size(part.bytes)} of "
        f"members{_reached_words(use)}.{before} Move the whole compound in one call, or keep each "
        "member in a dataset of its own."
    )


def _values_text(use: FileUse, found: Transfers) -> str:
    part, dataset = found.converted, found.datasets[1]
    verb = "write" if found.writing else "read"
    return (
        f"HDF5 converted the values of {things(part.count, verb)} of {files_of([use.path], 1)}"
        f"{f' ({dataset})' if dataset else ''}, {size(part.bytes)}, since the type in memory is "
        "not that of the dataset. Give the dataset the type of the buffer, or convert the values "
        "before the call."
    )
