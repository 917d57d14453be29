# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of texts of NFS, GPFS and BeeGFS."""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Callable
from typing import Any

from stripewise.centre.monitor.collectors._beegfs import (
    BeeGfsTarget,
    read_beegfs_json,
    read_beegfs_table,
)
from stripewise.centre.monitor.collectors._gpfs import read_fs_io_s
from stripewise.centre.monitor.collectors._nfs import read_devices, read_mountstats
from support.other_hosts import (
    META_7,
    META_8,
    MOUNTINFO,
    TARGETS_7,
    TARGETS_8,
    gpfs_line,
    mountstats,
)
from support.strict_readers import (
    Damaged,
    Format,
    Said,
    digits,
    each,
    expect,
    lines_of,
    most_have,
    number,
)

APART = "\0\n"
"""Parts mountstats from mountinfo in one text, so that both are damaged."""
ORDER = ("\topts:", "\tage:", "\tbytes:", "\tper-op statistics")


def _devices(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        before, dash, after = line.partition(" - ")
        words = before.split(" ")
        parts = words[2].split(":") if len(words) >= 6 else []
        try:
            expect(dash and after.split(" ")[0] in ("nfs", "nfs4"))
            expect(len(parts) == 2)
            digits(parts[0], 6), digits(parts[1], 8)
        except Damaged:
            continue
        found.setdefault(words[4], []).append(words[2])
    return found


def _head(line: str) -> tuple[str, str] | None:
    """Return mount point and version; None: of another kind."""
    words = line.split(" ")
    if words[0] == "no":
        return None
    expect(all(words) and not any(one.isspace() for one in line.replace(" ", "")))
    expect(len(words) in (8, 9) and [words[0], *words[2:4], *words[5:7]]
           == ["device", "mounted", "on", "with", "fstype"])  # fmt: skip
    expect(len(words) == 8 or (words[8].startswith("statvers=") and words[8] != "statvers="))
    if words[7] not in ("nfs", "nfs4"):
        return None
    return words[4], words[8].removeprefix("statvers=") if len(words) == 9 else ""


def _blocks(lines: list[str]) -> tuple[list[tuple[str, str, list[str]]], bool]:
    heads = [at for at, line in enumerate(lines) if line and not line.startswith("\t")]
    found, is_whole = [], True
    for at, end in zip(heads, [*heads, len(lines)][1:], strict=False):
        try:
            head = _head(lines[at])
        except Damaged:
            is_whole = is_whole and not lines[at].startswith("device ")
            continue
        if head is not None:
            found.append((*head, lines[at + 1 : end]))
    return found, is_whole


def _statistics(lines: list[str]) -> tuple[tuple[int, ...], Said, bool]:
    """Return bytes, operations by name, and whether all could be read."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    expect(all(lines))
    places = [[at for at, line in enumerate(lines) if line.startswith(part)] for part in ORDER]
    expect(all(len(place) < 2 for place in places) and places[0])
    flat = [at for place in places for at in place]
    expect(flat == sorted(flat))
    title = next((at for at, line in enumerate(lines) if line == ORDER[3]), len(lines))
    rows = lines[title + 1 :]
    width = most_have([len(line.split()) for line in rows])

    def operation(line: str) -> tuple[str, Any]:
        name, rest = line.split(": ")
        expect(name[0] == "\t")
        name = name[1:].lstrip(" ")
        expect(set(name) <= set(string.ascii_uppercase + string.digits + "_"))
        expect(0 < len(name) <= 32 and name[0] != "_")
        n = [number(word) for word in rest.split(" ")]
        expect(8 <= len(n) <= 12 and len(n) + 1 == width)
        return name, (n[0], n[2], n[5], n[7], n[8] if len(n) > 8 else None)

    operations, is_whole = each(rows, operation)
    moved: tuple[int, ...] = ()
    for line in lines[:title]:
        if line.startswith("\tbytes:"):
            words = line.removesuffix(" ").split("\t")
            try:
                expect(words[:2] == ["", "bytes:"] and len(words) == 3)
                moved = tuple(number(word) for word in words[2].split(" "))
                expect(len(moved) == 8)
            except Damaged:
                moved = ()
    return moved[:6], operations, is_whole and bool(moved) and bool(rows)


def nfs(text: str) -> tuple[Said, bool]:
    stats, _, info = text.partition(APART)
    devices = _devices(info)
    lines, has_end = lines_of(stats)
    blocks, is_whole = _blocks(lines)
    is_whole = is_whole and has_end
    counts = Counter(point for point, _, _ in blocks)
    is_whole = is_whole and counts == {point: len(found) for point, found in devices.items()}
    said: Said = {}
    for place, (point, version, rest) in enumerate(blocks):
        nth = sum(other == point for other, _, _ in blocks[:place])
        try:
            expect(counts[point] == len(devices.get(point, ())))
            expect(version in ("1.0", "1.1"))
            moved, operations, is_all = _statistics(rest)
        except Damaged:
            is_whole = False
            continue
        is_whole = is_whole and is_all
        said[point, nth] = (devices[point][nth], moved, operations)
    return said, is_whole


def _read_nfs(text: str) -> tuple[Said, list[str]]:
    stats, _, info = text.partition(APART)
    found, problems = read_mountstats(stats, read_devices(info))
    said: Said = {}
    for mount in found:
        nth = sum(point == mount.point for point, _ in said)
        operations = {name: tuple(counts) for name, counts in mount.operations.items()}
        said[mount.point, nth] = (mount.device, mount.bytes_moved, operations)
    return said, problems


GPFS_KEYS = ("_br_", "_bw_", "_oc_", "_cc_", "_rdc_", "_wc_", "_dir_", "_iu_")
GPFS_NAMES = ("open", "close", "read", "write", "readdir", "inode_update")


def gpfs(text: str) -> tuple[Said, bool]:
    def file_system(line: str) -> tuple[Any, Any]:
        keyword, *words = line.strip(" ").split(" ")
        told = dict(zip(words[::2], words[1::2], strict=True))
        expect(keyword == "_fs_io_s_" and 2 * len(told) == len(words))
        fs, cluster = told["_fs_"].removeprefix("/dev/"), told["_cl_"]
        for name in (fs, cluster):
            expect(name.isprintable() and 0 < len(name) <= 128 and "/" not in name)
        expect(told["_rc_"] == "0")
        return (cluster, fs), [number(told[key]) for key in GPFS_KEYS]

    lines, has_end = lines_of(text)
    answers = (line for line in lines if line.strip(" ") and not _is_other(line))
    said, is_whole = each(answers, file_system)
    return said, is_whole and has_end


def _is_other(line: str) -> bool:
    """Whether a line answers another request, or says that nothing is mounted."""
    others = ("_ver_", "_response_", "_mmpmon", "_io_s_", "_reset_", "_nlist_", "_rhist_",
              "_error_")  # fmt: skip
    words = line.strip(" ").split(" ")
    return words[0].startswith(others) or ("_fs_", "-") in zip(words[1::2], words[2::2],
                                                               strict=False)  # fmt: skip


def _read_gpfs(text: str) -> tuple[Said, list[str]]:
    found, problems = read_fs_io_s(text)
    assert all(tuple(one.operations) == GPFS_NAMES for one in found)
    return {
        (one.cluster, one.fs): [one.read_bytes, one.write_bytes, *one.operations.values()]
        for one in found
    }, problems


STATES = {"online": True, "probably-offline": False, "offline": False}
UNKNOWN = ("", "-", "unknown", "<invalid_value>")


def _target(number: int, state: str, total: int | None, free: int | None) -> tuple[int, Any]:
    expect(0 < number < 1 << 16)
    is_online = None if state in UNKNOWN else STATES[state.lower()]
    if total is None or free is None:
        return number, (is_online, None, None)
    expect(free <= total)
    return number, (is_online, total, free)


def beegfs_table(text: str) -> tuple[Said, bool]:
    def tenths(word: str, unit: str) -> float:
        whole, tenth = word.removesuffix(unit).split(".")
        expect(word.endswith(unit) and len(whole) <= 18)
        return number(whole) + digits(tenth, 1) / 10

    def row(line: str) -> tuple[int, Any]:
        words = [word for word in line.split(" ") if word]
        if words[1] == "<invalid_value>" and words[2].endswith("GiB"):
            words.insert(2, "")
        total, free = (round(tenths(word, "GiB") * (1 << 30)) for word in words[3:5])
        for share in (words[5], words[8]):
            expect(share.endswith("%"))
            digits(share[:-1], 3)
        for inodes in words[6:8]:
            expect(inodes.endswith("M") and 4 <= len(inodes) <= 21)
            expect(set(inodes[:-1]) <= set(string.digits + "."))
        return _target(number(words[0]), words[1], total or None, free)

    lines, has_end = lines_of(text)
    head = ["TargetID", "Reachability", "Consistency", "Total", "Free"]
    if not any(line.split()[:5] == head for line in lines):
        return {}, False
    rows = [line for line in lines if line.strip() and set(line) - set("= ")]
    said, is_whole = each((line for line in rows if line.split()[:5] != head), row)
    return said, is_whole and has_end


class Pairs(list[tuple[str, Any]]):
    """A JSON object as it stands."""

    def of(self, key: str) -> Any:
        values = [value for name, value in self if name == key]
        return values[0] if values else ""


def beegfs_json(text: str) -> tuple[Said, bool]:
    def pairs(found: list[tuple[str, Any]]) -> Pairs:
        expect(len({name for name, _ in found}) == len(found))
        return Pairs(found)

    entries: list[Any] = []
    is_json = True
    rest = text.lstrip(" \t\r\n")
    while rest:
        try:
            page, end = json.JSONDecoder(object_pairs_hook=pairs).raw_decode(rest)
        except (Damaged, ValueError, RecursionError):
            is_json = False
            break
        entries += [page] if isinstance(page, Pairs) or not isinstance(page, list) else page
        rest = rest[end:].lstrip(" \t\r\n")
    said, is_whole = each(entries, _json_target)
    return said, is_whole and is_json


def _json_target(entry: Any) -> tuple[int, Any]:
    expect(isinstance(entry, Pairs))
    given = entry.of("id")
    name = str(given.of("num_id") if isinstance(given, Pairs) else given)
    kind, _, word = name.rpartition(":")
    expect(set(kind) <= set(string.ascii_lowercase) and len(kind) <= 16)
    expect(bool(kind) == (":" in name) and len(word) <= 5)
    free = [size for name, size in entry if name in ("sfree", "space_free")]
    expect(len(free) < 2)
    sizes = [entry.of("space"), *(free or [""])]
    total, left = (
        None if size is None or str(size) in UNKNOWN else number(str(size)) for size in sizes
    )
    return _target(number(word), str(entry.of("reachability")), total, left)


def _beegfs(
    read: Callable[[str], tuple[list[BeeGfsTarget], list[str]]],
) -> Callable[[str], tuple[Said, list[str]]]:
    def by_number(text: str) -> tuple[Said, list[str]]:
        found, problems = read(text)
        assert len({one.number for one in found}) == len(found)
        return {one.number: tuple(one[1:]) for one in found}, problems

    return by_number


FORMATS = {
    "mountstats": Format(_read_nfs, nfs, (f"{mountstats()}{APART}{MOUNTINFO}",)),
    "mmpmon": Format(_read_gpfs, gpfs, (gpfs_line("a") + gpfs_line("b"),)),
    "beegfs table": Format(_beegfs(read_beegfs_table), beegfs_table, (TARGETS_7, META_7)),
    "beegfs JSON": Format(_beegfs(read_beegfs_json), beegfs_json, (TARGETS_8, META_8)),
}
