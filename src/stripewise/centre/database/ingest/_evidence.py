# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads profiles and traces of runs: every input that `stripewise profile` reads."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from stripewise.centre.database.ingest._base import Claim, Feed, InputReading, RefusedError
from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.core.inputs import RECORDER_FILE, open_input
from stripewise.evidence.containers import container_bytes, is_container
from stripewise.evidence.readers import SOURCES, read_evidence

_CONTAINER = ".sw"
_MOST_NOTES = 3
"""Maximum number of notes about an incomplete input; its profile has all of them."""
_TRACE = ".trace"
_DARSHAN = ".darshan"


class EvidenceFeed(Feed):
    """A log, trace or profile of one run of a program."""

    name = "evidence"
    summary = "a trace, log or profile of a run, of any kind that `stripewise profile` reads"
    budget = RECORDER_FILE

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether one of the evidence sources recognises the input."""
        return any(source.recognises(path) for source in SOURCES)

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read a run and diagnose it.

        Raises:
            RefusedError: It is a damaged log without any counter, which would be stored as zeros.
        """
        source = next(source for source in SOURCES if source.recognises(path))
        kind = source.kind or source.name
        evidence = read_evidence(path)
        profile = evidence.profile
        if kind == "darshan" and profile.partial and not len(profile.counters):
            why = next((note for note in profile.notes if "damaged" in note), profile.notes[0])
            raise RefusedError(f"nothing is left to read of it: {why}")
        problems = profile.notes[:_MOST_NOTES] if profile.partial else ()
        return InputReading((source_of(evidence, replace(origin, kind=kind)),), tuple(problems))

    def content_bytes(self, path: Path) -> int:
        """Return how many bytes of a file are its content: a container states where it ends."""
        if is_container(path):
            return container_bytes(path)
        with open_input(path) as file:
            size = os.fstat(file.fileno()).st_size
        if size > min(source.budget.file_bytes for source in SOURCES):
            known = (source.budget for source in SOURCES if source.recognises(path))
            next(known, self.budget).check_bytes(size, path)
        return size

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Return the containers of a run, or the files of a Recorder trace."""
        containers = tuple(sorted(name for name in names if name.endswith(_CONTAINER)))
        if containers:
            return Claim(containers)
        of_recorder = {"recorder.mt", "VERSION"} <= set(names) or "_text" in names
        numbered = any(name in names for name in ("0.txt", "log.0"))
        if not (of_recorder or numbered or directory.name.endswith(_TRACE)):
            return None
        if any(name.endswith(_DARSHAN) for name in names):
            return None  # each log is an input
        if not self.recognises(directory, b""):
            return None
        # a link is never an input; a directory that contains one is skipped
        found = [path for path in directory.rglob("*") if path.is_symlink() or path.is_file()]
        return Claim(tuple(sorted(str(path.relative_to(directory)) for path in found)), whole=True)
