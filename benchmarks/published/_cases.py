# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts a published number to the case with which it was measured, for simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from published._tables import Cell, Table
from stripewise.evidence.patterns import Pattern
from stripewise.storage.fit import ModelCase
from stripewise.storage.machines import Dimension, quantity
from stripewise.storage.results._tables import settings_of
from stripewise.storage.simulation import workload_from_kernel, workload_from_notation
from stripewise.storage.stacks import Workload

HARD_BYTES = 47008
"""Bytes of one write of ior-hard.  Source: documented, IO500 rules."""
GCRM_STEP_BYTES = 26 * 327680 * 4
EASY_BYTES, HARD_WRITES = 1 << 30, 64
TRANSPORTS: Mapping[str, Mapping[str, str]] = {
    "archer2-hdd": {"FI_OFI_RXM_SAR_LIMIT": "64K"},
    "archer2-nvme": {"FI_OFI_RXM_SAR_LIMIT": "64K"},
}
"""Environment of the published runs: without it shared files were 100 times as slow.

Source: documented, EPCC's benchio and its nightly configuration.

"""


Maker = Callable[[Mapping[str, Any], int, int], Workload]
"""Returns the workload for a table's words, nodes and ranks per node."""


def case_of(table: Table, cell: Cell) -> ModelCase:
    """Return the case of a cell; for tuned cells, without the settings that were searched."""
    return _case(table, cell.workload, cell.settings)


def reference_of(table: Table, cell: Cell) -> ModelCase | None:
    """Return the case to which a ratio refers; None if the cell is not a ratio."""
    if table.unit != "ratio":
        return None
    settings = {**cell.settings, **cell.workload.get("against_settings", {})}
    stack = cell.workload.get("against", cell.workload["stack"])
    kernel = "ior-easy" if stack == "posix-process" else cell.workload["kernel"]
    return _case(table, {**cell.workload, "stack": stack, "kernel": kernel}, settings)


def like_of(table: Table, cell: Cell) -> ModelCase:
    """Return the kernel with whose best settings a cell was measured."""
    return _case(table, {**cell.workload, "kernel": cell.workload["like"]}, cell.settings)


def _case(table: Table, workload: Mapping[str, Any], settings: Mapping[str, Any]) -> ModelCase:
    plain = {key: value for key, value in workload.items() if not isinstance(value, Mapping)}
    environment = TRANSPORTS.get(table.machine, {})
    return ModelCase(
        _workload(tuple(sorted(plain.items()))),
        workload["stack"],
        settings_of(settings),
        tuple(environment.items()),
    )


@cache
def _workload(words: tuple[tuple[str, Any], ...]) -> Workload:
    given = dict(words)
    nodes = given["nodes"]
    # Cores that do not fill a whole number of nodes are spread over as many nodes.
    each = round(given["ranks"] / nodes) if "ranks" in given else given["ranks_per_node"]
    kernel = given["kernel"] if "kernel" in given else given["pattern"]
    make: Maker = _KERNELS[kernel]
    return make(given, nodes, each)


def _bytes(given: Mapping[str, Any], key: str, default: float = 0.0) -> float:
    return quantity(given[key], Dimension.SIZE) if key in given else default


def _benchio(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    share = _bytes(given, "file_bytes") / (nodes * each)
    rows = round(_bytes(given, "bytes_per_rank", share) / (128 * 128 * 8))
    notation = f"<3D,(BLOCK,BLOCK,BLOCK),({max(rows, 1)},128,128)>"
    return workload_from_notation(notation, nodes, each)


def _gcrm(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    default = 10 * GCRM_STEP_BYTES * nodes * each
    steps = _bytes(given, "file_bytes", default) / (GCRM_STEP_BYTES * nodes * each)
    return workload_from_kernel(
        f"gcrm --type float --steps {max(round(steps), 1)} --open-once",
        nodes, each, collective=True,
    )  # fmt: skip


def _flash(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    """Return the workload of a checkpoint and two plot files.

    Source: FLASH I/O benchmark: 24 unknowns in double and 4 in single precision, and these once
    more at the 17 corners of 16 cells; file sizes according to Behzad et al.
    """
    del given
    every = (("check", 16, "double", 24), ("plot", 16, "float", 4), ("corner", 17, "float", 4))
    patterns: list[Pattern] = []
    for file, side, width, number in every:
        words = f"flash --local 320,{side},{side},{side} --type {width}"
        made = workload_from_kernel(words, nodes, each).patterns[:number]
        patterns += (replace(one, file=file) for one in made)
    return Workload(tuple(patterns), nodes, each)


def _btio(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    size = f"--size 128,512,512 --type double --steps {given['steps']} --open-once"
    return workload_from_kernel(f"btio {size}", nodes, each)


def _small_file(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    size = round(_bytes(given, "file_bytes"))
    return workload_from_notation(
        f"<1D,(*),({size})>", nodes, each, element_bytes=1, collective=False, writing=False
    )


def _hard(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    del given
    return workload_from_notation(
        f"<1D,(CYCLIC({HARD_BYTES})),({HARD_BYTES * HARD_WRITES})>",
        nodes, each, element_bytes=1, collective=False,
    )  # fmt: skip


def _easy(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
    del given
    return workload_from_notation(
        f"<1D,(BLOCK),({EASY_BYTES})>", nodes, each, element_bytes=1, collective=False
    )


def _words(words: str) -> Maker:
    def make(given: Mapping[str, Any], nodes: int, each: int) -> Workload:
        del given
        return workload_from_kernel(f"{words} --open-once", nodes, each)

    return make


_KERNELS: Mapping[str, Maker] = {
    "benchio": _benchio,
    "vpic": _words("vpic"),
    "ior": _words("vpic"),
    "vorpal": _words("vorpal --steps 20"),
    "resemble-vorpal": _words("vorpal --local 64,128,256 --steps 20"),
    "gcrm": _gcrm,
    "flash": _flash,
    "btio": _btio,
    "small-file": _small_file,
    "ior-hard": _hard,
    "ior-easy": _easy,
}
"""Kernel or pattern of a table to the function that makes its workload."""
