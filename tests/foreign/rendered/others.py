# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures as h5bench, benchio, elbencho and fio print them.

Source: h5bench_patterns/h5bench_write.c and h5bench_read.c of hpc-io/h5bench, 2021 (whole GB) and
2022 to 2024; benchio.f90 of davidhenty/benchio and EPCCed/benchio; elbencho's and fio's manuals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_PREFIXES = (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10))


def _human(value: float) -> tuple[str, str]:
    """Return an amount as h5bench's `format_human_readable` does."""
    letter, factor = next((one for one in _PREFIXES if value >= one[1]), ("", 1))
    return f"{value / factor:.3f}", f"{letter}B"


def h5bench_csv(given: Mapping[str, Any]) -> str:
    """Return the CSV of h5bench.

    Args:
        given: "operation", "ranks", "bytes", "raw_seconds", "observed_seconds",
            "metadata_seconds", "collective"; "old" for the layout of 2021.
    """
    if given.get("old"):
        return _h5bench_csv_old(given)
    yes = "YES" if given.get("collective") else "NO"
    size, unit = _human(given["bytes"])
    raw, raw_unit = _human(given["bytes"] / given["raw_seconds"])
    seen, seen_unit = _human(given["bytes"] / given["observed_seconds"])
    return "\n".join([
        "metric, value, unit", f"operation, {given['operation']}, ", f"ranks, {given['ranks']}, ",
        f"collective data, {yes}, ", f"collective meta, {yes}, ", "subfiling, NO, ",
        "total compute time, 0.000, seconds", f"total size, {size}, {unit}",
        f"raw time, {given['raw_seconds']:.3f}, seconds", f"raw rate, {raw}, {raw_unit}/s",
        f"metadata time, {given['metadata_seconds']:.3f}, seconds",
        f"observed rate, {seen}, {seen_unit}/s",
        f"observed time, {given['observed_seconds']:.3f}, seconds", "",
    ])  # fmt: skip


def _h5bench_csv_old(given: Mapping[str, Any]) -> str:
    what, size = given["operation"], given["bytes"] >> 30
    raw = size / given["raw_seconds"]
    seen = size / given["observed_seconds"]
    if what == "write":
        lines = [
            f"NUM_RANKS, {given['ranks']}",
            f"CollectiveWrite, {'YES' if given.get('collective') else 'NO'}",
            "CollectiveMetaWrite, NO", "Total emulated compute time, 0, sec",
            f"Total_write_size, {size}, GB", f"Raw_write_time, {given['raw_seconds']:.3f}, sec",
            f"Raw_write_rate, {raw:.3f}, GB/sec",
            f"Core_metadata_time, {given['metadata_seconds']:.3f}, sec",
            f"Observed_write_rate, {seen:.3f}, GB/sec",
            f"Observed_completion_time, {given['observed_seconds']:.3f}, sec", "",
        ]  # fmt: skip
    else:
        lines = [
            f"NUM_RANKS, {given['ranks']}", "Total emulated compute time, 0, sec",
            f"Total read size, {size}, GB", f"Metadata_time, {given['metadata_seconds']:.3f}, sec",
            f"Raw read time, {given['raw_seconds']:.3f}, sec",
            f"Observed completion time, {given['observed_seconds']:.3f}, sec",
            f"Raw read rate, {raw:.3f}, GB/sec", f"Observed read rate, {seen:.3f}, GB/sec", "",
        ]  # fmt: skip
    return "\n".join(lines)


def h5bench_text(given: Mapping[str, Any]) -> str:
    """Return the standard output of h5bench."""
    what = given["operation"]
    size, unit = _human(given["bytes"])
    raw, raw_unit = _human(given["bytes"] / given["raw_seconds"])
    seen, seen_unit = _human(given["bytes"] / given["observed_seconds"])
    lines = [
        "Start benchmark: h5bench_write", "Opened HDF5 file...", "",
        "=================== Performance Results ==================",
        f"Total number of ranks: {given['ranks']}", "Total emulated compute time: 0.000 s",
        f"Total {what} size: {size} {unit}", f"Raw {what} time: {given['raw_seconds']:.3f} s",
        f"Metadata time: {given['metadata_seconds']:.3f} s",
    ]  # fmt: skip
    if what == "write":
        lines += [f"H5F{call}() time: 0.001 s" for call in ("create", "flush", "close")]
        done = "Observed completion time"
    else:
        done = "Observed read completion time"
    lines += [
        f"{done}: {given['observed_seconds']:.3f} s",
        f"SYNC Raw {what} rate: {raw} {raw_unit}/s ",
        f"SYNC Observed {what} rate: {seen} {seen_unit}/s",
        "===========================================================", "",
    ]  # fmt: skip
    return "\n".join(lines)


def benchio_text(given: Mapping[str, Any]) -> str:
    """Return the output of benchio.

    Args:
        given: "shape" of each process, "grid", "files": seconds by path; "unit" MiB or GiB;
            "nodes" if the version prints them; "accesses" if it names write and read.
    """
    grid, shape = given["grid"], given["shape"]
    ranks = grid[0] * grid[1] * grid[2]
    unit = given.get("unit", "GiB")
    size = 8 * shape[0] * shape[1] * shape[2] * ranks / {"MiB": 1 << 20, "GiB": 1 << 30}[unit]
    whole = [one * other for one, other in zip(grid, shape, strict=True)]
    lines = ["", " Simple Parallel IO benchmark", " ----------------------------", "",
             f" Running on {ranks:12d}  process(es)", ""]  # fmt: skip
    if given.get("nodes"):
        lines += [f" Running on {given['nodes']:12d}  nodes", ""]
    lines += [f" Process grid is ({_three(grid)})", f" Array size is   ({_three(shape)})",
              f" Global size is  ({_three(whole)})", "",
              f" Total amount of data = {size:20.14f}       {unit}", "",
              " Clock resolution is    1.0000000000000000E-003 , usecs", ""]  # fmt: skip
    for path, times in given["files"].items():
        lines += [" ------", f" {path.rpartition('/')[2]}", " ------", "", f" Writing to {path}"]
        lines += [f" time = {one:21.17f}      , rate = {size / one:21.16f}       {unit}/s"
                  for one in times] + [""]  # fmt: skip
    return "\n".join([*lines, " --------", " Finished", " --------", ""])


def _three(values: list[int]) -> str:
    return ", ".join(f"{one:12d} " for one in values)


def elbencho_text(given: Mapping[str, Any]) -> str:
    """Return the table of elbencho: "threads", "rate" in MiB/s."""
    size, seconds = 4096, round(4096 / given["rate"] * 1000)
    return "\n".join([
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE",
        "=========== ================    ==========   =========",
        f"WRITE       Elapsed time      :  {seconds - 3:>8}ms  {seconds:>8}ms",
        f"            IOPS              :  {round(given['rate']):>10}  {round(given['rate']):>10}",
        f"            Throughput MiB/s  :  {given['rate']:>10}  {given['rate']:>10}",
        f"            Total MiB         :  {size:>10}  {size:>10}", "---", "",
    ])  # fmt: skip


def fio_text(given: Mapping[str, Any]) -> str:
    """Return the output of fio, in text or, with "json", in JSON."""
    if given.get("json"):
        write = {"io_bytes": 1 << 30, "bw_bytes": given["rate"] << 20, "iops": given["rate"]}
        return json.dumps({"fio version": "fio-3.33", "timestamp": 1572951600, "jobs": [
            {"jobname": "seq", "groupid": 0, "write": write}]}, indent=2)  # fmt: skip
    return "\n".join([
        "seq: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, ioengine=psync",
        "fio-3.33", "Starting 1 process", "",
        "seq: (groupid=0, jobs=1): err= 0: pid=4711: Tue Nov  5 10:00:00 2019",
        f"  write: IOPS={given['rate']}, BW={given['rate']}MiB/s (1074MB)(1024MiB/2000msec)",
        "", "Run status group 0 (all jobs):",
        f"  WRITE: bw={given['rate']}MiB/s, io=1024MiB (1074MB), run=2000-2000msec", "",
    ])  # fmt: skip
