# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5: its own metadata, and chunks that do not fit the selections."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._sums import Calls
from stripewise.diagnosis._usage import DATA, INDEPENDENT, READS, SYSTEM, WRITES, FileUse
from stripewise.diagnosis._words import count, files_of, number, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told, toward
from stripewise.model import IoLayer, Op, ShapeKind, Trace

METADATA_BYTES = 64 << 10
LEAST_METADATA_CALLS = 100
LEAST_AMPLIFICATION = 2.0


class Hdf5Metadata(Rule):
    """Many small independent calls that HDF5 makes for its own metadata."""

    code = "hdf5-metadata"
    group = "hdf5"
    basis = "time of the slowest rank in these calls"
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Beneath HDF5: independent MPI-IO calls that are no data of independent transfers."""
        for use in run.files:
            if IoLayer.HDF5 not in use.seen:
                continue
            for writing, op, data in ((True, Op.WRITE, WRITES), (False, Op.READ, READS)):
                calls = self._metadata(use, op, data)
                small = 0 < calls.mean_bytes < METADATA_BYTES
                if small and calls.count >= LEAST_METADATA_CALLS:
                    evidence = {"ranks": calls.ranks}
                    yield Hit(
                        use,
                        calls.elapsed,
                        calls.elapsed,
                        calls.count,
                        calls.bytes,
                        evidence,
                        writing,
                    )

    def _metadata(self, use: FileUse, op: Op, data: tuple[Op, ...]) -> Calls:
        if use.calls([op], layers=[IoLayer.HDF5]).count:
            return Calls()
        if not use.calls(data, layers=[IoLayer.HDF5]).count:
            return Calls()
        return use.calls([op], layers=[IoLayer.MPIIO], own=False)

    def phrase(self, told: Told) -> str:
        """Size, direction, file."""
        writing = bool(told.first.writing)
        verb = "writing" if writing else "reading"
        name = files_of(told.files, told.n_files)
        preposition = toward(writing)
        return f"HDF5 {verb} metadata {preposition} {name} in pieces of {size(told.mean_bytes)}"

    def text(self, told: Told) -> str:
        """How many, how long."""
        return (
            f"Beside the collective data transfers, HDF5 made {count(told.calls)} independent "
            f"calls of {size(told.mean_bytes)} for its own metadata; the slowest rank spent "
            f"{seconds(told.stake)} in them."
        )

    def remedy(self, told: Told) -> str:
        """Collective metadata, in blocks."""
        return (
            "Let HDF5 do metadata collectively: H5Pset_coll_metadata_write(fapl, true). Also "
            "H5Pset_all_coll_metadata_ops(fapl, true); gather it in blocks with "
            "H5Pset_meta_block_size(fapl, 1 << 20); create datasets and attributes once, not per "
            "step."
        )


class ChunkMismatch(Rule):
    """Chunks that are read whole although only parts of them are wanted."""

    code = "chunk-mismatch"
    group = "hdf5"
    also = ("amplification",)
    basis = "the share of the time in the data calls that the unwanted bytes take"
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least twice as many bytes read beneath HDF5 as asked (also before writes)."""
        for use in run.files:
            if use.top is not IoLayer.HDF5 or not use.calls(INDEPENDENT).count:
                continue
            chunk = _chunk(use, run.trace)
            layers = (IoLayer.MPIIO,) if IoLayer.MPIIO in use.seen else SYSTEM
            asked = use.calls(READS, layers=[IoLayer.HDF5])
            below = use.calls(READS, layers=layers, own=False)
            calls = use.calls(DATA, layers=[IoLayer.HDF5])
            wanted = asked.bytes or use.calls(WRITES, layers=[IoLayer.HDF5]).bytes
            if not wanted or below.bytes < LEAST_AMPLIFICATION * wanted:
                continue
            if run.trace is not None and not chunk:
                continue
            extra = below.bytes - asked.bytes
            moved = use.calls(DATA, layers=layers, own=False).bytes
            cost = calls.elapsed * extra / max(moved, 1)
            evidence: dict[str, float | int | str] = {
                "times": below.bytes / wanted,
                "read_bytes": below.bytes,
                "wanted_bytes": wanted,
                "chunk": chunk,
            }
            yield Hit(use, cost, calls.elapsed, calls.count, calls.bytes, evidence, None)

    def phrase(self, told: Told) -> str:
        """What is read whole."""
        return f"chunks of {files_of(told.files, told.n_files)} read whole for a part of them"

    def text(self, told: Told) -> str:
        """Bytes wanted against bytes read."""
        evidence = told.first.evidence
        chunk = f" Chunks: {evidence['chunk']}." if evidence["chunk"] else ""
        return (
            f"HDF5 read {size(float(evidence['read_bytes']))} to serve "
            f"{size(float(evidence['wanted_bytes']))}, {number(float(evidence['times']))} times "
            f"as much; the data calls took {seconds(told.stake)}.{chunk}"
        )

    def remedy(self, told: Told) -> str:
        """Chunks like selections, or a cache that holds them."""
        return (
            "Give chunks the shape of the selections. Or make the chunk cache hold all chunks "
            "that one selection touches: H5Pset_chunk_cache(dapl, 12421, 64 << 20, 1.0). "
            "An existing file is rewritten by h5repack."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Rewrite a file that exists."""
        return (
            "h5repack -l DATASET:CHUNK=AxBxC OLD.h5 NEW.h5   # AxBxC: the shape of a selection",
        )


def _chunk(use: FileUse, trace: Trace | None) -> str:
    """Describe chunks: "x in chunks of 64 x 64, selections of 1 x 4096"; "" without any."""
    if trace is None:
        return ""
    rows = trace.rows
    mine = (rows["file"] == use.index) & (rows["object"] >= 0) & (rows["shape"] >= 0)
    for row in rows[mine]:
        shape, described = trace.shapes[row["shape"]], trace.objects[row["object"]]
        if described.chunk and any(described.chunk):
            chunk = " x ".join(str(length) for length in described.chunk)
            if shape.kind is not ShapeKind.REGULAR:
                return f"{described.name} in {chunk}"
            wanted = " x ".join(
                str(number_ * block)
                for number_, block in zip(shape.count, shape.block, strict=True)
            )
            return f"{described.name} in {chunk}, selections of {wanted}"
    return ""
