# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The published effects of storage show in real programs on emulated storage, in smallest form."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stripewise.run.runtime import find_runtime
from support.real_requests import lustre_mpi

pytestmark = [pytest.mark.mpi, pytest.mark.lustre_mpi]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SMALLER = {
    "requests": {"kernel": "btio --size 128,128,64", "nodes": 9, "on": "shaheen2-datawarp@1/256"},
    "aggregators": {"kernel": "array3d --local 32,64,64", "on": "archer2-hdd@1/256"},
    "buffers": {"kernel": "btio --size 64,64,512", "on": "shaheen2-datawarp@1/64"},
    "shared": {"kernel": "vpic --local 131072", "on": "archer2-hdd@1/128"},
    "metadata": {"nodes": 4, "on": "shaheen2-datawarp@1/32"},
}
"""In so slow motion that no effect hangs on the tenths of a second that ranks wait for one another
on a busy host, between their requests."""
MANY_OPENS = {"buffers": (2, "shaheen2-datawarp@1/8")}
"""A case that takes ten times as long as the others, and its motion."""
LEFT_OUT = {"aggregators": 1, "metadata": 3}
NEEDS_DRIVER = ("aggregators", "shared")


@pytest.fixture(scope="module")
def effects() -> Iterator[Any]:
    """The benchmark, whose modules are beside it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("effects")
    finally:
        sys.path.remove(str(BENCHMARKS))


def mpi_for(name: str) -> str:
    """The MPI with the Lustre driver; any ROMIO will do where a burst buffer is written."""
    if (lustre_mpi() / "bin" / "mpiexec").is_file() and "mpich" in find_runtime().kernels:
        return "lustre-mpi"
    if name in NEEDS_DRIVER:
        pytest.skip(f"no {lustre_mpi()}: make lustre-mpi")
    if shutil.which("mpiexec.openmpi") is None:
        pytest.skip("neither lustre-mpi nor Open MPI is installed")
    return "openmpi"


def smaller(effect: Any) -> list[Any]:
    """Its cases with less data and fewer ranks."""
    found = [replace(case, **SMALLER[effect.name]) for case in effect.cases]
    if effect.name == "requests":
        found = [replace(case, hints={**case.hints, "cb_nodes": 5}) for case in found]
    if effect.name in MANY_OPENS:
        number, motion = MANY_OPENS[effect.name]
        found[number] = replace(found[number], on=motion)
    return [case for number, case in enumerate(found) if number != LEFT_OUT.get(effect.name)]


@pytest.mark.extended
@pytest.mark.parametrize("name", ["requests", "aggregators", "buffers", "shared", "metadata"])
def test_a_published_effect_shows(effects: Any, name: str) -> None:
    (effect,) = (one for one in effects.EFFECTS if one.name == name)
    figures = effects.measure(smaller(effect), mpi_for(name))
    assert effects.shows(effect, figures), figures
