# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures as IOR prints them with `-O summaryFormat=JSON` and `=CSV`.

Source: ior-output.c of hpc/ior 3.2, 3.3, 4.0 and 4.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import Any

from foreign.rendered.ior import MIB, moved_bytes, options, repeats


def ior_json(given: Mapping[str, Any]) -> str:
    """Return an output in JSON; arguments are those of `ior_text`."""
    rows = []
    for what, _, rate, seconds in repeats(given):
        row = {"access": what, "bwMiB": round(rate, 4), "blockKiB": given["block"] / 1024,
               "xferKiB": given["xfer"] / 1024}  # fmt: skip
        if given["layout"] == "3.3":
            iops = rate * MIB / given["xfer"]
            row |= {"iops": round(iops, 4), "latency": round(given["tasks"] / iops, 4)}
        row |= {"openTime": 0.001, "wrRdTime": round(seconds - 0.002, 4), "closeTime": 0.001,
                "totalTime": round(seconds, 4)}  # fmt: skip
        rows.append(row)
    document = {
        "Version": given["version"], "Began": "Tue Nov  5 10:00:00 2019",
        "Command line": f"ior -a {given['api']} -O summaryFormat=JSON",
        "Machine": "Linux node1",
        "tests": [{"TestID": 0, "StartTime": "Tue Nov  5 10:00:00 2019",
                   "Parameters": _parameters(given), "Options": options(given),
                   "Results": rows}],
        "summary": [_summary(given, what) for what in given["rates"]],
        "Finished": "Tue Nov  5 10:05:00 2019",
    }  # fmt: skip
    return json.dumps(document, indent=2) + "\n"


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "testID": 0, "refnum": 0, "api": given["api"], "platform": "node1(Linux)",
        "testFileName": "/scratch/ior", "deadlineForStonewall": 0, "stoneWallingWearOut": 0,
        "nodes": given["nodes"], "tasksPerNode": -(-given["tasks"] // given["nodes"]),
        "repetitions": len(next(iter(given["rates"].values()))), "fsync": 0,
        "filePerProc": int(bool(given.get("own"))), "reorderTasks": 0,
        "collective": int(bool(given.get("collective"))),
        "segmentCount": given.get("segments", 1), "transferSize": given["xfer"],
        "blockSize": given["block"],
    }  # fmt: skip


def _summary(given: Mapping[str, Any], what: str) -> dict[str, Any]:
    rates = given["rates"][what]
    seconds = fmean(moved_bytes(given) / MIB / one for one in rates)
    return {
        "operation": what, "API": given["api"], "TestID": 0, "ReferenceNumber": 0,
        "segmentCount": given.get("segments", 1), "blockSize": given["block"],
        "transferSize": given["xfer"], "numTasks": given["tasks"],
        "tasksPerNode": -(-given["tasks"] // given["nodes"]), "repetitions": len(rates),
        "filePerProc": int(bool(given.get("own"))), "reorderTasks": 0, "taskPerNodeOffset": 1,
        "reorderTasksRandom": 0, "reorderTasksRandomSeed": 0, "bwMaxMIB": round(max(rates), 4),
        "bwMinMIB": round(min(rates), 4), "bwMeanMIB": round(fmean(rates), 4),
        "bwStdMIB": round(pstdev(rates), 4), "MeanTime": round(seconds, 4),
        "xsizeMiB": moved_bytes(given) / MIB,
    }  # fmt: skip


def ior_csv(given: Mapping[str, Any]) -> str:
    """Return an output in CSV; arguments are those of `ior_text`."""
    lines = ["access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),"
             "total(s),numTasks,iter"]  # fmt: skip
    for what, repeat, rate, seconds in repeats(given):
        iops = rate * MIB / given["xfer"]
        cells = (rate, iops, given["tasks"] / iops, given["block"] / 1024, given["xfer"] / 1024,
                 0.001, seconds - 0.002, 0.001, seconds)  # fmt: skip
        numbers = ",".join(f"{one:.4f}" for one in cells)
        lines.append(f"{what},{numbers},{given['tasks']},{repeat}")
    return "\n".join(lines) + "\n"
