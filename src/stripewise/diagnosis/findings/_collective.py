# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What MPI-IO and HDF5 make of the program's calls."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import READS, SYSTEM, WRITES, FileUse
from stripewise.diagnosis._words import count, files_of, number, percent, seconds, size, things
from stripewise.diagnosis.findings._base import (
    BULK_BYTES,
    Hit,
    Rule,
    Run,
    Told,
    directions,
    mostly_independent,
    word,
)
from stripewise.diagnosis.findings._independent import (
    from_memory,
    in_program,
    pattern_evidence,
    pattern_words,
    tune_independent,
    without_change,
)
from stripewise.diagnosis.findings._lines import hint_lines
from stripewise.diagnosis.findings._mpi import Mpiio
from stripewise.model import IoLayer, Op

_ABOVE_MPIIO = (IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.ADIOS2)
_ABOVE_SYSTEM = (*_ABOVE_MPIIO, IoLayer.MPIIO)
LEAST_MODIFY = 0.25
LEAST_PIECES = 16
PIECE_BYTES = 64 << 10


class BrokenCollective(Rule):
    """Collective calls of HDF5 that MPI-IO got as independent ones."""

    code = "broken-collective"
    group = "requests"
    basis = (
        "time of the fastest rank in the collective calls (so that waiting for others does not "
        "count), less that of the same bytes in large requests"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """By bytes, so that HDF5's own metadata, which is independent, does not count."""
        for use in run.files:
            if IoLayer.MPIIO not in use.seen or run.n_ranks < 2:
                continue
            for writing in (True, False):
                hit = self._look(use, run, writing)
                if hit is not None:
                    yield hit

    def _look(self, use: FileUse, run: Run, writing: bool) -> Hit | None:
        ops = WRITES if writing else READS
        alone, together = (Op.WRITE, Op.WRITE_COLLECTIVE) if writing else ops
        asked = use.calls([together], layers=_ABOVE_MPIIO)
        got = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
        broken = use.calls([alone], layers=[IoLayer.MPIIO], own=False)
        mixed = use.calls([alone], layers=_ABOVE_MPIIO).bytes
        if not asked.bytes or not got.bytes or 2 * (broken.bytes - mixed) < asked.bytes:
            return None
        cost = max(0.0, asked.least - run.bulk_seconds(asked.bytes, writing=writing, besides=use))
        evidence = {
            "independent_calls": broken.count,
            "independent_bytes": broken.bytes,
            "independent_share": broken.bytes / got.bytes,
        }
        return Hit.of_calls(use, asked, cost, writing, evidence)

    def phrase(self, told: Told) -> str:
        """What happened where."""
        name = files_of(told.files, told.n_files)
        return f"collective {word(bool(told.first.writing))} of {name} that ended independent"

    def text(self, told: Told) -> str:
        """Collective above, independent beneath."""
        evidence = told.first.evidence
        return (
            f"The program made {count(told.calls)} collective calls of {size(told.bytes)} in all, "
            f"but {percent(float(evidence['independent_share']))} of the bytes reached MPI-IO in "
            f"{count(int(evidence['independent_calls']))} independent calls: HDF5 gave up the "
            "collective transfer."
        )

    def remedy(self, told: Told) -> str:
        """The usual reasons."""
        return (
            "Use the same data type in memory and in the file, and regular selections. A type "
            "conversion, a point selection or a data transform makes HDF5 transfer independently. "
            "H5Pget_mpio_no_collective_cause(dxpl, ...) after the call names the reason; "
            "chunked datasets also need H5D_MPIO_CHUNK_ONE_IO or many chunks per rank."
        )


class DataSieving(Rule):
    """Data sieving: more is read than was asked, to write or to read pieces with holes."""

    code = "data-sieving"
    group = "requests"
    also = ("amplification",)
    basis = (
        "writes: time of the slowest process in the reads before writes, counted twice (the "
        "holes are written back); reads: the share of the time that the unwanted bytes take"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Reads beneath MPI-IO that the program did not ask for."""
        for use in run.files:
            if IoLayer.MPIIO not in use.seen:
                continue
            for hit in (self._writes(use, run), self._reads(use)):
                if hit is not None:
                    yield hit

    def _writes(self, use: FileUse, run: Run) -> Hit | None:
        row = run.requests.get((use.path, True))
        asked = use.calls(WRITES, layers=[IoLayer.MPIIO], own=False)
        if row is None or not row.modify_bytes or not asked.bytes:
            return None
        extra = row.modify_bytes
        if extra < LEAST_MODIFY * asked.bytes or extra < BULK_BYTES:
            return None
        reads = use.calls(READS, layers=SYSTEM, own=False)
        spent = reads.elapsed * min(1.0, extra / max(reads.bytes, 1))
        evidence = {"extra_bytes": extra, "asked_bytes": asked.bytes} | _kind(use, True)
        stake = max(asked.elapsed, spent)
        return Hit(use, min(2 * spent, stake), stake, asked.count, asked.bytes, evidence, True)

    def _reads(self, use: FileUse) -> Hit | None:
        asked = use.calls([Op.READ], layers=[IoLayer.MPIIO], own=False)
        every = use.calls(READS, layers=[IoLayer.MPIIO], own=False)
        got = use.calls(READS, layers=SYSTEM, own=False)
        if not asked.bytes or 2 * asked.bytes < every.bytes or got.bytes < 2 * every.bytes:
            return None
        extra = got.bytes - every.bytes
        cost = asked.elapsed * extra / got.bytes
        evidence = {"extra_bytes": extra, "asked_bytes": every.bytes} | _kind(use, False)
        return Hit.of_calls(use, asked, cost, False, evidence)

    def phrase(self, told: Told) -> str:
        """Read-modify-write, or reading of holes."""
        name = files_of(told.files, told.n_files)
        if told.first.writing:
            return f"read-modify-write (data sieving) of {name}"
        return f"reads of {name} that fetch the holes too (data sieving)"

    def text(self, told: Told) -> str:
        """Asked against moved."""
        evidence = told.first.evidence
        verb = "write" if told.first.writing else "read"
        return (
            f"To {verb} {size(float(evidence['asked_bytes']))} in pieces with holes, MPI-IO read "
            f"{size(float(evidence['extra_bytes']))} that nobody asked for; the calls took "
            f"{seconds(told.stake)}."
        )

    def remedy(self, told: Told) -> str:
        """Collective, or without sieving, or in larger parts."""
        evidence = told.first.evidence
        verb = "write" if told.first.writing else "read"
        if not evidence["independent"]:
            return (
                "Switch data sieving off for collective calls. Or fill the holes: the pieces of "
                "all ranks together should leave none."
            )
        first = in_program(str(evidence["interface"]), bool(told.first.writing))
        return (
            f"{first} The pieces of all ranks then fill the holes. Without a change of source: "
            f"switch data sieving off (romio_ds_{verb}), good for few large pieces; or let it "
            "move more at once, good for many small ones."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Switch it off, or enlarge its buffer."""
        verb, way = ("write", "wr") if told.first.writing else ("read", "rd")
        off = hint_lines(
            run, {f"romio_ds_{verb}": "disable"}, {f"fbtl_posix_{verb}_datasieving": "0"}
        )
        if not told.first.evidence["independent"] or run.mpiio is Mpiio.OMPIO:
            return off
        return (*off, *hint_lines(run, {f"ind_{way}_buffer_size": "16777216"})[:2])


def _kind(use: FileUse, writing: bool) -> dict[str, float | int | str]:
    """Whether MPI-IO got most bytes in independent calls, and from which interface."""
    alone = use.calls([Op.WRITE if writing else Op.READ], layers=[IoLayer.MPIIO], own=False)
    every = use.calls(WRITES if writing else READS, layers=[IoLayer.MPIIO], own=False)
    independent = int(2 * alone.bytes >= every.bytes)
    return {"independent": independent, "interface": use.top.name.lower()}


class Scattered(Rule):
    """One call of the program becomes many small ones beneath."""

    code = "scattered-selection"
    group = "requests"
    basis = (
        "time of the slowest rank in these calls, less the time of the same bytes in large "
        "requests (best rate seen in this run, otherwise 1 GiB/s assumed)"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Independent calls of HDF5, PnetCDF, MPI-IO; 16 or more small system calls for each."""
        for use in run.files:
            if use.top not in _ABOVE_SYSTEM:
                continue
            for writing, op, _ in directions(use):
                calls = use.calls([op], layers=[use.top])
                if not calls.count:
                    continue
                below = use.calls(WRITES if writing else READS, layers=SYSTEM, own=False)
                many = below.count >= LEAST_PIECES * calls.count
                if many and below.mean_bytes < PIECE_BYTES and mostly_independent(use, writing):
                    evidence: dict[str, float | int | str] = {
                        "system_calls": below.count,
                        "system_mean_bytes": below.mean_bytes,
                        "pieces": below.count / calls.count,
                        "interface": use.top.name.lower(),
                    }
                    evidence |= pattern_evidence(run, use, writing)
                    cost = run.loss(use, calls, writing=writing)
                    yield Hit.of_calls(use, calls, cost, writing, evidence)

    def phrase(self, told: Told) -> str:
        """Pieces of what size."""
        piece = size(float(told.first.evidence["system_mean_bytes"]))
        name = files_of(told.files, told.n_files)
        return f"{word(bool(told.first.writing))} of {name} that fall into pieces of {piece}"

    def text(self, told: Told) -> str:
        """Calls above and beneath."""
        evidence = told.first.evidence
        piece = float(evidence["system_mean_bytes"])
        return (
            f"{things(told.calls, 'call')} of {size(told.mean_bytes)} became "
            f"{count(int(evidence['system_calls']))} system calls of {size(piece)}, "
            f"{number(float(evidence['pieces']))} for each; they took {seconds(told.stake)}."
            f"{pattern_words(dict(evidence), piece)}"
        )

    def remedy(self, told: Told) -> str:
        """Collective; or data that lies, in memory or in the file, as it is accessed."""
        evidence = dict(told.first.evidence)
        interface = str(evidence["interface"])
        call = "written" if told.first.writing else "read"
        memory = from_memory(evidence, float(evidence["system_mean_bytes"]))
        if memory:
            other = f"Or move the data through a buffer without holes, {call} in one call."
        elif interface == "hdf5":
            other = "Or store the dataset in chunks that have the shape of a rank's part."
        else:
            other = "Or cut the array so that a rank's part lies in one piece."
        first = in_program(interface, bool(told.first.writing))
        return f"{first} {other}{without_change(interface, chunks=not memory)}"

    def tune_options(self, told: Told) -> str | None:
        """HDF5's kind of transfer belongs to the contract."""
        return tune_independent(told)

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Pieces of one call of MPI-IO are put together by data sieving."""
        if told.first.evidence["interface"] != "mpiio":
            return ()
        verb, way = ("write", "wr") if told.first.writing else ("read", "rd")
        hints = {f"romio_ds_{verb}": "enable", f"ind_{way}_buffer_size": "16777216"}
        return hint_lines(run, hints)
