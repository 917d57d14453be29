# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""H5Tuner's XML, written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from stripewise.formats._base import Written, lost_parts
from stripewise.formats._canonical import canonical
from stripewise.formats._match import literal_name
from stripewise.model import Configuration, FileRule, Value
from stripewise.tunables import DATASET_KEYS, Layer, find, hint_text

H5TUNER_ITSELF = frozenset(
    {
        "IBM_largeblock_io",
        "bgl_nodes_pset",
        "cb_buffer_size",
        "cb_nodes",
        "striping_factor",
        "striping_unit",
        "sieve_buf_size",
        "alignment",
        "chunk",
    }
)
"""Parameters that H5Tuner acts on; it passes over others silently."""

SECTIONS = ("High_Level_IO_Library", "Middleware_Layer", "Parallel_File_System")
_NOT_XML = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class _Entry:
    """One element: file and variable None where it holds for all."""

    key: str
    file: str | None
    variable: str | None
    section: str
    text: str


@dataclass
class _Sheet:
    """Elements in order, with H5Tuner's precedence kept in mind."""

    entries: list[_Entry] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def add(self, entry: _Entry) -> None:
        """Add an element that must win over all before it, so drop those it covers."""
        self.entries = [e for e in self.entries if not _covers(entry, e)]
        if any(_stronger(e, entry) for e in self.entries):
            self.lost.append(f"order of {entry.key}: the value for a named dataset always wins")
        self.entries.append(entry)


def _covers(new: _Entry, old: _Entry) -> bool:
    return (
        new.key == old.key
        and new.file in (None, old.file)
        and new.variable in (None, old.variable)
    )


def _stronger(old: _Entry, new: _Entry) -> bool:
    """Whether the older element would win where both act, against the order given."""
    if old.key != new.key or old.file is None or old.variable is None:
        return False
    if new.file is not None and new.variable is not None:
        return False  # both named: the later one is written first
    return _meet(old.file, new.file) and _meet(old.variable, new.variable)


def _meet(one: str | None, other: str | None) -> bool:
    """Whether a file or dataset can be meant by both names."""
    if one is None or other is None:
        return True
    return one.endswith(other) or other.endswith(one)


def write_h5tuner(configuration: Configuration) -> Written:
    """Write XML; what H5Tuner's matching cannot express is lost."""
    sheet = _Sheet(lost=lost_parts(configuration, "hdf5"))
    for rule in canonical(configuration).files:
        _add_rule(rule, sheet)
    beyond = sorted({e.key for e in sheet.entries} - H5TUNER_ITSELF)
    notes = [f"H5Tuner itself passes over {', '.join(beyond)}"] if beyond else []
    if not sheet.entries:
        return Written("", tuple(dict.fromkeys(sheet.lost)))
    return Written(_document(sheet.entries), tuple(dict.fromkeys(sheet.lost)), tuple(notes))


def _add_rule(rule: FileRule, sheet: _Sheet) -> None:
    if not rule.override and (rule.mpiio or rule.hdf5 or rule.datasets):
        sheet.lost.append(f"override = false for {rule.match}: H5Tuner always overrides")
    for key, value in rule.mpiio.items():
        _add_plain(rule, Layer.MPIIO, key, value, sheet)
    for key, value in rule.hdf5.items():
        if key in DATASET_KEYS:
            _add_of_dataset(rule.match, "*", key, value, sheet)
        else:
            _add_plain(rule, Layer.HDF5, key, value, sheet)
    for dataset in rule.datasets:
        for key, value in dataset.hdf5.items():
            _add_of_dataset(rule.match, dataset.match, key, value, sheet)


def _add_plain(rule: FileRule, layer: Layer, key: str, value: Value, sheet: _Sheet) -> None:
    file = None if rule.match == "*" else literal_name(rule.match)
    text = hint_text(value)
    if rule.match != "*" and (file is None or "/" in file):
        sheet.lost.append(f"{key} for {rule.match}: FileName is one name without directories")
    elif find(layer, key) is None:
        sheet.lost.append(f"{key}: not among the names of H5Tuner's XML")
    elif _NOT_XML.search((file or "") + text) or len(text.split()) != 1 or text != text.strip():
        sheet.lost.append(f"{key}={text!r} for {rule.match!r}: XML cannot hold it")
    else:
        sheet.add(_Entry(key, file, None, _section(layer, key), text))


def _add_of_dataset(match: str, dataset: str, key: str, value: Value, sheet: _Sheet) -> None:
    file = None if match == "*" else literal_name(match.removeprefix("*"))
    variable = None if dataset == "*" else literal_name(dataset)
    if (file is None and match != "*") or (variable is None and dataset != "*"):
        sheet.lost.append(f"{key} for {match}, dataset {dataset}: only names can be given")
        return
    if file == "" or _NOT_XML.search((file or "") + (variable or "")):
        sheet.lost.append(f"{key} for {match!r}, dataset {dataset!r}: XML cannot hold it")
        return
    if file is not None and (not match.startswith("*") or "/" in file):
        sheet.lost.append(f"{key} for {match}: it also acts on paths that only end so")
    sheet.add(_Entry(key, file, variable, SECTIONS[0], hint_text(value)))


def _section(layer: Layer, key: str) -> str:
    if layer is Layer.HDF5:
        return SECTIONS[0]
    return SECTIONS[2] if key.startswith(("striping_", "IBM_")) else SECTIONS[1]


def _document(entries: list[_Entry]) -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<Parameters>"]
    for section in SECTIONS:
        lines.append(f"  <{section}>")
        inside = [entry for entry in _first_wins(entries) if entry.section == section]
        lines += [f"    {_element(entry)}" for entry in inside]
        lines.append(f"  </{section}>")
    return "\n".join([*lines, "</Parameters>"]) + "\n"


def _first_wins(entries: list[_Entry]) -> list[_Entry]:
    """Put elements with both names last to first: the first of them counts, not the last."""
    named = [e for e in entries if e.file is not None and e.variable is not None]
    return [e for e in entries if e not in named] + named[::-1]


def _element(entry: _Entry) -> str:
    attributes = ""
    if entry.file is not None:
        attributes += f" FileName={quoteattr(entry.file)}"
    if entry.variable is not None:
        attributes += f" VariableName={quoteattr(entry.variable)}"
    return f"<{entry.key}{attributes}>{escape(entry.text)}</{entry.key}>"
