# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of Lustre's single values, and of names of parameters."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

from stripewise.centre.monitor.collectors.lustre._parameters import (
    parse_count,
    parse_export,
    parse_health,
    parse_mount,
    parse_namespace,
    parse_quota_master,
    parse_target,
    parse_version,
)
from support.strict_lustre import texts
from support.strict_readers import Damaged, Format, Said, expect, number

LETTERS = string.ascii_letters + string.digits
NAMES = (
    *("scratch-OST0004", "home-a-MDT00ff", "filter-home-a-OST0004_UUID", "mdt-a-MDT0000_UUID"),
    *("home-a-ffff97e895d31000", "home-a-QMT0000"),
    "obdfilter.a-b-OST0001.exports.10.0.0.7@tcp.stats",
    "mdt.a-MDT0000.exports.fe80::1@tcp1.stats",
)


def one_line(text: str) -> str:
    expect(text.endswith("\n") and text.count("\n") == 1)
    return text[:-1]


def count(text: str) -> Any:
    return number(one_line(text))


def version(text: str) -> Any:
    expect("\n" in text)
    value = text.split("\n")[0].strip(" ").removeprefix("lustre:").lstrip(" ")
    expect(0 < len(value) <= 64 and value[0] in string.digits)
    expect(set(value) <= set(LETTERS + "._+~-"))
    return value


def health(text: str) -> Any:
    bad = [one for one in ("NOT HEALTHY", "LBUG", "reported unhealthy") if one in text]
    is_good = text.replace("\n", "").strip(" ") == "healthy" and len(text.split()) == 1
    expect(bad or is_good)
    return not bad


def _value(read: Callable[[str], Any]) -> Callable[[str], tuple[Said, bool]]:
    return lambda text: ({"value": read(text)}, True)


def _parsed(parse: Callable[[str], Any]) -> Callable[[str], tuple[Said, Sequence[str]]]:
    def read(text: str) -> tuple[Said, Sequence[str]]:
        value = parse(text)
        return ({}, ["none"]) if value is None or value == "" else ({"value": value}, [])

    return read


def _of_fs(name: str, is_rest: Callable[[str], bool]) -> tuple[str, str]:
    fs, dash, rest = name.rpartition("-")
    expect(dash and 0 < len(fs) <= 64 and set(fs) <= set(LETTERS + "_-"))
    expect(is_rest(rest))
    return fs, rest


def _is_hex(word: str, least: int = 4, most: int = 4) -> bool:
    return least <= len(word) <= most and set(word) <= set(string.hexdigits)


def target(name: str) -> Any:
    return _of_fs(name, lambda rest: rest[:3] in ("OST", "MDT") and _is_hex(rest[3:]))


def namespace(name: str) -> Any:
    expect(name.startswith(("filter-", "mdt-")) and name.endswith("_UUID"))
    return target(name.split("-", 1)[1].removesuffix("_UUID"))


def mount(name: str) -> Any:
    return _of_fs(name, lambda rest: _is_hex(rest, 6, 16))[0]


def master(name: str) -> Any:
    return _of_fs(name, lambda rest: rest[:3] == "QMT" and _is_hex(rest[3:]))[0]


def export(name: str) -> Any:
    kind, where, exports, rest = name.split(".", 3)
    expect(kind in ("obdfilter", "mdt") and exports == "exports" and rest.endswith(".stats"))
    address, network = rest.removesuffix(".stats").split("@")
    expect(0 < len(address) <= 64 and set(address) <= set(LETTERS + ".:_-"))
    expect(0 < len(network) <= 16 and set(network) <= set(string.ascii_lowercase + string.digits))
    return target(where), f"{address}@{network}"


READERS: dict[str, tuple[Callable[[str], Any], Callable[[str], Any]]] = {
    "target": (parse_target, target), "namespace": (parse_namespace, namespace),
    "mount": (parse_mount, mount), "quota master": (parse_quota_master, master),
    "export": (parse_export, export),
}  # fmt: skip


def _names(text: str) -> tuple[Said, Sequence[str]]:
    found = {kind: parse(text) for kind, (parse, _) in READERS.items()}
    return {kind: value for kind, value in found.items() if value}, []


def names(text: str) -> tuple[Said, bool]:
    said: Said = {}
    for kind, (_, read) in READERS.items():
        try:
            said[kind] = read(text)
        except (Damaged, ValueError):
            continue
    return said, True


FORMATS = {
    "counts": Format(_parsed(parse_count), _value(count), texts(
        r".*\.(kbytes|files)\w+", r".*\.(num_exports|granted|threads_\w+)", r"ldlm\..*\.lock_\w+",
        r"ldlm\..*\.(grant_rate|cancel_rate|limit)")),
    "version": Format(_parsed(parse_version), _value(version), texts("version")),
    "health_check": Format(_parsed(parse_health), _value(health), (
        *texts("health_check"), "device a-OST0000 reported unhealthy\nNOT HEALTHY\n", "LBUG\n")),
    "names": Format(_names, names, NAMES),
}  # fmt: skip
