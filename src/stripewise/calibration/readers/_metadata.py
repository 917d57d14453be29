# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of `stripewise metadata --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from stripewise.calibration.readers._base import Reader, Results
from stripewise.errors import UsageError
from stripewise.inputs import parse_json
from stripewise.simulation import SERVER_OPERATIONS

_FILES = ("create", "stat", "read-file", "remove")


class Metadata(Reader):
    """One run of our own metadata kernel."""

    name = "metadata"

    def recognises(self, text: str, name: str) -> bool:
        """Whether our metadata kernel wrote it."""
        return '"stripewise-metadata"' in text[:200]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the rate of each operation on files, one for each repeat."""
        del ranks_per_node
        document = parse_json(text)
        found: dict[str, tuple[float, ...]] = {}
        try:
            for phase in document["phases"]:
                if phase["operation"] in _FILES:
                    figure = f"metadata.{SERVER_OPERATIONS[phase['operation']]}"
                    rate = _rate(name, phase)
                    found[figure] = (*found.get(figure, ()), rate)
            notes = tuple(_notes(document, name))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}: the metadata kernel's JSON has no usable {error}: check that it is whole"
            ) from error
        if not found:
            raise UsageError(f"{name}: no operation on files was timed: check that the run ended")
        return Results(operations=found, notes=notes)


def _rate(name: str, phase: Mapping[str, Any]) -> float:
    rate = float(phase["operations"]) / float(phase["seconds"]) if phase["seconds"] else 0.0
    if not isfinite(rate) or rate <= 0:
        raise UsageError(
            f"{name}: {phase['operation']} at {rate:g} operations a second is impossible: check "
            "that the file is whole"
        )
    return rate


def _notes(document: Mapping[str, Any], name: str) -> Iterator[str]:
    emulated = document.get("emulated")
    if emulated:
        yield f"{name} was measured on emulated storage, {emulated['storage']}."
    if document["file_bytes"]:
        yield (
            f"{name}: creations and reads have {document['file_bytes']} bytes of data in them; "
            "the server alone is faster."
        )
