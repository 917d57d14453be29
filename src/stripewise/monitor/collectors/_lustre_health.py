# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Health and version of Lustre on one host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.metrics import Reading, lustre
from stripewise.monitor.texts.lustre import excerpt, parse_health, parse_version

_KNOWN = ((2, 12), (2, 17))
_NUMBERS = re.compile(r"(\d{1,4})\.(\d{1,4})")


def version_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return the version; none if it was never told."""
    text = values.get("version", "")
    version = parse_version(text)
    if version:
        yield Reading(lustre.VERSION, (version,), 1.0)
    elif text:
        yield Problem(f"version: not a version: {excerpt(text)}")


def server_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return version and health."""
    yield from version_readings(values)
    if "health_check" not in values:
        return
    is_healthy = parse_health(values["health_check"])
    if is_healthy is None:
        yield Problem(f"health_check: not known: {excerpt(values['health_check'])}")
    else:
        yield Reading(lustre.HEALTHY, (), float(is_healthy))


def version_problem(values: Mapping[str, str], before: str) -> Iterator[Problem]:
    """Say that a version is not known, once for each that comes."""
    text = values.get("version", before)
    found = _NUMBERS.match(parse_version(text))
    if text == before or not found:
        return
    if not _KNOWN[0] <= (int(found[1]), int(found[2])) <= _KNOWN[1]:
        yield Problem(
            f"Lustre {parse_version(text)}: versions 2.12 to 2.17 are known; what is found is read"
        )
