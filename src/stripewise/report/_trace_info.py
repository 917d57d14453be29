# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is in a trace, counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from stripewise.model import Evidence, IoLayer, Trace
from stripewise.report._text import format_bytes, format_seconds, plural
from stripewise.text import printable

_SHOWN_FILES = 12


def trace_info(evidence: Evidence, size_bytes: int = 0) -> dict[str, Any]:
    """Numbers of a trace, and of each of its files those of each layer.

    Args:
        evidence: What was read; one without a trace has counters alone.
        size_bytes: Of what it was read from, 0 if that is not known.
    """
    profile, trace = evidence.profile, evidence.trace
    found: dict[str, Any] = {
        "source": profile.source,
        "command": profile.command,
        "ranks": profile.n_ranks,
        "processes": profile.n_processes,
        "hosts": list(profile.hosts),
        "start": profile.start,
        "elapsed_seconds": profile.elapsed_seconds,
        "size_bytes": size_bytes,
        "recorded_processes": len(profile.processes),
        "unchecked_processes": profile.unchecked,
        "has_trace": trace is not None,
        "notes": list(profile.notes),
    }
    if trace is None:
        return {**found, "calls": 0, "records": 0, "lost_calls": 0, "files": []}
    calls = int(trace.rows["count"].sum())
    return {
        **found,
        "calls": calls,
        "records": len(trace.rows),
        "bytes_per_call": size_bytes / calls if calls else 0.0,
        "lost_calls": trace.lost_calls,
        "threads": len(np.unique(trace.rows[["process", "thread"]])),
        "datasets": len({(entry.file, entry.name) for entry in trace.objects}),
        "selections": len(trace.shapes),
        "views": len(trace.views),
        "files": _files(trace),
    }


def _files(trace: Trace) -> list[dict[str, Any]]:
    entries = []
    for file in np.unique(trace.rows["file"][trace.rows["file"] >= 0]).tolist():
        rows = trace.rows[trace.rows["file"] == file]
        layers = {
            IoLayer(layer).name.lower(): int(rows["count"][rows["layer"] == layer].sum())
            for layer in np.unique(rows["layer"])[::-1].tolist()
        }
        entries.append(
            {
                "path": trace.paths[file],
                "records": len(rows),
                "calls": layers,
                "processes": len(np.unique(rows["process"])),
                "datasets": sorted({o.name for o in trace.objects if o.file == file}),
            }
        )
    return sorted(entries, key=lambda entry: -sum(entry["calls"].values()))


def info_lines(info: dict[str, Any], *, everything: bool = False) -> list[str]:
    """The same for people."""
    words = [info["source"]]
    if info["command"]:
        words.append(printable(info["command"]))
    who = (
        plural(info["ranks"], "rank")
        if info["ranks"]
        else plural(info["processes"], "process", "processes")
    )
    if len(info["hosts"]) > 1:
        who += f" on {plural(len(info['hosts']), 'host')}"
    lines = ["   ".join(words), f"{who}, {format_seconds(info['elapsed_seconds'])}"]
    if not info["has_trace"]:
        lines.append("no single calls, only counters")
    else:
        lines.append(_counts(info))
        shown = info["files"] if everything else info["files"][:_SHOWN_FILES]
        lines += [_file_line(entry) for entry in shown]
        if len(shown) < len(info["files"]):
            lines.append(f"   and {plural(len(info['files']) - len(shown), 'file')} more (--all)")
    if info["unchecked_processes"] is not None:
        lines.append(_checked(info["unchecked_processes"], info["recorded_processes"]))
    return [*lines, *(f"note: {printable(text)}" for text in info["notes"])]


def _checked(unchecked: int, recorded: int) -> str:
    if not unchecked:
        return "checksum: matches"
    if unchecked == recorded:
        return "checksum: not checked"
    return f"checksum: not checked for {unchecked} of {plural(recorded, 'process', 'processes')}"


def _counts(info: dict[str, Any]) -> str:
    text = f"{plural(info['calls'], 'call')} in {plural(info['records'], 'record')}"
    if info["size_bytes"]:
        text += f", {format_bytes(info['size_bytes'])}"
    if info["lost_calls"]:
        text += f", {plural(info['lost_calls'], 'call')} lost"
    return text


def _file_line(entry: dict[str, Any]) -> str:
    layers = ", ".join(f"{name} {count}" for name, count in entry["calls"].items())
    processes = plural(entry["processes"], "process", "processes")
    line = f"   {printable(entry['path'])}   {processes}, calls: {layers}"
    if entry["datasets"]:
        line += f", {plural(len(entry['datasets']), 'dataset')}"
    return line
