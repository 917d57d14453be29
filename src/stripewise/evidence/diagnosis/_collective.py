# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges how MPI-IO transfers interleaved pieces of several ranks, and how it could.

Hints of collective buffering (romio_cb_write) have no effect on independent calls, so the remedies
for these suggest none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from stripewise.evidence.diagnosis._base import (
    WAYS,
    Hit,
    Merged,
    Numbers,
    PreparedRun,
    Rule,
    capped,
)
from stripewise.evidence.diagnosis._interleaved import holes
from stripewise.evidence.facts import Mpiio, hint_lines, without_ompio
from stripewise.evidence.figures import SYSTEM, Calls, FileUse
from stripewise.evidence.patterns import block_bytes, dominant, run_bytes
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

PIECE_BYTES = 64 << 10
BULK_BYTES = 1 << 20
LEAST_CALLS = 100
LEAST_PIECES = 16


class SmallIndependent(Rule):
    """Small independent requests on a file that several ranks share."""

    code = "small-independent"
    group = "requests"
    basis = "collective calls that move the same bytes in pieces of this size on this MPI"
    title = "Ranks make small independent calls to a shared file"
    general_remedy = (
        "Use the collective call of the interface, which merges the pieces of all ranks."
    )
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find shared MPI files with mostly independent pieces below 1 MiB on average."""
        for use in run.files:
            if not use.shared or run.n_ranks < 2 or use.top is IoLayer.STDIO or use.top < 0:
                continue
            for writing, ops in WAYS:
                calls, every = _independent(use, ops), use.calls(ops)
                if 2 * calls.bytes < every.bytes or not calls.bytes or _own_parts(use, writing):
                    continue
                below = use.calls(ops, layers=SYSTEM, own=False)
                found = pattern_evidence(run, use, writing)
                piece = _piece_bytes_of(calls.mean_bytes, below.mean_bytes, found)
                many = max(calls.count, below.count) >= LEAST_CALLS
                if not many or not 0 < piece < BULK_BYTES:
                    continue
                evidence: dict[str, float | int | str] = {
                    "ranks": calls.ranks,
                    "interface": "pnetcdf-wait" if use.posted else use.top.name.lower(),
                    "piece_bytes": piece,
                    "system_calls": below.count,
                    "system_bytes": below.bytes,
                }
                evidence |= found | holes(run.trace, use, writing)
                if _has_shared_pointer(run, use):
                    evidence["shared_pointer"] = 1
                after = run.exchange(calls.bytes, piece, writing=writing)
                gain = None if after is None else run.now(calls.elapsed).minus(after)
                gain = capped(gain, _transfer_seconds(use, ops))
                yield Hit.of_calls(use, calls, gain, writing, evidence)

    def phrase(self, merged: Merged) -> str:
        return f"{size(float(merged.evidence['piece_bytes']))} independent {merged.way_files}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        below = int(evidence["system_calls"])
        pieces = ""
        if below >= LEAST_PIECES * merged.calls:
            mean = size(int(evidence["system_bytes"]) / below)
            pieces = f" They became {things(below, 'system call')} of {mean}."
        return (
            f"{evidence['ranks']} ranks made {things(merged.calls, 'independent call')} of "
            f"{size(merged.mean_bytes)} on average to a shared file; the slowest rank spent "
            f"{seconds(merged.stake)} in them.{pieces}"
            f"{_pattern_words(evidence, float(evidence['piece_bytes']))}"
        )

    def remedy(self, merged: Merged) -> str:
        interface = str(merged.evidence["interface"])
        change = (
            " Without a change of source, `stripewise tune --allow contract` tries "
            "hdf5.transfer=collective (only right if all ranks make the same transfers)."
        )
        if "shared_pointer" in merged.evidence:
            return (
                "Collect many records in memory and move them with one call. Each call with a "
                "shared file pointer waits for that of the rank before it; the order of arrival "
                "does not allow collective calls."
            )
        return (
            f"{_collective_advice(interface, merged.writing)} MPI then merges the pieces of all "
            "ranks into large requests by a few aggregators. All ranks must make the same number "
            f"of calls, with no data where they have none.{change if interface == 'hdf5' else ''}"
        )

    def tune_options(self, merged: Merged) -> str | None:
        interface = merged.evidence["interface"]
        if interface in ("posix", "stdio"):  # no layer to tune beneath them
            return None
        return "--allow contract" if interface == "hdf5" else ""


class Shredded(Rule):
    """Calls of MPI-IO that gather pieces badly: by many system calls, or by a slow exchange."""

    group = "requests"
    tunes = True

    collective: bool
    mode: str

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find dominant calls with pieces below 64 KiB; independent ones only of OMPIO."""
        if run.n_ranks < 2 or not (self.collective or run.mpiio is Mpiio.OMPIO):
            return
        for use in run.files:
            for writing, ops in WAYS:
                op = ops[1] if self.collective else ops[0]
                calls = use.calls([op], layers=[IoLayer.MPIIO], own=False)
                every = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
                if not calls.bytes or 2 * calls.bytes < every.bytes:
                    continue
                below = use.calls(ops, layers=SYSTEM, own=False)
                hit = self._hit(run, use, writing, calls, below)
                if hit is not None:
                    yield hit

    def _hit(
        self, run: PreparedRun, use: FileUse, writing: bool, calls: Calls, below: Calls
    ) -> Hit | None:
        now = calls.least if self.collective else calls.elapsed
        shredded = below.count >= LEAST_PIECES * calls.count
        piece = below.mean_bytes
        if not shredded:
            slow = run.mpiio is Mpiio.OMPIO and self.collective and 2 * below.elapsed < now
            piece = float(pattern_evidence(run, use, writing).get("pattern_run_bytes", 0))
            piece = piece if slow else 0.0
        if not 0 < piece < PIECE_BYTES:
            return None
        after = run.exchange(
            calls.bytes if self.collective else max(calls.bytes, use.extent),
            piece,
            writing=writing,
            stack="openmpi-romio" if run.mpiio is Mpiio.OMPIO else "",
            collective=self.collective,
        )
        gain = None if after is None else run.now(now).minus(after)
        evidence: Numbers = {
            "system_calls": below.count,
            "system_seconds": below.elapsed,
            "piece_bytes": piece,
            "mpiio": str(run.mpiio),
        }
        return Hit(use, gain, now, calls.count, calls.bytes, evidence, writing)

    def phrase(self, merged: Merged) -> str:
        piece = size(float(merged.evidence["piece_bytes"]))
        return f"{self.mode} {merged.way} of {merged.names} in pieces of {piece}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        piece, below = size(float(evidence["piece_bytes"])), int(evidence["system_calls"])
        if below < LEAST_PIECES * merged.calls:
            return (
                f"{things(merged.calls, f'{self.mode} call')} of {size(merged.mean_bytes)} took "
                f"the fastest rank {seconds(merged.stake)}, of which system calls took "
                f"{seconds(float(evidence['system_seconds']))}: the rest is the exchange of "
                f"pieces of {piece} between the ranks."
            )
        return (
            f"{things(merged.calls, f'{self.mode} call')} of {size(merged.mean_bytes)} became "
            f"{count(below)} system calls of {piece}: the MPI did not gather them. The "
            f"{'fastest' if self.collective else 'slowest'} rank spent {seconds(merged.stake)} in "
            "them."
        )

    def remedy(self, merged: Merged) -> str:
        if merged.evidence["mpiio"] == Mpiio.OMPIO:
            return (
                "Let Open MPI use its ROMIO, which gathers the pieces faster than its own MPI-IO, "
                "OMPIO."
            )
        verb = "write" if merged.writing else "read"
        return f"Enable collective buffering: the hint romio_cb_{verb}=enable."

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        if run.mpiio is Mpiio.OMPIO:
            return (without_ompio(),)
        return hint_lines(
            run.mpiio, {f"romio_cb_{'write' if merged.writing else 'read'}": "enable"}
        )


class ShreddedCollective(Shredded):
    """Collective calls of MPI-IO that are not gathered into large requests."""

    code = "shredded-collective"
    basis = "the same collective calls through ROMIO with its buffers, on this MPI"
    title = "Collective calls reach the storage in small pieces"
    general_remedy = (
        "Let MPI-IO gather the pieces: enable collective buffering, with Open MPI use its ROMIO."
    )
    collective = True
    mode = "collective"


class ShreddedIndependent(Shredded):
    """Independent calls of OMPIO that are not gathered into large requests."""

    code = "shredded-independent"
    basis = "the same independent calls through ROMIO with its buffers, on this MPI"
    title = "Independent calls through a file view reach the storage in small pieces"
    general_remedy = (
        "Let Open MPI use its ROMIO, which moves pieces and what lies between them at once."
    )
    collective = False
    mode = "independent"


def _independent(use: FileUse, ops: Sequence[Op]) -> Calls:
    """Return the independent calls of the top layer; of posted ones, what their waits made."""
    if use.posted and use.top is IoLayer.PNETCDF:
        return use.calls(ops[:1], layers=[IoLayer.MPIIO], own=False)
    return use.calls(ops[:1], layers=[use.top])


def _transfer_seconds(use: FileUse, ops: Sequence[Op]) -> float:
    """Return the time in MPI-IO below a library, which collective transfers change; else all."""
    below = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
    through = use.top > IoLayer.MPIIO and below.count
    return below.elapsed if through else math.inf


def _own_parts(use: FileUse, writing: bool) -> bool:
    """Return whether each rank writes its own part through POSIX: only a buffer may help."""
    return use.top is IoLayer.POSIX and not use.order_share("consecutive", writing) < 0.5


def _piece_bytes_of(call_bytes: float, system_bytes: float, pattern: Numbers) -> float:
    """Return the size of one contiguous piece: the least of call, system call and run."""
    known = (call_bytes, system_bytes, float(pattern.get("pattern_run_bytes", 0)))
    return min((value for value in known if value > 0), default=0.0)


def _has_shared_pointer(run: PreparedRun, use: FileUse) -> bool:
    """Return whether a trace shows calls with a shared file pointer on a file."""
    trace = run.trace
    if trace is None or use.top is not IoLayer.MPIIO:
        return False
    shared = [place for place, name in enumerate(trace.names) if name.endswith("_shared")]
    rows = trace.rows
    return bool(np.isin(rows["name"][rows["file"] == use.index], shared).any())


def _collective_advice(interface: str, writing: bool) -> str:
    """Return a short sentence on how to make the calls of an interface collective."""
    verb = "write" if writing else "read"
    if interface == "hdf5":
        return "Transfer collectively: H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)."
    if interface == "pnetcdf":
        call = f"ncmpi_{'put' if writing else 'get'}_vara"
        return f"Call {call}_all instead of {call}."
    if interface == "pnetcdf-wait":
        return "Wait with ncmpi_wait_all instead of ncmpi_wait, in collective data mode."
    if interface == "mpiio":
        return f"Make the calls collective: a file view and MPI_File_{verb}_all."
    if interface == "adios2":
        return "Put all variables of a step before one EndStep, and keep the file open over steps."
    return f"Use MPI-IO with MPI_File_{verb}_at_all, or gather on few ranks."


def pattern_evidence(
    run: PreparedRun, use: FileUse, writing: bool
) -> dict[str, float | int | str]:
    """Return the pattern of the file's main dataset, if it is known."""
    pattern = dominant(
        one for one in run.patterns if one.file == use.path and one.writing == writing
    )
    if pattern is None or not pattern.distributions:
        return {}
    found: dict[str, float | int | str] = {
        "pattern": pattern.notation,
        "pattern_run_bytes": run_bytes(pattern),
        "pattern_block_bytes": block_bytes(pattern),
    }
    if pattern.dataset:
        found["dataset"] = pattern.dataset
    objects = run.trace.objects if run.trace is not None else ()
    mine = (one for one in objects if (one.file, one.name) == (use.index, pattern.dataset))
    if any(any(one.chunk) for one in mine):
        found["storage"] = "chunked"
    return found


def _pattern_words(evidence: Numbers, piece_bytes: float) -> str:
    """Describe the pieces by the pattern, with a leading blank; empty without a pattern."""
    if "pattern" not in evidence:
        return ""
    notation = evidence["pattern"]
    run, block = float(evidence["pattern_run_bytes"]), float(evidence["pattern_block_bytes"])
    if "storage" not in evidence and run < block:
        pieces = f"pieces of {size(run)} lie between one another"
        return f" The pattern is {notation}: the ranks' {pieces}."
    holey = evidence.get("memory_holes") and piece_bytes < block / 2
    if "storage" not in evidence and holey:
        return (
            f" In the file a rank's part ({size(block)}) lies in one piece, {notation}: it is the "
            "selection in memory that has holes (guard cells)."
        )
    if "file_piece_bytes" in evidence and float(evidence["file_piece_bytes"]) < block / 2:
        piece, period = (size(float(evidence[f"file_{n}_bytes"])) for n in ("piece", "period"))
        return f" One call moves pieces of {piece}, {period} apart in the file ({notation})."
    return f" The pattern is {notation}."
