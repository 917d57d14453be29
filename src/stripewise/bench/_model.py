# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A case as the model takes it: workload, software stack and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stripewise.bench._case import Case
from stripewise.bench._suite import Place
from stripewise.bench.runners import find_runner
from stripewise.machines import Storage
from stripewise.model import Value
from stripewise.simulation import Workload


@dataclass(frozen=True)
class ModelCase:
    """What the model is asked.

    Attributes:
        workload: Written.
        stack: Name of the software stack.
        settings: Full tunable name -> value, the stripes of the directory among them.
        read_settings: Likewise, of reads.
    """

    workload: Workload
    stack: str
    settings: Mapping[str, Value]
    read_settings: Mapping[str, Value] = field(default_factory=dict)

    @property
    def reading(self) -> Workload:
        """The same data, read."""
        patterns = tuple(replace(one, writing=False) for one in self.workload.patterns)
        return replace(self.workload, patterns=patterns)


def storage_of_place(storage: Storage, place: Place) -> Storage:
    """Return what of a storage the files of a directory can use.

    All files of a directory with a first target begin there, so that only as many targets work as
    a file has stripes.
    """
    if place.target < 0 or place.stripe_count < 1:
        return storage
    figure = replace(storage.figures["servers.targets"], value=float(place.stripe_count))
    return replace(storage, figures={**storage.figures, "servers.targets": figure})


def model_case(case: Case, place: Place, own_stack: str) -> ModelCase | None:
    """Return what the model is asked of a case; None: it moves no data.

    Args:
        case: To be predicted.
        place: How the files of its directory are striped.
        own_stack: Stack of MPI-IO of the storage's users.

    Raises:
        UsageError: The runner cannot make such a case.
    """
    runner = find_runner(case.runner)
    workload = runner.workload(case)
    if workload is None:
        return None
    stripes: dict[str, Value] = {}
    if place.stripe_count:
        stripes["mpiio.striping_factor"] = place.stripe_count
    if place.stripe_bytes:
        stripes["mpiio.striping_unit"] = place.stripe_bytes
    stack, settings = runner.stack(case, own_stack), {**stripes, **dict(case.settings)}
    reads = {**runner.read_settings(case, stack), **settings}
    return ModelCase(workload, stack, settings, reads)
