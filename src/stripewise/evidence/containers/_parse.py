# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the bytes of one container into its processes and records; does no I/O but the read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import ContainerError
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers._trace_blocks import (
    MOST_ROWS,
    RawTrace,
    TraceBlockKind,
    TraceRecordKind,
    add_events,
    add_shared_records,
)
from stripewise.evidence.containers.container import (
    Seals,
    Store,
    blocks,
    checksum,
    does_not_match,
    scan_records,
)
from stripewise.evidence.trace import (
    READS,
    RECORDED_LAYERS,
    WRITES,
    MpiFamily,
    PluginState,
    join_rows,
    take_rows,
)
from stripewise.present import plural, size_text

_TRACE_BLOCKS = tuple(TraceBlockKind)
_KINDS = (*c.BlockKind, *_TRACE_BLOCKS)
_TRACE_RECORDS = tuple(TraceRecordKind)
_RECORDS: dict[int, tuple[np.dtype[np.void], str]] = {
    c.RecordKind.FILE: (c.FILE_RECORD, "path_bytes"),
    c.RecordKind.SETTINGS: (c.SETTINGS_RECORD, "text_bytes"),
    c.RecordKind.NOTE: (c.SETTINGS_RECORD, "text_bytes"),
    c.RecordKind.METADATA: (c.METADATA_RECORD, "path_bytes"),
    c.RecordKind.ISSUED: (c.FILE_RECORD, "path_bytes"),
    c.RecordKind.TRANSFERS: (c.TRANSFERS_RECORD, "name_bytes"),
}
"""Fixed part of each kind of record, and the member that contains the length of its tail."""
_MOST_RANKS = 1 << 24
_MOST_BYTES = 1 << 62
NOT_RECORDED = "not recorded"
"""Part of the note on processes beyond the maximum number of their run."""
_LATEST_NS = 1 << 62
_TIMES = ("outermost", "first", "last")


@dataclass
class RawRecords:
    """Records of one kind, in the order of the file.

    Attributes:
        dtype: Type of the fixed part of a record.
        processes: Index in `RawContainer.processes` of each record's process.
        tails: Path or text that follows each record's fixed part.
        parts: Fixed parts of the records, in several arrays.
    """

    dtype: np.dtype[np.void]
    processes: list[int] = field(default_factory=list)
    tails: list[bytes] = field(default_factory=list)
    parts: list[NDArray[Any]] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.tails)

    @property
    def fixed(self) -> NDArray[Any]:
        """Fixed parts of all records: (n,) `dtype`."""
        return join_rows(self.parts) if self.parts else np.zeros(0, self.dtype)

    def add(self, process: int, fixed: NDArray[Any], tails: Sequence[bytes]) -> None:
        """Add records of one process."""
        self.processes += [process] * len(tails)
        self.tails += tails
        self.parts.append(fixed)


@dataclass
class RawContainer:
    """Contents of one container.

    Attributes:
        host / run_id: Host and run in the container's header.
        processes: One (1,) `PROCESS` array per process.
        records: Records by `RecordKind`.
        trace: Events; empty if they were not requested.
        unchecked: Processes whose blocks have no checksums: they were killed, had threads at their
            end or continued after it, or used an earlier version of the library.
        problems: Messages about what cannot be read.
    """

    host: str
    run_id: str
    processes: list[NDArray[np.void]] = field(default_factory=list)
    records: dict[int, RawRecords] = field(
        default_factory=lambda: {kind: RawRecords(dtype) for kind, (dtype, _) in _RECORDS.items()}
    )
    trace: RawTrace = field(default_factory=RawTrace)
    unchecked: int = 0
    problems: list[str] = field(default_factory=list)


def parse_container(store: Store, *, events: bool = False, room: int = MOST_ROWS) -> RawContainer:
    """Parse a container, block by block; ignore what follows the last committed record.

    Data behind the last block is reported as a problem.

    Args:
        store: Bytes of the container.
        events: Whether to parse the trace too.
        room: Maximum number of rows of the trace to read.

    Raises:
        ContainerError: The container cannot be read, has another version, or does not match its
            checksums.
    """
    raw = parse_header(store)
    raw.trace.room = room
    process_of: dict[int, int] = {}
    strange: Counter[str] = Counter()
    seals = Seals(store)
    end = 2 * c.PAGE
    for block in blocks(store):
        end = max(end, block.end)
        if block.kind not in _KINDS:
            strange["pages that belong to no block"] += 1
            continue
        seals.meet(block)
        in_trace = block.kind in _TRACE_BLOCKS
        if in_trace and not events:
            continue
        start = block.offset + c.BLOCK_HEADER.itemsize
        payload = store.fetch(start, min(block.end, store.size) - start)
        seals.check(block, payload)
        first = 0
        if block.kind == c.BlockKind.PROCESS:
            if len(payload) < c.PROCESS.itemsize or not _is_process(payload):
                strange["processes that are invalid"] += 1
                continue
            process_of[block.offset] = len(raw.processes)
            raw.processes.append(np.frombuffer(payload, c.PROCESS, 1).copy())
            first = c.PROCESS.itemsize
        owner = process_of.get(block.process_id)
        if owner is None:
            strange["blocks that belong to no process"] += 1
        elif in_trace:
            add_events(payload, owner, raw.trace, begins=block.kind == TraceBlockKind.THREAD)
        else:
            _parse_records(payload, first, owner, raw, strange, events=events)
    raw.unchecked = len(process_of.keys() - seals.blocks.keys())
    if end <= store.size and (missing := seals.missing()):
        strange["blocks that are missing"] += missing
    found = [f"{number} {what}" for what, number in strange.items()]
    if end > store.size:
        found.insert(0, f"cut off, {store.size} of at least {end} bytes")
    if found:
        raw.problems.append(f"{Path(store.name).name} is damaged: {'; '.join(found)}")
    if end < store.size:
        rest = size_text(store.size - end)
        raw.problems.append(f"{Path(store.name).name}: {rest} after its end are not read")
    return raw


def parse_header(store: Store) -> RawContainer:
    """Parse only the host and the run of a container.

    Raises:
        ContainerError: The file cannot be read, or is not a container of this version.
    """
    name = store.name
    if not store.size:
        raise ContainerError(
            f"{name}: not a Stripewise container (it is empty: its disk was full; free some space "
            "there)"
        )
    data = store.fetch(0, c.CONTAINER_HEADER.itemsize)
    if len(data) < c.CONTAINER_HEADER.itemsize:
        raise ContainerError(
            f"{name}: not a Stripewise container, or cut off: {len(data)} bytes are too few for "
            "its header"
        )
    header: Any = np.frombuffer(data, c.CONTAINER_HEADER, 1)[0]
    if int(header["magic"]) != c.CONTAINER_MAGIC:
        raise ContainerError(f"{name}: not a Stripewise container (wrong magic number)")
    if int(header["version"]) != c.CONTAINER_VERSION:
        raise ContainerError(
            f"{name}: container version {int(header['version'])}, this Stripewise reads "
            f"{c.CONTAINER_VERSION}; rebuild the library with `stripewise doctor build`"
        )
    if header["sum"] and checksum(data[: c.SUMMED_HEADER_BYTES]) != header["sum"]:
        raise does_not_match(name)
    raw = RawContainer(text_of(header["host"]), text_of(header["run_id"]))
    if lost := int(header["lost_processes"]):
        raw.problems.append(
            f"{plural(lost, 'process', 'processes')} {NOT_RECORDED}: the container reached "
            "STRIPEWISE_RUN_BYTES"
        )
    return raw


def _parse_records(
    payload: bytes,
    first: int,
    owner: int,
    raw: RawContainer,
    strange: Counter[str],
    *,
    events: bool,
) -> None:
    offsets, heads = scan_records(payload, first)
    if events:
        add_shared_records(payload, offsets, heads, owner, raw.trace)
    kinds = heads["kind"]
    for kind in _RECORDS:
        of_kind = kinds == kind
        if of_kind.any():
            sizes = heads["bytes"][of_kind].astype(np.int64)
            trouble = _add_records(payload, offsets[of_kind], sizes, kind, owner, raw)
            strange.update({f"records of files {what}": n for what, n in trouble.items() if n})
    if unknown := int((~np.isin(kinds, [*_RECORDS, *_TRACE_RECORDS])).sum()):
        strange["records of an unknown kind"] += unknown


def _add_records(
    payload: bytes,
    offsets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    kind: int,
    owner: int,
    raw: RawContainer,
) -> dict[str, int]:
    """Add records of a kind, but report the files' counters that are impossible instead.

    Args:
        payload: Payload of a block.
        offsets: (n,) offsets of the records in it, in bytes.
        sizes: (n,) sizes in bytes.
        kind: Kind of all these records.
        owner: Process of the records.
        raw: Container to which they are added.
    """
    dtype, length = _RECORDS[kind]
    counts = kind == c.RecordKind.FILE
    whole = sizes >= dtype.itemsize
    n_cut = int((~whole).sum())
    offsets, room = offsets[whole], sizes[whole] - dtype.itemsize
    fixed = _gathered(payload, offsets, dtype)
    stated = fixed[length].astype(np.int64)
    n_wrong = n_odd = 0
    if counts:
        possible = (stated <= room) & _are_possible(fixed)
        n_wrong = int((~possible).sum())
        if n_wrong:
            fixed, offsets = take_rows(fixed, possible), offsets[possible]
            stated, room = stated[possible], room[possible]
        n_odd = int((~_are_consistent(fixed)).sum())
    begins = offsets + dtype.itemsize
    ends = begins + np.minimum(stated, room)
    tails = [payload[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    raw.records[kind].add(owner, fixed, tails)
    if not counts:
        return {}
    return {
        "that are cut off": n_cut,
        "that are invalid, and are left out": n_wrong,
        "that contradict themselves": n_odd,
    }


def _gathered(
    payload: bytes, offsets: NDArray[np.int64], dtype: np.dtype[np.void]
) -> NDArray[Any]:
    """Return (n,) `dtype`: the records at offsets, which are multiples of 8."""
    words = np.frombuffer(payload, np.uint64, len(payload) // 8)
    places = (offsets // 8)[:, None] + np.arange(dtype.itemsize // 8)
    gathered: NDArray[Any] = words[places].view(dtype).reshape(-1)
    return gathered


def _is_process(payload: bytes) -> bool:
    """Return whether the numbers of a process are possible."""
    row: Any = np.frombuffer(payload, c.PROCESS, 1)[0]
    return bool(
        -1 <= row["rank"] < _MOST_RANKS
        and 0 <= row["world_size"] <= _MOST_RANKS
        and (row["rank"] < 0 or row["rank"] < max(row["world_size"], 1))
        and row["mpi_family"] < len(MpiFamily)
        and row["plugin_state"] < len(PluginState)
        and row["capture"] < len(c.CaptureMode)
        and max(row["start_ns"], row["end_ns"], row["clock_ns"]) < _LATEST_NS
    )


def _are_possible(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether the numbers of files are possible."""
    ops, possible = rows["ops"], rows["layer"] < len(RECORDED_LAYERS)
    for size in (ops["bytes"].max(axis=1), ops["count"].max(axis=1), rows["maximum_offset"]):
        possible &= size < np.uint64(_MOST_BYTES)
    for ns in (ops["ns"].max(axis=1), *(rows[f"{name}_ns"] for name in _TIMES)):
        possible &= ns < np.uint64(_LATEST_NS)
    return np.asarray(possible)


def _are_consistent(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether the counters of possible files agree with each other."""
    ops = rows["ops"]
    sound = np.ones(len(rows), bool)
    for kind, both in (("read", READS), ("write", WRITES)):
        count = ops["count"][:, both].sum(axis=1)
        moved = ops["bytes"][:, both].sum(axis=1)
        low, high = rows[f"{kind}_min"], rows[f"{kind}_max"]
        least = (moved + high - np.uint64(1)) // np.maximum(high, np.uint64(1))  # calls
        sound &= (high == 0) | ((low <= high) & (high <= moved) & (least <= count))
    return sound


def text_of(data: bytes) -> str:
    """Return a text of a container; bytes that are not UTF-8 are replaced."""
    return bytes(data).rstrip(b"\0").decode(errors="replace")
