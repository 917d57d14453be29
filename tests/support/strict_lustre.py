# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of Lustre's texts of many lines: counters, histograms, quota, recovery, lctl."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from typing import Any

from stripewise.centre.monitor.collectors.lustre._parameters import parse_recovery_status, split
from stripewise.centre.monitor.collectors.lustre._quota import (
    parse_quota_limits,
    parse_quota_usage,
)
from stripewise.centre.monitor.collectors.lustre._stats import parse_brw_stats, parse_stats
from support.lustre_servers import VERSIONS, parameters
from support.monitor_host import printed
from support.strict_readers import (
    Damaged,
    Format,
    Said,
    digits,
    each,
    expect,
    lines_of,
    number,
)

UNITS = {"usec": "usecs", "sec": "secs", "req": "reqs", "regs": "reqs", "byte": "bytes"}
TIMES = ("snapshot_time", "start_time", "elapsed_time")


@cache
def texts(*patterns: str) -> tuple[str, ...]:
    """Return texts of all versions whose names fit."""
    found = (
        str(text)
        for version in VERSIONS
        for name, text in parameters(version).items()
        if any(re.fullmatch(pattern, name) for pattern in patterns)
    )
    return tuple(dict.fromkeys(found))


def _is_time(line: str) -> bool:
    return bool(line.split()) and line.split()[0].removesuffix(":") in TIMES


def _time(line: str) -> tuple[str, float]:
    words = line.split(maxsplit=1)
    name = words[0].removesuffix(":")
    expect(name in TIMES)
    for unit in ("secs.nsecs", "secs.usecs", "(secs.nsecs)", "(secs.usecs)"):
        if words[1].endswith(f" {unit}"):
            words[1] = words[1].removesuffix(f" {unit}")
            break
    seconds, rest = words[1].split(".")
    return name, digits(seconds, 12) + digits(rest.lstrip(string.whitespace), 9) / 1e9


def stats(text: str) -> tuple[Said, bool]:
    def row(line: str) -> tuple[Any, Any]:
        if _is_time(line):
            name, seconds = _time(line)
            return (name,), seconds
        name, rest = line.split(" ", 1)
        words = rest.lstrip(" ").split(" ")
        expect(set(name) <= set(string.ascii_lowercase + string.digits + "_"))
        expect(words[1] == "samples" and len(words) in (3, 6, 7))
        expect(words[2][0] == "[" and words[2][-1] == "]")
        unit = words[2][1:-1]
        numbers = [number(word) for word in words[3:6]]
        if len(words) == 7:
            digits(words[6].removeprefix("-"))
        return name, (number(words[0]), UNITS.get(unit, unit), [*numbers, None, None, None][2])

    lines, has_end = lines_of(text)
    said, is_whole = each(lines, row)
    is_whole = is_whole and has_end and ("snapshot_time",) in said
    return {key: said[key] for key in said if key not in (TIMES[:1], TIMES[2:])}, is_whole


def _read_stats(text: str) -> tuple[Said, Sequence[str]]:
    found = parse_stats(text)
    start = {} if found.start_seconds is None else {("start_time",): found.start_seconds}
    return {**{name: tuple(row) for name, row in found.rows.items()}, **start}, found.problems


TITLES = {
    "pages per bulk r/w rpcs": "pages", "discontiguous pages rpcs": "discontiguous_pages",
    "discontiguous blocks rpcs": "discontiguous_blocks",
    "disk fragmented I/Os ios": "fragments", "disk I/Os in flight ios": "in_flight",
    "I/O time (1/1000s) ios": "io_milliseconds", "disk I/O size ios": "io_bytes",
    "block maps msec maps": "block_map_milliseconds",
}  # fmt: skip
LINEAR = ("discontiguous_pages", "discontiguous_blocks", "fragments", "in_flight")
SCALES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _bucket(line: str, name: str) -> tuple[float, int, int]:
    words = line.split()
    expect(len(words) == 8 and words[4] == "|" and words[0].endswith(":"))
    scale = SCALES.get(words[0][-2], 0)
    bound = number(words[0][:-2] if scale else words[0][:-1]) * (scale or 1)
    for share in (*words[2:4], *words[6:]):
        digits(share)
    is_last = bound >= 1 << 31 or (name in LINEAR and bound == 31)
    return inf if is_last else float(bound), number(words[1]), number(words[5])


def brw_stats(text: str) -> tuple[Said, bool]:
    """Say sections as lists of buckets; one with a line that is none says nothing."""
    lines, is_whole = lines_of(text)
    said: Said = {}
    bad, current, was_columns = set[str](), "", False
    titles = {f"{one} % cum % | {one.split()[-1]} % cum %": TITLES[one] for one in TITLES}
    for line in lines:
        title = titles.get(" ".join(line.split()), "") if line[:1].strip() else ""
        if line.split() == ["read", "|", "write"]:
            current = ""
        elif title:
            bad |= {title} & said.keys() | ({current, title} if not was_columns else set())
            current = title
            said[title] = []
        elif line:
            try:
                if _is_time(line):
                    name, seconds = _time(line)
                    said[name,] = seconds
                else:
                    said[current].append(_bucket(line, current))
            except (Damaged, ValueError, IndexError, KeyError):
                bad.add(current)
        was_columns = line.split() == ["read", "|", "write"]
    if not is_whole:
        bad.add(current)
    gone = {*bad, TIMES[:1], TIMES[2:]}
    return {key: said[key] for key in said if key not in gone}, is_whole and not bad


def _read_brw(text: str) -> tuple[Said, Sequence[str]]:
    found = parse_brw_stats(text)
    said: Said = {}
    for name, buckets in found.sections.items():
        assert [bound for bound, _ in buckets.read] == [bound for bound, _ in buckets.write]
        said[name] = [
            (bound, count, other)
            for (bound, count), (_, other) in zip(buckets.read, buckets.write, strict=True)
        ]
    if found.start_seconds is not None:
        said["start_time",] = found.start_seconds
    return said, found.problems


def _quota(text: str, keys: tuple[str, ...], title: str) -> tuple[Said, bool]:
    if text.startswith("not supported\n"):
        return {}, text == "not supported\n"
    lines, has_end = lines_of(text)
    is_title = bool(lines) and re.fullmatch(title, lines[0]) is not None
    rest = lines[is_title:]

    def entry(pair: str) -> tuple[int, list[int]]:
        first, second = pair.split("\n")
        words = first.split()
        expect(words[:2] == ["-", "id:"] and len(words) == 3 and first.endswith(words[2]))
        kind, _, body = second.partition("{ ")
        expect(kind.split() == [keys[0]] and body.endswith(" }"))
        fields = [field.split(":") for field in body[:-2].split(", ")]
        expect([name for name, _ in fields] == list(keys[1:]))
        return number(words[2]), [number(word.strip(string.whitespace)) for _, word in fields]

    starts = [at for at, line in enumerate(rest) if line.startswith("- id:")]
    said, is_whole = each(("\n".join(rest[at : at + 2]) for at in starts), entry)
    is_all = has_end and starts == list(range(0, len(rest), 2)) and len(rest) % 2 == 0
    return said, is_whole and is_all and bool(lines)


def usage(text: str) -> tuple[Said, bool]:
    said, is_whole = _quota(text, ("usage:", "inodes", "kbytes"), "[a-z]{3,7}_accounting:")
    return {key: (files, used * 1024) for key, (files, used) in said.items()}, is_whole


def limits(text: str) -> tuple[Said, bool]:
    keys = ("limits:", "hard", "soft", "granted", "time")
    said, is_whole = _quota(text, keys, r"global_(index_copy:|pool[0-9]+_(dt|md)_[a-zA-Z0-9_]+:?)")
    return {key: tuple(values) for key, values in said.items()}, is_whole


def _read_quota(parse: Callable[[list[str]], Any]) -> Callable[[str], tuple[Said, Sequence[str]]]:
    def read(text: str) -> tuple[Said, Sequence[str]]:
        found = parse([line for line in re.split(r"(?<=\n)", text) if line])
        return {key: tuple(value) for key, value in found.by_id.items()}, found.problems

    return read


CLIENTS = ("connected", "completed", "evicted")


def recovery(text: str) -> tuple[Said, bool]:
    def told(line: str) -> tuple[str, Any]:
        name, value = line.split(": ", 1)
        if name == "status":
            expect(value and set(value) <= set(string.ascii_uppercase + "_"))
            return name, value.lower()
        if name.removesuffix("_clients") in CLIENTS:
            for count in value.split("/", 1):
                digits(count)
            return name.removesuffix("_clients"), number(value.split("/")[0])
        return name, number(value)

    lines, has_end = lines_of(text)
    kept = (
        "status",
        "time_remaining",
        "recovery_duration",
        *(f"{one}_clients" for one in CLIENTS),
    )
    wanted = [line for line in lines if line.split(": ")[0] in kept and ": " in line]
    said, is_whole = each(wanted, told)
    return said, is_whole and has_end and "status" in said


def _read_recovery(text: str) -> tuple[Said, Sequence[str]]:
    found = parse_recovery_status(text)
    told = {
        "status": found.state or None, "time_remaining": found.remaining_seconds,
        "recovery_duration": found.duration_seconds, **(found.clients or {}),
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}, found.problems


_ASKED = (
    *("obdfilter.home-a-OST0000.stats", "obdfilter.home-a-OST0000.num_exports"),
    *("osd-ldiskfs.home-a-OST0000.kbytesfree", "obdfilter.home-a-OST0000.recovery_status"),
)


def answer(text: str) -> tuple[Said, bool]:
    """Say what stands between the names, each of which begins a line once, in order."""
    expect(text.endswith("\n") and text.startswith(f"{_ASKED[0]}="))
    parts: list[str] = []
    rest = f"\n{text[:-1]}"
    for name in reversed(_ASKED):
        expect(rest.count(f"\n{name}=") == 1)
        rest, _, part = rest.rpartition(f"\n{name}=")
        parts.insert(0, part)
    expect(not rest)
    for part in parts:
        expect(part.startswith("\n") or "\n" not in part)
    lines = [part.removeprefix("\n") for part in parts]
    return {
        name: f"{line}\n" if line or part == "\n" else ""
        for name, line, part in zip(_ASKED, lines, parts, strict=True)
    }, True


def _read_answer(text: str) -> tuple[Said, Sequence[str]]:
    found = split(text, _ASKED)
    return found or {}, [] if found else ["refused"]


def _answers() -> tuple[str, ...]:
    there = parameters("2.15.5")
    return ("".join(printed(name, str(there[name])) for name in _ASKED),)


FORMATS = {
    "stats": Format(_read_stats, stats, texts(r"obdfilter\.[^.]+\.stats", r"mdt\.[^.]+\.stats")),
    "md_stats": Format(_read_stats, stats, texts(r".*\.md_stats")),
    "stats of services": Format(_read_stats, stats, texts(r"(mds|ost|ldlm)\..*\.stats")),
    "stats of exports": Format(_read_stats, stats, texts(r".*\.exports\..*\.stats")),
    "llite": Format(_read_stats, stats, texts(r"llite\..*\.stats")),
    "brw_stats": Format(_read_brw, brw_stats, texts(r".*\.brw_stats")),
    "quota usage": Format(_read_quota(parse_quota_usage), usage, texts(r".*\.acct_\w+")),
    "quota limits": Format(_read_quota(parse_quota_limits), limits, texts(r".*\.glb-\w+")),
    "recovery_status": Format(_read_recovery, recovery, texts(r".*\.recovery_status")),
    "lctl get_param": Format(_read_answer, answer, _answers()),
}
