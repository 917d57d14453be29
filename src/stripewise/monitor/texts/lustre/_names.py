# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of parameters: which file system and target they belong to."""

from __future__ import annotations

import re
from typing import NamedTuple

_TARGET = re.compile(r"([A-Za-z0-9_-]{1,64})-((?:OST|MDT)[0-9a-fA-F]{4})", re.ASCII)
_NAMESPACE = re.compile(r"(?:filter|mdt)-(.+)_UUID", re.ASCII)
_MOUNT = re.compile(r"([A-Za-z0-9_-]{1,64})-[0-9a-fA-F]{6,16}", re.ASCII)
_MASTER = re.compile(r"([A-Za-z0-9_-]{1,64})-QMT[0-9a-fA-F]{4}", re.ASCII)
_EXPORT = re.compile(r"(?:obdfilter|mdt)\.([^.]+)\.exports\.(.+)\.stats", re.ASCII)
_CLIENT = re.compile(r"[0-9A-Za-z.:_-]{1,64}@[0-9a-z]{1,16}", re.ASCII)


class TargetName(NamedTuple):
    """A target: "scratch", "OST0004"."""

    fs: str
    target: str


def parse_target(name: str) -> TargetName | None:
    """Split "scratch-OST0004"; the file system's name may hold dashes.  None: not a target."""
    found = _TARGET.fullmatch(name)
    return TargetName(found[1], found[2]) if found else None


def parse_namespace(name: str) -> TargetName | None:
    """Return the target of a server's namespace of locks, "filter-scratch-OST0004_UUID"."""
    found = _NAMESPACE.fullmatch(name)
    return parse_target(found[1]) if found else None


def parse_mount(name: str) -> str:
    """Return the file system of a mount, "scratch-ffff97e895d31000"; "": not one."""
    found = _MOUNT.fullmatch(name)
    return found[1] if found else ""


def parse_quota_master(name: str) -> str:
    """Return the file system of a quota master, "scratch-QMT0000"; "": not one."""
    found = _MASTER.fullmatch(name)
    return found[1] if found else ""


def parse_export(name: str) -> tuple[TargetName, str] | None:
    """Return target and NID of "obdfilter.scratch-OST0004.exports.10.0.0.7@tcp.stats"."""
    found = _EXPORT.fullmatch(name)
    target = parse_target(found[1]) if found else None
    if not found or not target or not _CLIENT.fullmatch(found[2]):
        return None
    return target, found[2]
