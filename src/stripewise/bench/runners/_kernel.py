# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs our own kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stripewise.bench._case import ELEMENT_BYTES, Case
from stripewise.bench.runners._base import OwnRunner, Printed, Span, printed_test, read_record
from stripewise.core.errors import UsageError
from stripewise.core.inputs import parse_json
from stripewise.present import size_text
from stripewise.run.runtime import Runtime
from stripewise.storage.simulation import workload_from_kernel, workload_from_notation
from stripewise.storage.stacks import Workload

JSON = "kernel.json"
_SUFFIXES = {"hdf5": ".h5", "netcdf4": ".nc", "pnetcdf": ".nc", "adios2": ".bp"}


class KernelRunner(OwnRunner):
    """`stripewise bench kernel`: patterns of simulation codes through each library."""

    name = "kernel"
    title = "kernel"

    def programs(self, runtime: Runtime) -> Mapping[str, Path]:
        """Return the kernel by MPI family."""
        return runtime.kernels

    def why_not(self, case: Case) -> str:
        """Return why the kernel cannot run a case."""
        if case.operation == "metadata":
            return "operations of metadata are for the runner metadata"
        try:
            self.workload(case)
        except UsageError as error:
            return str(error)
        return ""

    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return the kernel with its options."""
        file = directory / f"data{_SUFFIXES.get(case.backend, '.dat')}"
        words = [self.program(), *kernel_words(case)]
        words += ["--op", case.operation, "--file", str(file), "--json", str(record / JSON)]
        words += ["--keep", *(["--fsync"] if case.sync else [])]
        if case.transfer_bytes:
            words += ["--transfer", str(case.transfer_bytes)]
        if case.stonewall_seconds:
            words += ["--stonewall", f"{case.stonewall_seconds:g}"]
        if case.operation == "write-read":
            words += _against_caches(case)
        return words

    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the figures in the kernel's JSON."""
        del stdout
        text = read_record(record / JSON, "the kernel")
        test = printed_test(text, "the kernel", case.ranks_per_node)
        document = parse_json(text)
        try:
            about = _versions(document), tuple(_notes(document)), _spans(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"the kernel's figures cannot be read ({error})") from error
        return Printed(tuple(one.sample for one in test.timed), test.hints, *about)

    def workload(self, case: Case) -> Workload:
        """Return the data that the ranks write."""
        collective = case.mode == "collective"
        if case.transfer_bytes and case.pattern == "blocks" and case.local.isdecimal():
            whole = int(case.local)
            part = min(case.transfer_bytes // ELEMENT_BYTES, whole)
            work = workload_from_notation(
                f"<1D,(BLOCK),({part})>", case.nodes, case.ranks_per_node,
                element_bytes=ELEMENT_BYTES, steps=case.steps * max(whole // part, 1),
                collective=collective,
            )  # fmt: skip
            return replace(work, flowing=not collective)
        words = [case.pattern]
        words += ["--local", case.local] if case.local else []
        words += ["--size", case.size] if case.size else []
        words += ["--steps", str(case.steps), "--open-once"] if case.steps > 1 else []
        return workload_from_kernel(words, case.nodes, case.ranks_per_node, collective=collective)


def kernel_words(case: Case) -> list[str]:
    """Return the options that determine the data: `--pattern NAME ...`."""
    words = ["--pattern", case.pattern]
    words += ["--local", case.local] if case.local else []
    words += ["--size", case.size] if case.size else []
    words += ["--backend", case.backend, "--layout", case.layout, "--mode", case.mode]
    if case.steps > 1:
        words += ["--steps", str(case.steps), "--open-once"]
    return words


def _against_caches(case: Case) -> list[str]:
    """Return the options with which reads come from the storage."""
    shift = case.ranks_per_node if case.nodes > 1 else 1
    words = ["--read-shift", str(shift)] if case.cache != "none" and case.ranks > 1 else []
    return [*words, *({"drop": ["--drop-caches"], "direct": ["--direct"]}.get(case.cache, []))]


def _spans(document: dict[str, Any]) -> dict[str, Span]:
    """Return the time of each pass, if several programs share a job."""
    application = document.get("application") or {}
    passes = {name: application.get(name) for name in ("write", "read")}
    return {
        name: (float(one["begin_seconds"]), float(one["end_seconds"]))
        for name, one in passes.items()
        if one
    }


def _versions(document: dict[str, Any]) -> dict[str, str]:
    """Return the versions of the MPI and of the library above it."""
    known = document.get("provenance") or {}
    words = {"mpi": known.get("mpi_library"), document["backend"]: known.get("io_library")}
    return {name: " ".join(str(value).split()) for name, value in words.items() if value}


def _notes(document: dict[str, Any]) -> Iterator[str]:
    """Yield remarks on the figures."""
    cached = document.get("cached_bytes_before_read")
    if document.get("drop_caches") and cached:
        yield (
            f"{size_text(int(cached))} of the files stayed in memory although they were to be "
            "dropped from it: reads may come from there"
        )
