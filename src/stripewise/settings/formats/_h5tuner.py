# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes H5Tuner's XML, with the matching and precedence of its 2016-07 line.

H5Tuner looks only at the name of a parameter and ignores the sections around it.  `FileName` is
compared with the basename or, for properties of datasets, with the end of the path; `VariableName`
names a dataset.  A value for a named file wins over a general one at any position; among general
ones the last wins, among those for one file the first.  For properties of datasets, the first
value with both names wins, otherwise the last that matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stripewise.core import Configuration, DatasetRule, FileRule, Value
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import CONFIGURATION
from stripewise.settings.formats._base import (
    Format,
    LoadedConfiguration,
    Written,
    canonical,
    lost_parts,
    value_from_text,
)
from stripewise.settings.formats._match import literal_glob, literal_name
from stripewise.settings.tunables import DATASET_KEYS, Layer, find, hint_text, suggest_key

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LAYERS = (Layer.HDF5, Layer.MPIIO)
_SECTIONS = ("High_Level_IO_Library", "Middleware_Layer", "Parallel_File_System")
_LOCKLESS = "IBM_lockless_io"
_NOT_XML = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_H5TUNER_ITSELF = frozenset(
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
"""Parameters that H5Tuner supports; it silently ignores others."""


@dataclass(frozen=True)
class _Parameter:
    """One parameter element; file and variable are None if it applies to all."""

    layer: Layer
    key: str
    text: str
    file: str | None = None
    variable: str | None = None

    @property
    def names_both(self) -> bool:
        return self.file is not None and self.variable is not None

    @property
    def section(self) -> str:
        if self.layer is Layer.HDF5:
            return _SECTIONS[0]
        return _SECTIONS[2] if self.key.startswith(("striping_", "IBM_")) else _SECTIONS[1]


class H5TunerFormat(Format):
    """Format of `best.xml`, for sites that use H5Tuner."""

    name = "h5tuner"
    suffixes = (".xml",)
    summary = "H5Tuner's XML; hints and HDF5 properties for all files or for one by name"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        warnings: list[str] = []
        root = _root(text, name)
        parameters = list(_parameters(root, name, warnings))
        CONFIGURATION.check_entries(len(parameters), name)
        return LoadedConfiguration(Configuration(tuple(_rules(parameters))), tuple(warnings))

    def write(self, configuration: Configuration) -> Written:
        sheet = _Sheet(lost=lost_parts(configuration, "hdf5"))
        for rule in canonical(configuration).files:
            sheet.add_rule(rule)
        lost = tuple(dict.fromkeys(sheet.lost))
        if not sheet.parameters:
            return Written("", lost)
        beyond = sorted({p.key for p in sheet.parameters} - _H5TUNER_ITSELF)
        notes = (f"H5Tuner itself ignores {', '.join(beyond)}",) if beyond else ()
        return Written(_document(sheet.parameters), lost, notes)


def _reordered(parameters: list[_Parameter]) -> list[_Parameter]:
    """Reverse the parameters with both names, since the first of these wins, not the last."""
    return [p for p in parameters if not p.names_both] + [
        p for p in reversed(parameters) if p.names_both
    ]


def _root(text: str, name: str) -> Element:
    """Return the root element; the parser is imported here since it loads slowly."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(text.encode("utf-8", "surrogatepass"), forbid_dtd=True)
    except DefusedXmlException as error:
        raise ConfigurationError(
            f"{name}: XML with a DTD or entities is refused: take the <!DOCTYPE> out"
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise ConfigurationError(f"{name}: broken XML: {error}") from error
    return root


def _parameters(root: Element, name: str, warnings: list[str]) -> Iterator[_Parameter]:
    for element in root.iter():
        key = str(element.tag).rpartition("}")[2]
        layer = next((layer for layer in _LAYERS if find(layer, key)), None)
        if key == _LOCKLESS:
            if (element.text or "").strip() == "true":
                warnings.append(f"<{key}> is ignored: prefix the file name bglockless:")
        elif layer is not None:
            yield _parameter(element, layer, key, name, warnings)
        elif len(element) == 0 and element is not root and key not in _SECTIONS:
            warnings.append(f"<{key}> is ignored: not known{suggest_key(key, *_LAYERS)}")


def _parameter(
    element: Element, layer: Layer, key: str, name: str, warnings: list[str]
) -> _Parameter:
    file, variable = element.get("FileName"), element.get("VariableName")
    where = f"<{key}{f' FileName={file!r}' if file is not None else ''}>"
    for attribute in element.keys():
        if attribute not in ("FileName", "VariableName"):
            warnings.append(f"{where}: attribute {attribute} is ignored: not known")
    if variable is not None and key not in DATASET_KEYS:
        warnings.append(f"{where}: VariableName is ignored: it is for chunk and the like")
        variable = None
    if file is not None and "/" in file and key not in DATASET_KEYS:
        warnings.append(f"{where}: never matches: the name is compared without directories")
    words = (element.text or "").split()
    if not words:
        raise ConfigurationError(f"{name}: {where} is empty: give a value or take it out")
    tunable = find(layer, key)
    if tunable is not None and tunable.domain.kind == "ints":
        # Lists may contain blanks (on which H5Tuner itself fails).
        return _Parameter(layer, key, "".join(words), file, variable)
    if len(words) > 1:
        warnings.append(f"{where}: only the first word of {(element.text or '').strip()!r} counts")
    return _Parameter(layer, key, words[0], file, variable)


def _rules(parameters: list[_Parameter]) -> Iterator[FileRule]:
    """Order the rules so that the same values win if later rules take precedence."""
    plain = [p for p in parameters if p.key not in DATASET_KEYS]
    yield from _rule("*", [p for p in plain if p.file is None])
    for file in dict.fromkeys(p.file for p in plain if p.file is not None):
        first_wins = [p for p in reversed(plain) if p.file == file]
        yield from _rule(literal_glob(file), first_wins)
    for parameter in _reordered([p for p in parameters if p.key in DATASET_KEYS]):
        yield _dataset_rule(parameter)


def _rule(match: str, parameters: list[_Parameter]) -> Iterator[FileRule]:
    layers: dict[Layer, dict[str, Value]] = {layer: {} for layer in _LAYERS}
    for p in parameters:
        layers[p.layer][p.key] = value_from_text(p.layer, p.key, p.text)
    if parameters:
        yield FileRule(match, layers[Layer.MPIIO], layers[Layer.HDF5], override=True)


def _dataset_rule(parameter: _Parameter) -> FileRule:
    match = "*" if parameter.file is None else "*" + literal_glob(parameter.file)
    value = value_from_text(parameter.layer, parameter.key, parameter.text)
    settings = {parameter.key: value}
    if parameter.variable is None:
        return FileRule(match, hdf5=settings, override=True)
    dataset = DatasetRule(literal_glob(parameter.variable), settings)
    return FileRule(match, override=True, datasets=(dataset,))


@dataclass
class _Sheet:
    """Collects parameters to write, in an order that preserves H5Tuner's precedence."""

    parameters: list[_Parameter] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def add_rule(self, rule: FileRule) -> None:
        """Add a rule's settings, which must win over all earlier ones."""
        if not rule.override and (rule.mpiio or rule.hdf5 or rule.datasets):
            self.lost.append(f"override = false for {rule.match}: H5Tuner always overrides")
        for key, value in rule.mpiio.items():
            self._add_plain(rule.match, Layer.MPIIO, key, value)
        for key, value in rule.hdf5.items():
            if key in DATASET_KEYS:
                self._add_of_dataset(rule.match, "*", key, value)
            else:
                self._add_plain(rule.match, Layer.HDF5, key, value)
        for dataset in rule.datasets:
            for key, value in dataset.hdf5.items():
                self._add_of_dataset(rule.match, dataset.match, key, value)

    def _add_plain(self, match: str, layer: Layer, key: str, value: Value) -> None:
        file = None if match == "*" else literal_name(match)
        text = hint_text(value)
        if match != "*" and (file is None or "/" in file):
            self.lost.append(f"{key} for {match}: FileName is one name without directories")
        elif find(layer, key) is None:
            self.lost.append(f"{key}: not among the names of H5Tuner's XML")
        elif _NOT_XML.search((file or "") + text) or text.split() != [text]:
            self.lost.append(f"{key}={text!r} for {match!r}: XML cannot hold it")
        else:
            self._add(_Parameter(layer, key, text, file))

    def _add_of_dataset(self, match: str, dataset: str, key: str, value: Value) -> None:
        file = None if match == "*" else literal_name(match.removeprefix("*"))
        variable = None if dataset == "*" else literal_name(dataset)
        if (file is None and match != "*") or (variable is None and dataset != "*"):
            self.lost.append(f"{key} for {match}, dataset {dataset}: only names can be given")
            return
        if file == "" or _NOT_XML.search((file or "") + (variable or "")):
            self.lost.append(f"{key} for {match!r}, dataset {dataset!r}: XML cannot hold it")
            return
        if file is not None and (not match.startswith("*") or "/" in file):
            self.lost.append(f"{key} for {match}: it also acts on paths that only end so")
        self._add(_Parameter(Layer.HDF5, key, hint_text(value), file, variable))

    def _add(self, new: _Parameter) -> None:
        """Add a parameter that must win over all earlier ones, and drop those that it covers."""
        self.parameters = [p for p in self.parameters if not _covers(new, p)]
        if any(_outranks(p, new) for p in self.parameters):
            self.lost.append(f"order of {new.key}: the value for a named dataset always wins")
        self.parameters.append(new)


def _covers(new: _Parameter, old: _Parameter) -> bool:
    return (
        new.key == old.key
        and new.file in (None, old.file)
        and new.variable in (None, old.variable)
    )


def _outranks(old: _Parameter, new: _Parameter) -> bool:
    """Return whether the older parameter would win over the newer one where both act."""
    if old.key != new.key or not old.names_both or new.names_both:
        return False  # of parameters with both names the later one is written first
    return _overlap(old.file, new.file) and _overlap(old.variable, new.variable)


def _overlap(one: str | None, other: str | None) -> bool:
    """Return whether a file or dataset can match both names."""
    if one is None or other is None:
        return True
    return one.endswith(other) or other.endswith(one)


def _document(parameters: list[_Parameter]) -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<Parameters>"]
    for section in _SECTIONS:
        lines.append(f"  <{section}>")
        lines += [f"    {_element(p)}" for p in _reordered(parameters) if p.section == section]
        lines.append(f"  </{section}>")
    return "\n".join([*lines, "</Parameters>"]) + "\n"


def _element(parameter: _Parameter) -> str:
    from xml.sax.saxutils import escape, quoteattr

    attributes = ""
    if parameter.file is not None:
        attributes += f" FileName={quoteattr(parameter.file)}"
    if parameter.variable is not None:
        attributes += f" VariableName={quoteattr(parameter.variable)}"
    return f"<{parameter.key}{attributes}>{escape(parameter.text)}</{parameter.key}>"
