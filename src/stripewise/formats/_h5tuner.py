# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""H5Tuner's XML, read with the matching and precedence of its 2016-07 line.

A parameter's name decides; the sections around it are decoration.  `FileName` is compared
with the basename, for properties of datasets with the end of the path; `VariableName` names
a dataset.  A value for a named file wins over a general one, wherever it stands; among
general ones the last counts, among those for one file the first.  For properties of
datasets, one with both names wins, first of all, otherwise the last that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from stripewise.errors import ConfigurationError
from stripewise.formats._base import Format, LoadedConfiguration, Written, value_from_text
from stripewise.formats._h5tuner_write import SECTIONS, write_h5tuner
from stripewise.formats._match import literal_glob
from stripewise.inputs import CONFIGURATION
from stripewise.model import Configuration, DatasetRule, FileRule, Value
from stripewise.tunables import DATASET_KEYS, Layer, all_tunables, find, suggest

_LAYERS = (Layer.HDF5, Layer.MPIIO)
_ATTRIBUTES = ("FileName", "VariableName")
_LOCKLESS = "IBM_lockless_io"


@dataclass(frozen=True)
class _Parameter:
    layer: Layer
    key: str
    value: Value
    file: str | None
    variable: str | None


class H5TunerFormat(Format):
    """`best.xml`, for sites that use H5Tuner."""

    name = "h5tuner"
    suffixes = (".xml",)
    summary = "H5Tuner's XML; hints and HDF5 properties for all files or for one by name"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        """Read XML."""
        warnings: list[str] = []
        root = _root(text, name)
        parameters = list(_parameters(root, name, warnings))
        CONFIGURATION.check_entries(len(parameters), name)
        return LoadedConfiguration(Configuration(tuple(_rules(parameters))), tuple(warnings))

    def write(self, configuration: Configuration) -> Written:
        """Write XML."""
        return write_h5tuner(configuration)


def _root(text: str, name: str) -> Element:
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
        elif len(element) == 0 and element is not root and key not in SECTIONS:
            known = [t.key for t in all_tunables() if t.layer in _LAYERS]
            warnings.append(f"<{key}> is ignored: not known{suggest(key, known)}")


def _parameter(
    element: Element, layer: Layer, key: str, name: str, warnings: list[str]
) -> _Parameter:
    file, variable = (element.get(attribute) for attribute in _ATTRIBUTES)
    where = f"<{key}{f' FileName={file!r}' if file is not None else ''}>"
    for attribute in element.keys():
        if attribute not in _ATTRIBUTES:
            warnings.append(f"{where}: attribute {attribute} is ignored: not known")
    if variable is not None and key not in DATASET_KEYS:
        warnings.append(f"{where}: VariableName is ignored: it is for chunk and the like")
        variable = None
    if file is not None and "/" in file and key not in DATASET_KEYS:
        warnings.append(f"{where}: never matches: the name is compared without directories")
    if not (element.text or "").strip():
        raise ConfigurationError(f"{name}: {where} is empty: give a value or take it out")
    text = _word(element.text or "", layer, key, where, warnings)
    return _Parameter(layer, key, value_from_text(layer, key, text), file, variable)


def _word(text: str, layer: Layer, key: str, where: str, warnings: list[str]) -> str:
    """Return the first word; lists may have blanks inside (H5Tuner itself breaks on them)."""
    words = text.split()
    knob = find(layer, key)
    if knob is not None and knob.domain.kind == "ints":
        return "".join(words)
    if len(words) > 1:
        warnings.append(f"{where}: only the first word of {text.strip()!r} counts")
    return words[0]


def _rules(parameters: list[_Parameter]) -> Iterator[FileRule]:
    """Order the rules so that with "later wins" the same values come out."""
    plain = [p for p in parameters if p.key not in DATASET_KEYS]
    yield from _rule("*", [p for p in plain if p.file is None])
    for file in dict.fromkeys(p.file for p in plain if p.file is not None):
        first_wins = [p for p in reversed(plain) if p.file == file]
        yield from _rule(literal_glob(file), first_wins)
    of_datasets = [p for p in parameters if p.key in DATASET_KEYS]
    full = [p for p in of_datasets if p.file is not None and p.variable is not None]
    for parameter in [p for p in of_datasets if p not in full] + full[::-1]:
        yield _dataset_rule(parameter)


def _rule(match: str, parameters: list[_Parameter]) -> Iterator[FileRule]:
    mpiio = {p.key: p.value for p in parameters if p.layer is Layer.MPIIO}
    hdf5 = {p.key: p.value for p in parameters if p.layer is Layer.HDF5}
    if mpiio or hdf5:
        yield FileRule(match, mpiio, hdf5, override=True)


def _dataset_rule(parameter: _Parameter) -> FileRule:
    match = "*" if parameter.file is None else "*" + literal_glob(parameter.file)
    settings = {parameter.key: parameter.value}
    if parameter.variable is None:
        return FileRule(match, hdf5=settings, override=True)
    dataset = DatasetRule(literal_glob(parameter.variable), settings)
    return FileRule(match, override=True, datasets=(dataset,))
