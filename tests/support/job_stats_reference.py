# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A slow and strict reader of job_stats, written apart from the product's: an oracle."""

from __future__ import annotations

import string

MOST = 2**64 - 1
WORDS = set(string.ascii_letters + string.digits + "_")
Counts = dict[str, tuple[int, str, int, tuple[tuple[int, int], ...] | None]]
Entry = tuple[int, int | None, Counts]


def reference(text: bytes) -> dict[bytes, list[Entry | None]]:
    """Return by printed id what each of its entries says; None: it cannot be believed."""
    found: dict[bytes, list[Entry | None]] = {}
    lines = text.split(b"\n")
    starts = [at for at, line in enumerate(lines) if line.startswith(b"- job_id:")]
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=False):
        part = lines[start + 1 : end]
        if end == len(lines):
            whole = part[-1:] == [b""]
            while part and not part[-1]:
                part.pop()
        else:
            whole = True
        entry = _entry([line.decode("latin-1") for line in part]) if whole else None
        found.setdefault(lines[start][9:], []).append(entry)
    return found


def _entry(lines: list[str]) -> Entry | None:
    if lines and lines[-1] == "job_stats:":
        lines = lines[:-1]
    try:
        snapshot, start, rest = _times(lines)
        counts: Counts = {}
        names = set()
        for line in rest:
            name, count = _row(line)
            assert name not in names
            names.add(name)
            if count[0]:
                counts[name] = count
    except (AssertionError, ValueError, IndexError):
        return None
    return snapshot, start, counts


def _times(lines: list[str]) -> tuple[int, int | None, list[str]]:
    snapshot = _time(lines[0], "snapshot_time")
    if len(lines) > 1 and lines[1].strip(" ").startswith("start_time"):
        start = _time(lines[1], "start_time")
        _time(lines[2], "elapsed_time")
        return snapshot, start, lines[3:]
    return snapshot, None, lines[1:]


def _time(line: str, name: str) -> int:
    line = line.strip(" ")
    assert line.startswith(name)
    line = line[len(name) :].removeprefix(":")
    assert line.startswith(" ")
    number = line.strip(" ").removesuffix(" secs.nsecs")
    whole, dot, part = number.partition(".")
    assert not dot or (_digits(part) and len(part) < 10)
    return _number(whole, 2**63 - 1 if name != "elapsed_time" else 10**20)


def _row(line: str) -> tuple[str, tuple[int, str, int, tuple[tuple[int, int], ...] | None]]:
    line = line.strip(" ")
    name, _, rest = line.partition(":")
    assert name
    assert set(name) <= WORDS
    assert len(name) <= 64
    rest = rest.lstrip(" ")
    assert rest.startswith("{ ")
    assert rest.endswith(" }")
    body, told, sizes = rest[2:-2], None, ""
    if ", hist: { " in body:
        body, _, sizes = body.partition(", hist: { ")
        assert sizes.endswith("}")
        told = _histogram(sizes[:-1])
    fields = [part.partition(":") for part in body.split(", ")]
    assert all(colon for _, colon, _ in fields)
    keys = [key for key, _, _ in fields]
    values = {key: value.lstrip(" ") for key, _, value in fields}
    numbers = {key: _number(v, MOST if key != "sumsq" else 10**20)
               for key, v in values.items() if key != "unit"}  # fmt: skip
    unit = values.get("unit", "")
    assert "unit" not in values or (0 < len(unit) <= 16 and set(unit) <= _UNIT)
    assert keys in _ORDERS
    samples, total = numbers["samples"], numbers.get("sum", 0)
    if "sum" in numbers:
        assert samples * numbers["min"] <= total <= samples * numbers["max"]
    if not samples:
        assert not numbers.get("min")
        assert not numbers.get("max")
        assert not told
    elif told is not None and sum(count for _, count in told) != samples:
        told = None
    return name, (samples, unit, total, told)


_UNIT = set(string.ascii_lowercase + "/")
_ORDERS = [
    ["samples", *unit, *numbers]
    for unit in ([], ["unit"])
    for numbers in ([], ["min", "max", "sum"], ["min", "max", "sum", "sumsq"])
]


def _histogram(text: str) -> tuple[tuple[int, int], ...]:
    sizes: list[tuple[int, int]] = []
    text = text.strip(" ")
    for item in text.split(", ") if text else ():
        key, colon, count = item.partition(": ")
        assert colon
        letter = key[-1:] if key[-1:] in {"K", "M", "G"} else ""
        number = key.removesuffix(letter) if letter else key
        assert number in {str(1 << bit) for bit in range(10)}
        size = int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[letter]
        assert not sizes or size > sizes[-1][0]
        assert _digits(count)
        assert len(count) <= 20
        sizes.append((size, int(count)))
    return tuple(sizes)


def _digits(text: str) -> bool:
    return bool(text) and set(text) <= set(string.digits)


def _number(text: str, most: int) -> int:
    assert _digits(text)
    assert len(text) <= 20
    number = int(text)
    assert number <= most
    return number
