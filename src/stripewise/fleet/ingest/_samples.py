# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Samples and events of the storage in a file of JSON lines."""

from __future__ import annotations

from pathlib import Path

from stripewise.errors import TraceError
from stripewise.fleet._of_profile import Origin
from stripewise.fleet._samples_text import is_samples, parse_samples
from stripewise.fleet.ingest._base import Feed, Reading
from stripewise.inputs import SAMPLES, input_lines


class SamplesFeed(Feed):
    """What a script of the site counted; all users see it, so not every user's is believed."""

    name = "samples"
    summary = "samples and events of a storage, as JSON lines"
    budget = SAMPLES
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether its first line is a sample or an event."""
        return head.startswith(b"{") and is_samples(head.decode("utf-8", "replace"))

    def read(self, path: Path, origin: Origin) -> Reading:
        """Read samples and events; lines that cannot be used are named.

        Raises:
            TraceError: Not one line can be used, or the file is too large.
        """
        found = parse_samples(input_lines(path, SAMPLES))
        if found.problems and not found.records:
            raise TraceError(f"{path}: no line of it can be used: {found.problems[0]}")
        return Reading(found.records, found.problems)
