# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All probes, one after the other, and their report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stripewise.errors import UsageError
from stripewise.outputs import whole_file
from stripewise.runtime import Check
from stripewise.site._base import Host, Probe, Section
from stripewise.site._judge import judge
from stripewise.site._veil import name_digest, veiled
from stripewise.site.probes import all_probes
from stripewise.text import finite

FORM = 1
"""Version of the file's form."""


@dataclass(frozen=True)
class SiteReport:
    """What a site is.

    Attributes:
        taken: When, UTC, ISO 8601.
        host: Name of the host, or its digest where names are left out.
        with_names: Whether names of hosts and users are in it.
        sections: Of each probe, by its name.
        summary: What Stripewise can and cannot do here.
    """

    taken: str
    host: str
    with_names: bool
    sections: Mapping[str, Section]
    summary: tuple[Check, ...]

    def document(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return {
            "stripewise_site": FORM,
            "taken": self.taken,
            "host": self.host,
            "with_names": self.with_names,
            "summary": [asdict(check) for check in self.summary],
            "sections": dict(self.sections),
        }


def check_site(
    host: Host, *, with_names: bool = False, probes: Sequence[Probe] | None = None
) -> SiteReport:
    """Run the probes; one that fails is recorded and stops no other.

    Args:
        host: That is asked.
        with_names: Leave names of hosts and users in.
        probes: All if not given.
    """
    chosen = all_probes() if probes is None else probes
    sections = {probe.name: _section(probe, host) for probe in chosen}
    names = host.names()
    called = names[0] if names else ""
    summary = judge(sections)
    if not with_names:
        sections = veiled(sections, names)
        summary = tuple(Check(**veiled(asdict(check), names)) for check in summary)
        called = name_digest(called)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    return SiteReport(taken, called, with_names, sections, summary)


def _section(probe: Probe, host: Host) -> Section:
    try:
        return probe.run(host)
    except Exception as error:  # one probe must not cost the others
        return {"probe_failed": f"{type(error).__name__}: {error}"[:500]}


def write_site(report: SiteReport, path: Path, *, force: bool = False) -> None:
    """Write a report as JSON that only its owner can read.

    Raises:
        UsageError: The file exists and `force` is not given.
        StorageError: It cannot be written.
    """
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists: give another --output, or --force to replace it")
    text = json.dumps(finite(report.document()), indent=2, ensure_ascii=True, allow_nan=False)
    with whole_file(path, 0o600) as place:
        place.write_text(text + "\n", encoding="ascii")


def site_lines(report: SiteReport) -> Iterator[str]:
    """Yield the summary for people."""
    for check in report.summary:
        yield f"{check.status:<4}  {check.name}: {check.detail}"
        if check.remedy:
            yield f"      -> {check.remedy}"
