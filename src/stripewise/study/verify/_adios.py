# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two outputs of ADIOS2 (BP4, BP5) by content in a separate process.

ADIOS2 may terminate the process that reads a damaged output, or wait forever for the rest of a
truncated one; a study must survive both.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.study.verify._base import (
    FAILURES,
    WHOLE,
    ContentDifferences,
    ContentFormat,
    Finding,
    Pair,
    boxes,
    compared,
    element_differs,
    finding_of,
    pairs,
    reading,
)

_READER = "stripewise.study.verify._adios"
_LEAST_BYTES_PER_SECOND = 20e6


class AdiosBp(ContentFormat):
    """Directory in the format BP4 or BP5, read with the optional package adios2."""

    title = "ADIOS2 BP"
    noun = "an ADIOS2 BP directory"
    extra = "adios2"
    mark = "md.idx"
    members = re.compile(r"(data|md|mmd|vmd)\.\d+|md\.idx|profiling\.json|active|\.bpversion")
    volatile = frozenset({"profiling.json"})

    def __init__(self, base_seconds: float = 60.0) -> None:
        """Set the time allowed for reading in addition to that for the bytes."""
        self.base_seconds = base_seconds

    def matches(self, path: Path) -> bool:
        try:
            return (path / self.mark).is_file()
        except (OSError, ValueError):
            return False

    def differences(self, pair: Pair) -> ContentDifferences:
        request = {
            "first": str(pair.first),
            "second": str(pair.second),
            "ignore": sorted(pair.ignore),
            "most": pair.most,
        }
        size_bytes = _size(pair.first) + _size(pair.second)
        seconds = self.base_seconds + size_bytes / _LEAST_BYTES_PER_SECOND
        with reading(self.title) as (found, _):
            try:
                done = subprocess.run(
                    [sys.executable, "-P", "-m", _READER],
                    input=json.dumps(request),
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=seconds,
                )
            except subprocess.TimeoutExpired:
                raise ValueError(f"its reader did not end within {seconds:.0f} s") from None
            if done.returncode != 0:
                raise ValueError(f"its reader ended with code {done.returncode}")
            return ContentDifferences(**json.loads(done.stdout.strip().rpartition("\n")[2]))
        return found


def _size(directory: Path) -> int:
    with os.scandir(directory) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.is_file())


# Process that compares two outputs of ADIOS2 (BP4, BP5) by content.
#
# It reads a JSON object with first, second (paths), ignore (items) and most (differences), and
# its last line is `ContentDifferences` as JSON.
#
# It compares steps, variables, their types and shapes, every element of global arrays, each
# block of local arrays, values and strings, and attributes.  It does not compare the number of
# subfiles, the distribution of blocks over them, compression, times and profiles.

_TYPES = {
    "char": "i1",
    "int8_t": "i1",
    "uint8_t": "u1",
    "int16_t": "i2",
    "uint16_t": "u2",
    "int32_t": "i4",
    "uint32_t": "u4",
    "int64_t": "i8",
    "uint64_t": "u8",
    "float": "f4",
    "double": "f8",
    "float complex": "c8",
    "double complex": "c16",
}
_SIZES = {"long double": 16, **{name: np.dtype(kind).itemsize for name, kind in _TYPES.items()}}


def compare(pair: Pair) -> ContentDifferences:
    """Compare two outputs; see `ContentFormat.differences`."""
    return compared("ADIOS2 BP", pair, _Side, _compare)


class _Side:
    """One of the two outputs, read step by step."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        import adios2

        self._adios = adios2.Adios()
        self.io = self._adios.declare_io("content")
        # Otherwise a file that was not closed would be waited for.
        self.io.set_parameter("OpenTimeoutSecs", "1")
        # The default transport waits two minutes for the rest of a truncated file; this one
        # has a single position and is only for one thread.
        self.io.add_transport("File", {"Library": "stdio"})
        self.io.set_parameter("Threads", "1")
        self.engine = self.io.open(str(path), adios2.bindings.Mode.Read)
        stack.callback(self.engine.close)
        self._status = adios2.bindings.StepStatus
        self._read = adios2.bindings.StepMode.Read
        self._sync = adios2.bindings.Mode.Sync

    def next_step(self) -> bool:
        """Go to the next step; return False at the end."""
        status = self.engine.begin_step(self._read, 0.0)
        if status not in (self._status.OK, self._status.EndOfStream):
            raise ValueError("its writer did not close it")
        return bool(status == self._status.OK)

    def variables(self) -> dict[str, str]:
        """Return the type of each variable of this step, by name."""
        return {name: info["Type"] for name, info in self.io.available_variables().items()}

    def shape(self, name: str) -> tuple[Any, ...]:
        """Return the shape in this step: a global array, blocks of a local one, or a value."""
        variable = self.io.inquire_variable(name)
        if variable is None:
            raise TypeError("of a type that cannot be read")
        dims = tuple(variable.shape())
        if dims:
            return ("array", *dims)
        blocks = self.engine.blocks_info(name, self.engine.current_step())
        if any(block.get("IsValue") == "True" for block in blocks):
            return ("value",)
        return ("blocks", *(_extent(block["Count"]) for block in blocks))

    def text(self, name: str) -> str:
        """Return a string variable."""
        return str(self.engine.get(self.io.inquire_variable(name)))

    def box(
        self, name: str, kind: str, start: tuple[int, ...], count: tuple[int, ...], block: int
    ) -> np.ndarray[Any, Any]:
        """Return a box of a global array (block -1) or of one block; gaps are zeros."""
        variable = self.io.inquire_variable(name)
        if block >= 0:
            variable.set_block_selection(block)
        if count:
            variable.set_selection([list(start), list(count)])
        data = np.zeros(count or 1, dtype=kind)
        self.engine.get(variable, data, self._sync)
        if block > 0:  # a selection persists, and the next step may have fewer blocks
            variable.set_block_selection(0)
        return data

    def attributes(self) -> dict[str, tuple[Any, ...]]:
        """Return type and value of the attributes so far, by name."""
        return {
            name: (info["Type"], _attribute(self.io.inquire_attribute(name), info["Type"]))
            for name, info in self.io.available_attributes().items()
        }


def _extent(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number.strip())


def _attribute(attribute: Any, kind: str) -> Any:
    if kind == "string":
        return tuple(attribute.data_string())
    return np.asarray(attribute.data()).tobytes()


def _compare(one: _Side, two: _Side, pair: Pair, found: ContentDifferences) -> Iterator[Finding]:
    step = 0
    done = set(pair.ignore)  # not compared (again) in later steps
    while True:
        more = one.next_step(), two.next_step()
        if more[0] != more[1]:
            yield WHOLE, f"{'more' if more[1] else 'fewer'} than {step} steps", ""
        for name, first, second, only in pairs(one.attributes(), two.attributes()):
            item = f"{WHOLE}@{name}"
            if item not in done and first != second:
                done.add(item)
                yield item, only or "value", ""
        if not all(more):
            return
        for item, different, why in _compare_step(one, two, done, found):
            if different or why:
                done.add(item)
                yield item, f"step {step}: {different}", why
        for side in (one, two):
            side.engine.end_step()
        step += 1


def _compare_step(
    one: _Side, two: _Side, done: set[str], found: ContentDifferences
) -> Iterator[Finding]:
    for name, first, second, only in pairs(one.variables(), two.variables()):
        item = f"/{name}"
        if item in done:
            with suppress(*FAILURES):
                _account(name, first or "", one, found)
        elif only:
            yield item, only, ""
        else:
            yield finding_of(
                item, partial(_variables_differ, name, (first, second), (one, two), found)
            )


def _variables_differ(
    name: str, kinds: tuple[str, str], sides: tuple[_Side, _Side], found: ContentDifferences
) -> str:
    if kinds[0] != kinds[1]:
        return f"type {kinds[0]} and {kinds[1]}"
    shapes = sides[0].shape(name), sides[1].shape(name)
    if shapes[0] != shapes[1]:
        return f"shape {shapes[0]} and {shapes[1]}"
    _account(name, kinds[0], sides[0], found)
    if kinds[0] == "string":
        return "" if sides[0].text(name) == sides[1].text(name) else "the value differs"
    if kinds[0] not in _TYPES:
        raise TypeError(f"type {kinds[0]}")
    return _elements_differ(name, _TYPES[kinds[0]], shapes[0], sides)


def _parts(shape: tuple[Any, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """Return block (-1 without blocks) and extent of the parts of a variable in a step."""
    if shape[0] == "blocks":
        return list(enumerate(shape[1:]))
    return [(-1, shape[1:])]


def _account(name: str, kind: str, side: _Side, found: ContentDifferences) -> None:
    """Add the elements of a step to the bytes of a variable."""
    if size := _SIZES.get(kind, 0):
        elements = sum(math.prod(dims) for _, dims in _parts(side.shape(name)))
        found.bytes_of[f"/{name}"] = found.bytes_of.get(f"/{name}", 0) + size * elements


def _elements_differ(
    name: str, kind: str, shape: tuple[Any, ...], sides: tuple[_Side, _Side]
) -> str:
    for block, dims in _parts(shape):
        for start, count in boxes(dims, np.dtype(kind).itemsize):
            one, two = (side.box(name, kind, start, count, block) for side in sides)
            if different := element_differs(one, two, start or (0,)):
                return different if block < 0 else f"block {block}: {different}"
    return ""


def main() -> None:
    """Read one request from standard input and answer it."""
    request = json.load(sys.stdin)
    first, second = Path(request["first"]), Path(request["second"])
    found = compare(Pair(first, second, request["ignore"], request["most"]))
    print()
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
