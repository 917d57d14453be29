# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of `stripewise kernel --json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.calibration.readers._base import Measured, Results, nodes_of
from stripewise.calibration.readers._lines import shown
from stripewise.calibration.readers._printed import PrintedReader, possible
from stripewise.calibration.readers._record import Data, Found, Test, Timed
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS, parse_json
from stripewise.simulation import workload_from_kernel

_LAYOUTS = {"shared": "posix-shared", "per-process": "posix-process",
            "per-node": "posix-node", "serial": "posix-serial"}  # fmt: skip


class Kernel(PrintedReader):
    """One run of our own kernel."""

    name = "kernel"

    def recognises(self, text: str, name: str) -> bool:
        """Whether our kernel wrote it."""
        return '"stripewise-kernel"' in text[:200]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the rate of each direction; its steps are the repeats."""
        document = parse_json(text)
        try:
            ranks = int(document["n_ranks"])
            nodes = nodes_of(name, ranks, ranks_per_node)
            words = [document["pattern"], "--size", ",".join(map(str, document["shape"]))]
            if document.get("distribution"):
                words += ["--distribution", document["distribution"]]
                words += ["--grid", ",".join(map(str, document["grid"]))]
            words += ["--type", document["type"], "--mode", document["mode"]]
            stack = _LAYOUTS[document["layout"]] if document["backend"] == "posix" else ""
            found = []
            for access in ("write", "read"):
                rates = [float(one["bandwidth_bytes_per_second"]) for one in document["steps"]
                         if one["operation"] == access]  # fmt: skip
                if rates:
                    work = workload_from_kernel([*words, "--op", access], nodes, ranks // nodes)
                    source = f"{name}: kernel {document['pattern']} {access}"
                    found.append(Measured(source, work, stack, {}, tuple(rates)))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}: the kernel's JSON has no usable {error}: check that it is whole"
            ) from error
        if not found:
            raise UsageError(f"{name}: no step was timed: check that the run ended")
        return Results(tuple(found))

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the run as one test: all its steps of a direction are one figure."""
        document = parse_json(text)
        try:
            return Found((_test(document, name, ranks_per_node),))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UsageError(
                f"{name}: the kernel's JSON has no usable {shown(str(error))}: check that it is "
                "whole"
            ) from error


def _test(document: Mapping[str, Any], name: str, ranks_per_node: int) -> Test:
    ranks = int(document["n_ranks"])
    RESULTS.check_entries(len(document["steps"]), name)
    timed = tuple(
        one for one in (_timed(document, access, name) for access in ("write", "read")) if one
    )
    if not timed:
        raise UsageError(f"{name}: no step was timed: check that the run ended")
    serial = document["layout"] == "serial"
    layout = "shared" if serial else document["layout"]
    if layout not in _LAYOUTS:
        raise UsageError(f"{name}: layout {shown(str(layout))!r} is none of the kernel's")
    writes = sum(one["operation"] == "write" for one in document["steps"])
    work = Data(
        str(document["backend"])[:32], layout, "serial" if serial else str(document["mode"])[:32],
        str(document["pattern"])[:32], size=",".join(map(str, document["shape"]))[:300],
        steps=max(writes, 1),
    )  # fmt: skip
    return Test("kernel", f"{name}: kernel {shown(work.pattern)}",
                nodes_of(name, ranks, ranks_per_node), ranks, work, timed)  # fmt: skip


def _timed(document: Mapping[str, Any], access: str, name: str) -> Timed | None:
    steps = [one for one in document["steps"] if one["operation"] == access]
    if not steps:
        return None
    amount = sum(float(one["bytes"]) for one in steps)
    seconds = sum(float(one["seconds"]) for one in steps)
    if not 0 < seconds or not possible(access, amount / seconds, amount):
        raise UsageError(f"{name}: {amount:g} B in {seconds:g} s are impossible: check that it is "
                         "whole")  # fmt: skip
    phases: dict[str, float] = {}
    for step in steps:
        for phase, spread in step.get("phases", {}).items():
            phases[phase] = phases.get(phase, 0.0) + float(spread["max_seconds"])
    return Timed(access, amount, seconds, 1, phases)
