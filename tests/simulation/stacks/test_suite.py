# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every registered stack passes the conformance suite."""

from __future__ import annotations

import pytest

from stripewise.simulation.stacks import stack_names
from stripewise.testing.stack_suite import StackSuite


@pytest.mark.parametrize("name", stack_names())
class TestEveryStack(StackSuite):
    @pytest.fixture(autouse=True)
    def _of_name(self, name):
        self.stack_name = name


class TestWithoutBuffering(StackSuite):
    stack_name = "romio"
    settings = {"mpiio.romio_cb_write": "disable", "mpiio.romio_cb_read": "disable"}  # noqa: RUF012


class TestGatheredStripes(StackSuite):
    stack_name = "pnetcdf"
    settings = {"pnetcdf.nc_driver": "gio", "mpiio.cb_buffer_size": 16384}  # noqa: RUF012
