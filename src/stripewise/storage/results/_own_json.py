# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the JSON of `stripewise kernel` and of `stripewise metadata`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS, parse_json
from stripewise.storage.results._base import (
    OPERATIONS,
    Data,
    Found,
    Measured,
    Reader,
    Results,
    Test,
    Timed,
    nodes_of,
    possible,
)
from stripewise.storage.results._base import Metadata as Work
from stripewise.storage.results._lines import ranks_in, shown
from stripewise.storage.simulation import SERVER_OPERATIONS, workload_from_kernel

_LAYOUTS = {"shared": "posix-shared", "per-process": "posix-process",
            "per-node": "posix-node", "serial": "posix-serial"}  # fmt: skip


class Kernel(Reader):
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


# The JSON of `stripewise metadata --json`.

_FILES = ("create", "stat", "read-file", "remove")


class Metadata(Reader):
    """One run of our own metadata kernel."""

    name = "metadata"

    def recognises(self, text: str, name: str) -> bool:
        """Whether our metadata kernel wrote it."""
        return '"stripewise-metadata"' in text[:200]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the rate of each operation on files, one for each repeat."""
        del ranks_per_node
        document = parse_json(text)
        found: dict[str, tuple[float, ...]] = {}
        try:
            for phase in document["phases"]:
                if phase["operation"] in _FILES:
                    figure = f"metadata.{SERVER_OPERATIONS[phase['operation']]}"
                    rate = _rate(name, phase)
                    found[figure] = (*found.get(figure, ()), rate)
            notes = tuple(_notes(document, name))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}: the metadata kernel's JSON has no usable {error}: check that it is whole"
            ) from error
        if not found:
            raise UsageError(f"{name}: no operation on files was timed: check that the run ended")
        return Results(operations=found, notes=notes)

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the run as one test, with all its repeats."""
        del ranks_per_node
        document = parse_json(text)
        try:
            return Found((_test_metadata(document, name),), tuple(_notes(document, name)))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                f"{name}: the metadata kernel's JSON has no usable {shown(str(error))}: check "
                "that it is whole"
            ) from error


def _test_metadata(document: Mapping[str, Any], name: str) -> Test:
    source = f"{name}: metadata kernel"
    ranks = ranks_in(source, "n_ranks", str(document["n_ranks"]))
    nodes = ranks_in(source, "n_nodes", str(document["n_nodes"]))
    RESULTS.check_entries(len(document["phases"]), name)
    if nodes > ranks:
        raise UsageError(f"{source}: {ranks} ranks on {nodes} nodes: check that it is whole")
    files, depth, width, size = (
        _count(source, key, document[key]) for key in ("files", "depth", "width", "file_bytes")
    )
    sharing = str(document["sharing"])
    if sharing not in ("own", "shared"):
        raise UsageError(f"{source}: sharing = {shown(sharing)!r} is none of own, shared")
    work = Work(files, sharing, depth, width, size, bool(document["fsync"]))
    timed = tuple(
        _timed_metadata(source, phase) for phase in document["phases"] if phase["operations"]
    )
    wall = float(document["stonewall_seconds"] or 0)
    return Test(
        "metadata", source, nodes, ranks, work, timed, shown(str(document["version"]), 40),
        cache="shift" if document["shift"] and ranks > 1 else "none",
        stonewall_seconds=wall if 0 < wall < 1e9 else 0.0,
        failed="" if timed else "no operation was timed",
    )  # fmt: skip


def _count(source: str, key: str, value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= 10**15:
        raise UsageError(
            f"{source}: {key} = {shown(str(value))} is no number: check that it is whole"
        )
    return value


def _timed_metadata(source: str, phase: Mapping[str, Any]) -> Timed:
    amount, seconds = float(phase["operations"]), float(phase["seconds"])
    operation, wall = shown(str(phase["operation"]), 40), phase["stonewall"]
    if operation not in OPERATIONS:
        raise UsageError(f"{source}: {operation!r} is no operation: check that the file is whole")
    if not seconds > 0 or not possible(operation, amount / seconds, amount):
        raise UsageError(
            f"{source}: {amount:g} times {operation} in {seconds:g} s are impossible: check that "
            "it is whole"
        )
    percentiles = {
        str(percent)[:10]: float(one)
        for percent, one in phase["percentiles_seconds"].items()
        if 0 <= float(one) < 1e9
    }
    return Timed(
        operation, amount, seconds, _count(source, "repeat", phase["repeat"]),
        worn_out=bool(wall and wall["worn_out"]), percentiles=percentiles,
    )  # fmt: skip


def _rate(name: str, phase: Mapping[str, Any]) -> float:
    rate = float(phase["operations"]) / float(phase["seconds"]) if phase["seconds"] else 0.0
    if not isfinite(rate) or rate <= 0:
        raise UsageError(
            f"{name}: {phase['operation']} at {rate:g} operations a second is impossible: check "
            "that the file is whole"
        )
    return rate


def _notes(document: Mapping[str, Any], name: str) -> Iterator[str]:
    emulated = document.get("emulated")
    if emulated:
        yield f"{name} was measured on emulated storage, {emulated['storage']}."
    if document["file_bytes"]:
        yield (
            f"{name}: creations and reads have {document['file_bytes']} bytes of data in them; "
            "the server alone is faster."
        )
