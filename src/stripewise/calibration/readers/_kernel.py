# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of `stripewise kernel --json`."""

from __future__ import annotations

from stripewise.calibration.readers._base import Measured, Reader, Results, nodes_of
from stripewise.errors import UsageError
from stripewise.inputs import parse_json
from stripewise.simulation import workload_from_kernel

_LAYOUTS = {"shared": "posix-shared", "per-process": "posix-process",
            "per-node": "posix-node", "serial": "posix-serial"}  # fmt: skip


class Kernel(Reader):
    """One run of our own kernel."""

    name = "kernel"

    def recognises(self, text: str, name: str) -> bool:
        """Whether our kernel wrote it."""
        return '"stripewise-kernel"' in text[:200]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the rate of each direction; its steps are the repeats."""
        document = parse_json(text)
        try:
            ranks = int(document["n_ranks"])
            nodes = nodes_of(name, ranks, ranks_per_node)
            words = [document["pattern"], "--size", ",".join(map(str, document["shape"]))]
            if document.get("distribution"):
                words += ["--distribution", document["distribution"]]
                words += ["--grid", ",".join(map(str, document["grid"]))]
            words += ["--type", document["type"], "--mode", document["mode"]]
            stack = _LAYOUTS[document["layout"]] if document["backend"] == "posix" else ""
            found = []
            for access in ("write", "read"):
                rates = [float(one["bandwidth_bytes_per_second"]) for one in document["steps"]
                         if one["operation"] == access]  # fmt: skip
                if rates:
                    work = workload_from_kernel([*words, "--op", access], nodes, ranks // nodes)
                    source = f"{name}: kernel {document['pattern']} {access}"
                    found.append(Measured(source, work, stack, {}, tuple(rates)))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}: the kernel's JSON has no usable {error}: check that it is whole"
            ) from error
        if not found:
            raise UsageError(f"{name}: no step was timed: check that the run ended")
        return Results(tuple(found))
