# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of several boards: choices, expressions about slow and full targets, links."""

from __future__ import annotations

from boards._board import Choice
from boards._queries import RATE, Scope, kinds, name
from stripewise.centre.monitor import metrics as m

OST = 'target=~"OST.*"'
MDT = 'target=~"MDT.*"'
RECOVERING = 'state=~"(?i)recovering|waiting.*"'
"""Lustre's own words for recovery, in upper or lower case."""
TARGET = ("fs", "target")
FS = ("fs",)
SERVER = ("server",)

FULL = ((0.8, "yellow"), (0.9, "orange"), (0.97, "red"))
SLOW = ((2.0, "yellow"), (3.0, "red"))
ANY = ((1.0, "red"),)

_TARGETS = name(m.TARGET_TOTAL_BYTES)
CHOOSE_FS = Choice("fs", "File system", _TARGETS)
# The hosts of the board of servers, without clients, which have agents too.
CHOOSE_SERVER = Choice("server", "Server", _TARGETS + '{fs=~"$fs"}', lists_all=True)
CHOOSE_TARGET = Choice("target", "Target", _TARGETS + '{fs=~"$fs"}', first="OST0000")

_SAME = "${datasource:queryparam}&${portal:queryparam}"
TO_TARGET = (
    "/d/stripewise-target?var-fs=${__data.fields.fs}&var-target=${__data.fields.target}&" + _SAME
)
"""Link of a target's name."""
TO_SERVER = "/d/stripewise-server?var-server=${__data.fields.server}&" + _SAME
TARGET_LINKS = {"target": TO_TARGET, "fs": "${portal}/storage/${__data.fields.fs}"}


def service_time(scope: Scope, where: str = "", window: str = RATE) -> str:
    """Return the mean time of an operation, by target."""
    return scope.mean(m.SERVICE_SECONDS, m.SERVICE_OPERATIONS, TARGET, where, window)


def service_time_to_others(scope: Scope) -> str:
    """Return a target's mean time relative to the median of its kind in its file system.

    As in the alert, for at least four targets with over one operation per second.
    """
    # The median is over all targets of the file system, not only the selected ones.
    usual = _busy_time(Scope(tuple(v for v in scope.variables if v == "fs")))
    return (
        f"{_busy_time(scope)} / on (fs, kind) group_left () "
        f"(quantile by (fs, kind) (0.5, {usual}) and on (fs, kind) "
        f"count by (fs, kind) ({usual}) >= 4)"
    )


def _busy_time(scope: Scope) -> str:
    busy = scope.rate(m.SERVICE_OPERATIONS, TARGET)
    return kinds(f"{service_time(scope)} and on (fs, target) {busy} > 1")


def full_share(scope: Scope, by: tuple[str, ...], where: str = "") -> str:
    """Return the share of the space that is not available to users."""
    free = scope.level(m.TARGET_AVAILABLE_BYTES, by, where)
    return f"1 - {free} / {scope.level(m.TARGET_TOTAL_BYTES, by, where)}"


def inode_share(scope: Scope, by: tuple[str, ...], where: str = "") -> str:
    """Return the share of the inodes in use."""
    used = scope.level(m.TARGET_USED_FILES, by, where)
    return f"{used} / {scope.level(m.TARGET_TOTAL_FILES, by, where)}"


def missing(scope: Scope) -> str:
    """Return the targets that are missing on a server, and that no other server has."""
    flag = scope.series(m.TARGET_MISSING)
    return (
        f"max by (fs, target, server) ({flag} == 1)\n  unless on (fs, target) {flag} == 0\n"
        f"  unless on (fs, target) ({unheard(scope)})"
    )


def unheard(scope: Scope) -> str:
    """Return the targets whose last server has a silent agent, and may still have them."""
    flag = scope.series(m.TARGET_MISSING)
    last = f"max_over_time(timestamp({flag} == 0)[1d:5m])"
    return (
        f"topk by (fs, target) (1, {last})\n"
        f"  unless on (server) {name(m.INFO)}\n"
        f"  unless on (fs, target, server) {flag}"
    )
