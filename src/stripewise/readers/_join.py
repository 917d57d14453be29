# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of one run -> Profile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.readers._container import FILE_RECORD, PROCESS
from stripewise.readers._directories import take_back_doubles
from stripewise.readers._parse import RawContainer, RawSettings, read_container
from stripewise.readers._profile import Profile, Settings


def read_containers(paths: Sequence[Path]) -> Profile:
    """Read the containers of one run (one per node) into one profile.

    Containers that were still being written when a process died are complete to the last
    finished call.  No containers give an empty profile.

    Raises:
        ContainerError: A file is not a container, or is one of another version.
    """
    return join_containers([read_container(Path(path)) for path in sorted(paths)])


def join_containers(raws: Sequence[RawContainer]) -> Profile:
    """Join parsed containers."""
    names: dict[bytes, int] = {}
    processes: list[NDArray[np.void]] = []
    records: list[NDArray[np.void]] = []
    hosts: list[int] = []
    owners: list[int] = []
    path_rows: list[int] = []
    settings: list[Settings] = []
    notes: list[str] = []
    for host, raw in enumerate(raws):
        first = len(processes)
        processes += raw.processes
        hosts += [host] * len(raw.processes)
        records += raw.records
        owners += [first + owner for owner in raw.owners]
        rows = [names.setdefault(_normal(path), len(names)) for path in raw.paths]
        path_rows += rows
        ids = {int(r["file_id"][0]): row for r, row in zip(raw.records, rows, strict=True)}
        settings += [_settings(entry, first, ids) for entry in raw.settings]
        notes += [f"{raw.host}: {entry.text.strip()}" for entry in raw.notes]
    paths = tuple(os.fsdecode(name) for name in names)
    process_table = _with_columns(PROCESS, processes, {"host": hosts})
    record_table = _with_columns(FILE_RECORD, records, {"process": owners, "path": path_rows})
    take_back_doubles(process_table, record_table, paths)
    return Profile(
        hosts=tuple(raw.host for raw in raws),
        processes=process_table,
        records=record_table,
        paths=paths,
        settings=tuple(settings),
        notes=tuple(dict.fromkeys(notes)),
    )


def _normal(path: bytes) -> bytes:
    return os.path.normpath(path) if path else path


def _with_columns(
    dtype: np.dtype[np.void], rows: list[NDArray[np.void]], columns: dict[str, list[int]]
) -> NDArray[Any]:
    """Rows as one structured array with further integer columns."""
    names = [*(dtype.names or ()), *columns]
    formats = [dtype.fields[name][0] for name in dtype.names or () if dtype.fields]
    wide = np.dtype({"names": names, "formats": [*formats, *(["<i8"] * len(columns))]})
    table = np.zeros(len(rows), wide)
    if rows:
        joined = np.concatenate(rows)
        for name in dtype.names or ():
            table[name] = joined[name]
    for name, values in columns.items():
        table[name] = values
    return table


def _settings(entry: RawSettings, first: int, ids: dict[int, int]) -> Settings:
    pairs = (line.partition("=") for line in entry.text.splitlines() if "=" in line)
    return Settings(
        process=first + entry.process,
        path=ids.get(entry.file_id, -1),
        layer=entry.layer,
        kind=entry.kind,
        values={key: value for key, _, value in pairs},
    )
