# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every registered stack passes the conformance suite."""

from __future__ import annotations

import pytest

from stripewise.storage.stacks import stack_names
from support.stack_suite import StackSuite

# Where windows end at stripes, it depends on the place of each rank how many it has; requests of
# BP5 leave out its index.
ABOUT = {"romio-lustre": 0.35, "pnetcdf": 0.35, "pnetcdf-nonblocking": 0.35, "adios2": 0.35}


@pytest.mark.parametrize("name", stack_names())
class TestEveryStack(StackSuite):
    @pytest.fixture(autouse=True)
    def _of_name(self, name):
        self.stack_name = name
        self.tolerance = ABOUT.get(name, 1e-6)


class TestWithoutBuffering(StackSuite):
    stack_name = "romio"
    settings = {"mpiio.romio_cb_write": "disable", "mpiio.romio_cb_read": "disable"}  # noqa: RUF012


class TestGatheredStripes(StackSuite):
    stack_name = "pnetcdf"
    settings = {"pnetcdf.nc_driver": "gio", "mpiio.cb_buffer_size": 16384}  # noqa: RUF012
