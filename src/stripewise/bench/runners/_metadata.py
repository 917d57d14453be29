# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs our own metadata kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stripewise.bench._case import Case
from stripewise.bench.runners._base import (
    OPERATIONS,
    OwnRunner,
    Printed,
    Span,
    metadata_samples,
    printed_test,
    read_record,
)
from stripewise.core.errors import UsageError
from stripewise.core.inputs import parse_json
from stripewise.run.runtime import Runtime
from stripewise.storage.stacks import Workload

JSON = "metadata.json"
_MOST_FILES = 100_000_000
"""Maximum number of files of a rank if only the stonewall ends their creation."""


class MetadataRunner(OwnRunner):
    """`stripewise bench metadata`: operations on files and directories, each timed separately."""

    name = "metadata"
    title = "metadata program"

    def programs(self, runtime: Runtime) -> Mapping[str, Path]:
        """Return the metadata kernel by MPI family."""
        return runtime.metadata_programs

    def why_not(self, case: Case) -> str:
        """Return why the metadata kernel cannot run a case."""
        if case.operation != "metadata":
            return (
                f"the runner metadata moves no data: operation is metadata, not {case.operation}"
            )
        if not case.files and not case.stonewall_seconds:
            return "files is 0: give the number of files of each rank, or a stonewall"
        if case.width and not case.depth:
            return f"width = {case.width} requires depth: give the levels of the tree"
        if case.cache not in ("shift", "none"):
            return f"cache = {case.cache!r} is for data: metadata take shift or none"
        if case.settings:
            return f"{case.settings[0][0]} has no effect on operations of metadata: leave it out"
        return ""

    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return the metadata kernel with its options."""
        words = [self.program(), "--directory", str(directory)]
        words += ["--files", str(case.files or _MOST_FILES), "--sharing", case.sharing]
        words += ["--phases", ",".join(OPERATIONS), "--shift", str(shift_of(case))]
        if case.depth:
            words += ["--depth", str(case.depth)]
            words += ["--width", str(case.width)] if case.width else []
        if case.file_bytes:
            words += ["--file-bytes", str(case.file_bytes), *(["--fsync"] if case.sync else [])]
        if case.stonewall_seconds:
            words += ["--stonewall", f"{case.stonewall_seconds:g}"]
        return [*words, "--json", str(record / JSON)]

    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the figures in the metadata kernel's JSON."""
        del stdout
        text = read_record(record / JSON, "the metadata kernel")
        test = printed_test(text, "the metadata kernel", case.ranks_per_node)
        document = parse_json(text)
        try:
            library = str(document["mpi_library"]).splitlines()[0]
            notes = tuple(_notes(case, document))
            spans = dict(_spans(document))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise UsageError(f"the metadata kernel's figures cannot be read ({error})") from error
        versions = {"metadata": test.version, "mpi": library}
        return Printed(metadata_samples(test), versions=versions, notes=notes, spans=spans)

    def workload(self, case: Case) -> Workload | None:
        """Return None: `simulation.metadata_rate` predicts metadata."""
        del case
        return None


def shift_of(case: Case) -> int:
    """Return the distance in ranks between those that create and those that query files."""
    if case.cache != "shift" or case.ranks == 1:
        return 0
    return case.ranks_per_node if case.nodes > 1 else 1


def _spans(document: dict[str, Any]) -> Iterator[tuple[str, Span]]:
    """Yield the time of each phase, if several programs share a job."""
    for phase in document["phases"]:
        if "begin_seconds" in phase:
            span = (float(phase["begin_seconds"]), float(phase["end_seconds"]))
            yield str(phase["operation"]), span


def _notes(case: Case, document: dict[str, Any]) -> Iterator[str]:
    if not document["shift"] and case.ranks > 1:
        yield "Each rank accessed its own files: clients may have answered from their caches."
    elif case.nodes == 1 and case.ranks > 1:
        yield "All ranks are on one node: its client may have answered from its cache."
    for phase in document["phases"]:
        wall = phase["stonewall"]
        if wall and wall["worn_out"] and wall["least_of_a_rank"] * 2 < wall["most_of_a_rank"]:
            yield (
                f"{phase['operation']}: after {wall['seconds']:g} s the slowest rank had made "
                f"{wall['least_of_a_rank']}, the fastest {wall['most_of_a_rank']}."
            )
