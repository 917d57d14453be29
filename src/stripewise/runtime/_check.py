# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The record of one check of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """Outcome; only FAIL makes Stripewise unusable."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: Outcome.
        detail: What was found, one line.
        remedy: What to do; "" where nothing is to be done.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


def ok(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, CheckStatus.OK, detail)


def warn(name: str, detail: str, remedy: str = "") -> Check:
    """Usable, with a caveat."""
    return Check(name, CheckStatus.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str = "") -> Check:
    """Not usable."""
    return Check(name, CheckStatus.FAIL, detail, remedy)
