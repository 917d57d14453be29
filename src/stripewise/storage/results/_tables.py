# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads our own forms of results: CSV of rates, and the JSON of the kernels."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS, parse_json
from stripewise.settings.tunables import tunable_of
from stripewise.storage.machines import Dimension, quantity
from stripewise.storage.results._base import (
    OPERATIONS,
    Data,
    Found,
    Measured,
    Reader,
    Results,
    Test,
    Timed,
    blocks,
    check_rate,
    nodes_of,
    possible,
)
from stripewise.storage.results._base import MetadataTest as Work
from stripewise.storage.results._lines import RATES, ranks_in, shown
from stripewise.storage.simulation import workload_from_kernel
from stripewise.storage.stacks import find_stack


def settings_of(settings: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """Return settings by full name, sizes in bytes."""
    named = {
        tunable_of(name).name: int(quantity(value, Dimension.SIZE))
        if isinstance(value, str) and value[:1].isdigit()
        else value
        for name, value in settings.items()
    }
    return tuple(sorted(named.items()))


# Tables of rates: CSV with a row for each repeat.

_OWN = ("nodes", "ranks_per_node", "access", "files", "block", "transfer", "collective", "stack")
_NO, _YES = ("no", "false", "0", "independent"), ("yes", "true", "1", "collective")
_EXAMPLE = "nodes,ranks_per_node,access,files,block,transfer,GiB/s"


class CsvTable(Reader):
    """CSV: nodes, ranks_per_node, ..., a bandwidth; other columns are settings."""

    name = "csv"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether the first line names the columns."""
        first = text.lstrip().partition("\n")[0]
        return "nodes" in first.split(",") and any(unit in first for unit in RATES)

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return a measurement for each configuration."""
        grouped: dict[tuple[tuple[str, str], ...], tuple[str, list[float]]] = {}
        rows = csv.DictReader(io.StringIO(text.strip()))
        columns = [one.strip() for one in rows.fieldnames or ()]
        rows.fieldnames = columns
        units = [one for one in columns if one in RATES]
        if len(units) != 1:
            raise UsageError(
                f"{name}: {len(units)} columns are called {', '.join(RATES)}: leave one bandwidth"
            )
        unit = units[0]
        for number, row in enumerate(rows, 2):
            where = f"{name}, line {number}"
            plain = {key: (value or "").strip() for key, value in row.items() if key}
            rate = _rate(where, plain.pop(unit), unit)
            grouped.setdefault(tuple(plain.items()), (where, []))[1].append(rate)
        if not grouped:
            raise UsageError(f"{name}: no rows below the names of the columns")
        return Results(
            tuple(_measured(where, dict(key), ranks_per_node, rates)
                  for key, (where, rates) in grouped.items())
        )  # fmt: skip


def _measured(
    where: str, row: dict[str, str], ranks_per_node: int, rates: list[float]
) -> Measured:
    block = _size(where, row, "block")
    transfer = _size(where, row, "transfer") if row.get("transfer") else block
    row = {"ranks_per_node": str(ranks_per_node or ""), **{k: v for k, v in row.items() if v}}
    collective = _word(where, row, "collective", _NO + _YES) in _YES
    own = _word(where, row, "files", ("shared", "process")) == "process"
    work = blocks(
        where, _whole(where, row, "nodes"), _whole(where, row, "ranks_per_node"),
        block, transfer, collective=collective,
        writing=_word(where, row, "access", ("write", "read")) != "read",
    )  # fmt: skip
    stack = row.get("stack") or ("posix-process" if own else "" if collective else "posix-shared")
    if stack:
        find_stack(stack)
    settings = {key: int(value) if value.lstrip("-").isdigit() else value
                for key, value in row.items() if key not in _OWN and value}  # fmt: skip
    return Measured(where, work, stack, dict(settings_of(settings)), tuple(rates))


def _rate(where: str, text: str, unit: str) -> float:
    try:
        rate = float(text) * RATES[unit]
    except ValueError as error:
        raise UsageError(f"{where}: {unit} = {text!r} is not a number: give one") from error
    check_rate(where, rate)
    return rate


def _size(where: str, row: Mapping[str, str], column: str) -> float:
    text = row.get(column, "")
    try:
        return quantity(text, Dimension.SIZE)
    except ValueError as error:
        raise _unusable(where, column, text, str(error)) from error


def _whole(where: str, row: Mapping[str, str], column: str) -> int:
    text = row.get(column, "")
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not int(text):
        raise _unusable(where, column, text, "is not a whole number of 1 or more")
    return int(text)


def _word(where: str, row: Mapping[str, str], column: str, words: tuple[str, ...]) -> str:
    text = row.get(column, "").lower() or words[0]
    if text not in words:
        raise _unusable(where, column, text, f"is none of {', '.join(words)}")
    return text


def _unusable(where: str, column: str, text: str, why: str) -> UsageError:
    return UsageError(f"{where}: {column} = {text!r} {why} (the columns are {_EXAMPLE}, settings)")


# Reader of the JSON of `stripewise bench kernel`.


_LAYOUTS = {"shared": "posix-shared", "per-process": "posix-process",
            "per-node": "posix-node", "serial": "posix-serial"}  # fmt: skip


class Kernel(Reader):
    """One run of our own kernel."""

    name = "kernel"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether our kernel wrote it."""
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
                f"{name}: the kernel's JSON has no usable {error}: check that it is complete"
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
                "complete"
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
    reported = (document.get("hints") or {}).get("reported") or {}
    return Test(
        "kernel", f"{name}: kernel {shown(work.pattern)}", nodes_of(name, ranks, ranks_per_node),
        ranks, work, timed, hints={str(key): str(one) for key, one in reported.items()},
    )  # fmt: skip


def _timed(document: Mapping[str, Any], access: str, name: str) -> Timed | None:
    steps = [one for one in document["steps"] if one["operation"] == access]
    if not steps:
        return None
    total = document.get("totals", {}).get(access) or {}
    amount = float(total.get("bytes") or sum(float(one["bytes"]) for one in steps))
    seconds = float(total.get("elapsed_seconds") or total.get("seconds")
                    or sum(float(one["seconds"]) for one in steps))  # fmt: skip
    if not 0 < seconds or not possible(access, amount / seconds, amount):
        raise UsageError(f"{name}: {amount:g} B in {seconds:g} s are impossible: check that it is "
                         "complete")  # fmt: skip
    phases: dict[str, float] = {}
    for step in steps:
        for phase, spread in step.get("phases", {}).items():
            phases[phase] = phases.get(phase, 0.0) + float(spread["max_seconds"])
    wall = (document.get("stonewall") or {}).get(access) or {}
    return Timed(access, amount, seconds, phases, worn_out=wall.get("reached") is True)


# The JSON of `stripewise bench metadata --json`.


class MetadataKernel(Reader):
    """One run of our own metadata kernel."""

    name = "metadata"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether our metadata kernel wrote it."""
        return '"stripewise-metadata"' in text[:200]

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
                "that it is complete"
            ) from error


def _test_metadata(document: Mapping[str, Any], name: str) -> Test:
    source = f"{name}: metadata kernel"
    ranks = ranks_in(source, "n_ranks", str(document["n_ranks"]))
    nodes = ranks_in(source, "n_nodes", str(document["n_nodes"]))
    RESULTS.check_entries(len(document["phases"]), name)
    if nodes > ranks:
        raise UsageError(f"{source}: {ranks} ranks on {nodes} nodes: check that it is complete")
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
            f"{source}: {key} = {shown(str(value))} is not a number: check that it is complete"
        )
    return value


def _timed_metadata(source: str, phase: Mapping[str, Any]) -> Timed:
    amount, seconds = float(phase["operations"]), float(phase["seconds"])
    operation, wall = shown(str(phase["operation"]), 40), phase["stonewall"]
    if operation not in OPERATIONS:
        raise UsageError(
            f"{source}: {operation!r} is not an operation: check that the file is complete"
        )
    if not seconds > 0 or not possible(operation, amount / seconds, amount):
        raise UsageError(
            f"{source}: {amount:g} times {operation} in {seconds:g} s are impossible: check that "
            "it is complete"
        )
    percentiles = {
        str(percent)[:10]: float(one)
        for percent, one in phase["percentiles_seconds"].items()
        if 0 <= float(one) < 1e9
    }
    return Timed(
        operation, amount, seconds, percentiles=percentiles,
        worn_out=bool(wall and wall["worn_out"]),
        repeat=_count(source, "repeat", phase["repeat"]),
    )  # fmt: skip


def _notes(document: Mapping[str, Any], name: str) -> Iterator[str]:
    emulated = document.get("emulated")
    if emulated:
        yield f"{name} was measured on emulated storage, {emulated['storage']}."
    if document["file_bytes"]:
        yield (
            f"{name}: creations and reads have {document['file_bytes']} bytes of data in them; "
            "the server alone is faster."
        )
