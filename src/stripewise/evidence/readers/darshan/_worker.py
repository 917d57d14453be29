# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Darshan log into arrays, in a separate process: Darshan's library trusts its input.

Called as `python -P _worker.py MEMORY_BYTES SECONDS`: it imports nothing from Stripewise. Each
line of its input is a JSON list [LOG, OUTPUT, ERRORS]; the log is read in a fork, so that a crash
and the limits concern only one log while the library is loaded once. OUTPUT becomes an npz without
pickles: "meta" is a JSON text, everything else is numbers. ERRORS receives what the library
prints. The answer is one line: the exit code of the fork, or minus the signal that ended it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

COUNTED = (
    *("POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"),
    *("DFS", "DAOS"),
)
DXT = ("DXT_POSIX", "DXT_MPIIO")
READ = {*COUNTED, *DXT, "HEATMAP", "LUSTRE"}
MISSING = 3
UNREADABLE = 4
TOO_LARGE = 5
FAILED = 1
OWNER = np.dtype([("id", "<u8"), ("rank", "<i8"), ("n_writes", "<i8"), ("n_reads", "<i8")])
SEGMENT = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])


class Extract:
    """Data read so far: arrays by name, and facts for the JSON part."""

    def __init__(self, backend: Any, log: dict[str, Any]) -> None:
        self.backend = backend
        self.log = log
        self.arrays: dict[str, Any] = {}
        self.meta: dict[str, Any] = {"trouble": []}

    def attempt(self, what: str, step: Callable[[], Any], default: Any) -> Any:
        """Return `step()`; if the log is broken, record that and return `default`."""
        try:
            return step()
        except MemoryError:
            raise
        except Exception as error:
            self.meta["trouble"].append(f"{what} cannot be read ({type(error).__name__})")
            return default

    def records(self, module: str) -> list[dict[str, Any]]:
        """Return all records of a module, as many as can be read."""
        found: list[dict[str, Any]] = []

        def read_all() -> None:
            while (record := self.backend.log_get_record(self.log, module)) is not None:
                found.append(record)

        self.attempt(f"module {module}", read_all, None)
        return found


def main(arguments: list[str]) -> int:
    """Read logs until the input ends; return the exit code."""
    memory_bytes, seconds = map(int, arguments)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        from darshan.backend import cffi_backend as backend
    except ImportError:
        return MISSING
    for line in sys.stdin:
        path, output, errors = json.loads(line)
        child = os.fork()
        if not child:
            _in_fork(backend, path, output, errors, (memory_bytes, seconds))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return 0


def _in_fork(backend: Any, path: str, output: str, errors: str, limits: tuple[int, int]) -> None:
    """Read one log and exit."""
    code = UNREADABLE
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        memory_bytes, seconds = limits
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        code = _read(backend, path, output)
    except MemoryError:
        code = TOO_LARGE
    except BaseException:
        traceback.print_exc()
        code = FAILED
    finally:
        sys.stderr.flush()
        os._exit(code)


def _read(backend: Any, path: str, output: str) -> int:
    log = backend.log_open(path)
    if not log["handle"]:
        return UNREADABLE
    extract = Extract(backend, log)
    extract.meta["library"] = extract.attempt("its version", backend.get_lib_version, "")
    _read_job(extract)
    _read_modules(extract)
    with open(output, "wb") as stream:
        np.savez(stream, meta=np.array(json.dumps(extract.meta)), **extract.arrays)
    return 0


def _read_job(extract: Extract) -> None:
    backend, log = extract.backend, extract.log
    extract.meta["job"] = extract.attempt("the job", lambda: backend.log_get_job(log), {})
    extract.meta["exe"] = extract.attempt("the command", lambda: backend.log_get_exe(log), "")
    modules = extract.attempt("the list of modules", lambda: backend.log_get_modules(log), {})
    extract.meta["modules"] = modules
    names = extract.attempt("names of files", lambda: _names(backend, log), {})
    extract.meta["names"] = {str(key): name for key, name in names.items()}


def _names(backend: Any, log: dict[str, Any]) -> dict[int, str]:
    """Return names like PyDarshan's own function, but without requiring UTF-8."""
    records = backend.ffi.new("struct darshan_name_record **")
    count = backend.ffi.new("int *")
    backend.libdutil.darshan_log_get_name_records(log["handle"], records, count)
    text = backend.ffi.string
    return {
        int(records[0][row].id): text(records[0][row].name).decode("utf-8", "surrogateescape")
        for row in range(count[0])
    }


def _read_modules(extract: Extract) -> None:
    modules = extract.meta["modules"]
    for module in COUNTED:
        if module in modules:
            _read_counters(extract, module)
    for module in DXT:
        if module in modules:
            _read_dxt(extract, module)
    if "HEATMAP" in modules:
        _read_heatmap(extract)
    if "LUSTRE" in modules:
        _read_lustre(extract)
    extract.meta["unread"] = {
        name: extract.attempt(f"module {name}", partial(_count_records, extract, place), 0)
        for name, place in ((name, modules[name]["idx"]) for name in modules if name not in READ)
    }


def _count_records(extract: Extract, place: int) -> int:
    """Count the records of a module that is not read; 0 if the library does not know it."""
    backend = extract.backend
    found = 0
    buffer = backend.ffi.new("void **")
    while backend.libdutil.darshan_log_get_record(extract.log["handle"], place, buffer) > 0:
        backend.libdutil.darshan_free(buffer[0])
        buffer[0] = backend.ffi.NULL
        found += 1
    return found


def _read_counters(extract: Extract, module: str) -> None:
    """Read records as rows with a member for each counter, without the module's prefix."""
    records = extract.records(module)
    if not records:
        return
    backend = extract.backend
    columns = _identified(records)
    if "file_rec_id" in records[0]:
        owners = [record["file_rec_id"] for record in records]
        columns["file_id"] = np.array(owners, np.uint64)
    prefix = f"{module.replace('-', '')}_"
    for kind, names in (
        ("counters", backend.counter_names(module)),
        ("fcounters", backend.fcounter_names(module)),
    ):
        values = np.array([record[kind] for record in records])
        short = [name.removeprefix(prefix) for name in names]
        columns |= dict(zip(short, values.T, strict=False))
    extract.arrays[module] = _table(columns)


def _identified(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": np.array([record["id"] for record in records], np.uint64),
        "rank": np.array([record["rank"] for record in records], np.int64),
    }


def _table(columns: dict[str, Any]) -> Any:
    table = np.zeros(len(columns["id"]), [(name, one.dtype) for name, one in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def _read_dxt(extract: Extract, module: str) -> None:
    """Read segments of all records into one array of numbers, without PyDarshan's dictionaries."""
    backend = extract.backend
    index = extract.meta["modules"][module]["idx"]
    owners: list[tuple[int, int, int, int]] = []  # as in OWNER
    hosts: list[str] = []
    parts: list[Any] = []

    def read_all() -> None:
        buffer = backend.ffi.new("void **")
        head = backend.ffi.sizeof("struct dxt_file_record")
        while backend.libdutil.darshan_log_get_record(extract.log["handle"], index, buffer) > 0:
            record = backend.ffi.cast("struct dxt_file_record **", buffer)[0]
            n_writes, n_reads = int(record.write_count), int(record.read_count)
            if n_writes < 0 or n_reads < 0:
                raise ValueError("negative number of segments")
            n_bytes = SEGMENT.itemsize * (n_writes + n_reads)
            segments = backend.ffi.buffer(buffer[0] + head, n_bytes)
            parts.append(np.frombuffer(bytes(segments), SEGMENT))
            owners.append((int(record.base_rec.id), int(record.base_rec.rank), n_writes, n_reads))
            hosts.append(backend.ffi.string(record.hostname).decode("utf-8", "replace"))
            backend.libdutil.darshan_free(buffer[0])
            buffer[0] = backend.ffi.NULL

    extract.attempt(f"module {module}", read_all, None)
    if owners:
        extract.arrays[module] = np.array(owners, OWNER)
        extract.arrays[f"{module}/segments"] = np.concatenate(parts)
        extract.meta[f"{module}/hosts"] = hosts


def _read_heatmap(extract: Extract) -> None:
    records = extract.records("HEATMAP")
    if not records:
        return
    columns = _identified(records)
    columns["width"] = np.array([record["bin_width_seconds"] for record in records])
    columns["bins"] = np.array([record["nbins"] for record in records], np.int64)
    extract.arrays["HEATMAP"] = _table(columns)
    for name in ("read", "write"):
        bins = [record[f"{name}_bins"] for record in records]
        extract.arrays[f"HEATMAP/{name}"] = np.concatenate(bins)


def _read_lustre(extract: Extract) -> None:
    """Read layouts: of components since Darshan 3.4.6, of whole files before."""
    backend = extract.backend
    layouts: list[dict[str, Any]] = []
    for record in extract.records("LUSTRE"):
        if "components" in record:
            names = backend.counter_names("LUSTRE_COMP")
            parts = record["components"]
        else:
            names = backend.counter_names("LUSTRE")
            parts = [record]
        for place, part in enumerate(parts):
            counters = dict(zip(names, part["counters"].tolist(), strict=False))
            entry = {"id": int(record["id"]), "component": place, "counters": counters}
            entry["targets"] = [int(target) for target in part.get("ost_ids", ())]
            layouts.append(entry)
    extract.meta["lustre"] = layouts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
