# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What helps independent calls: in the program, and without changing it.

Hints of collective buffering (romio_cb_write) do nothing for them, so none is offered.
"""

from __future__ import annotations

from stripewise.diagnosis._usage import FileUse
from stripewise.diagnosis._words import size
from stripewise.diagnosis.findings._base import Numbers, Run
from stripewise.patterns import block_bytes, dominant, run_bytes

_Evidence = dict[str, float | int | str]


def in_program(interface: str, writing: bool) -> str:
    """The call that is collective, one short sentence."""
    verb = "write" if writing else "read"
    if interface == "hdf5":
        return "Transfer collectively: H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)."
    if interface == "pnetcdf":
        call = f"ncmpi_{'put' if writing else 'get'}_vara"
        return f"Call {call}_all instead of {call}."
    if interface == "mpiio":
        return f"Make the calls collective: a file view and MPI_File_{verb}_all."
    if interface == "adios2":
        return "Put all variables of a step before one EndStep, and keep the file open over steps."
    return f"Use MPI-IO with MPI_File_{verb}_at_all, or gather on few ranks."


def pattern_evidence(run: Run, use: FileUse, writing: bool) -> _Evidence:
    """The pattern of the file's main dataset, where it is known."""
    pattern = dominant(
        one for one in run.patterns if one.file == use.path and one.writing == writing
    )
    if pattern is None or not pattern.distributions:
        return {}
    found: _Evidence = {
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


def pattern_words(evidence: Numbers, piece_bytes: float) -> str:
    """What the pattern says about the pieces; begins with a blank, "" if nothing."""
    if "pattern" not in evidence:
        return ""
    notation = evidence["pattern"]
    run, block = float(evidence["pattern_run_bytes"]), float(evidence["pattern_block_bytes"])
    if "storage" not in evidence and run < block:
        pieces = f"pieces of {size(run)} lie between one another"
        return f" The pattern is {notation}: the ranks' {pieces}."
    if "storage" not in evidence and piece_bytes < block / 2:
        return (
            f" In the file a rank's part ({size(block)}) lies in one piece, {notation}: it is the "
            "selection in memory that has holes (guard cells)."
        )
    return f" The pattern is {notation}."
