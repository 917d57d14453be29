# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels compiled once a session, for every MPI that is here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernel_builds import Kernel, compile_kernel
from kernel_drivers import Drivers, compile_drivers


@pytest.fixture(scope="session")
def kernel_of() -> Callable[[str], Kernel]:
    """The kernel of a family; skips where that MPI is not installed."""
    built: dict[str, Kernel | None] = {}

    def get(family: str) -> Kernel:
        if family not in built:
            built[family] = compile_kernel(family)
        kernel = built[family]
        if kernel is None:
            pytest.skip(f"no mpicc.{family} or mpiexec.{family}")
        return kernel

    return get


@pytest.fixture(scope="session")
def drivers_of() -> Callable[[str], Drivers]:
    """The kernel's parts for test programs; skips where that MPI is not installed."""
    built: dict[str, Drivers | None] = {}

    def get(family: str) -> Drivers:
        if family not in built:
            built[family] = compile_drivers(family)
        drivers = built[family]
        if drivers is None:
            pytest.skip(f"no mpicc.{family} or mpiexec.{family}")
        return drivers

    return get
