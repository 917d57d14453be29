# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are not made: a model says what they take, with the noise of the storage."""

from __future__ import annotations

from math import isfinite
from random import Random

from stripewise.bench._case import Case
from stripewise.bench._model import ModelCase, model_case, storage_of_place
from stripewise.bench._sample import CaseRun, Sample
from stripewise.bench._suite import Place
from stripewise.errors import StripewiseError
from stripewise.machines import Storage
from stripewise.simulation import Simulated, metadata_rate, noise_factor, simulate

_OPERATIONS = (
    "create-directory", "stat-directory", "remove-directory",
    "create", "stat", "read-file", "remove",
)  # fmt: skip


def simulated_run(
    case: Case, repeat: int, place: Place, storage: Storage, *, seed: int, noise: bool,
    transport: str = "",
) -> CaseRun:  # fmt: skip
    """Return what a run of a case would give.

    Args:
        case: To be made.
        repeat: Number of the run, from 1; the same one gives the same.
        place: How the files of its directory are striped.
        storage: That is simulated.
        seed: Of the noise.
        noise: Whether runs vary as those of the storage do.
        transport: Variant of its network.
    """
    random = Random(f"{seed}/{case.key}/{repeat}")
    share = noise_factor(random, storage.value("noise.cv")) if noise else 1.0
    try:
        samples = _samples(case, place, storage, transport, share)
    except StripewiseError as error:
        return CaseRun(case.key, repeat, "failed", message=str(error))
    if not all(isfinite(one.seconds) for one in samples):
        return CaseRun(case.key, repeat, "timeout", message="the job hangs with this transport")
    seconds = sum(one.seconds for one in samples)
    return CaseRun(
        case.key, repeat, "ok", samples, elapsed_seconds=seconds,
        node_seconds=seconds * case.nodes,
        written_bytes=sum(int(one.amount) for one in samples if one.operation == "write"),
        circumstances={"simulated": True},
    )  # fmt: skip


def _samples(
    case: Case, place: Place, storage: Storage, transport: str, share: float
) -> tuple[Sample, ...]:
    model = model_case(case, place, storage.stack or "romio")
    if model is None:
        return tuple(_metadata(case, place, storage, share))
    storage = storage_of_place(storage, place)
    found = [_moved("write", simulated_case(model, storage, transport), share)]
    if case.operation == "write-read":
        read = simulated_case(model, storage, transport, reading=True)
        found.append(_moved("read", read, share))
    return tuple(found)


def simulated_case(
    model: ModelCase, storage: Storage, transport: str = "", *, reading: bool = False
) -> Simulated:
    """Return what the model says of a case.

    Raises:
        StripewiseError: Its stack cannot do it, or a value is impossible there.
    """
    workload = model.reading if reading else model.workload
    settings = model.read_settings if reading else model.settings
    return simulate(storage, workload, model.stack, settings, transport)


def _moved(operation: str, found: Simulated, share: float) -> Sample:
    return Sample(operation, float(found.bytes), found.seconds / share)


def _metadata(case: Case, place: Place, storage: Storage, share: float) -> list[Sample]:
    """Return operations of metadata: each rank waits for each, and the server makes them all."""
    amount = float(case.files * case.ranks)
    stripes = place.stripe_count or None
    return [
        Sample(one, amount, amount / metadata_rate(storage, one, case.ranks, stripes) / share)
        for one in _OPERATIONS
    ]
