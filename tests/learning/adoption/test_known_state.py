# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An answer that is kept holds only where the environment says the same."""

from __future__ import annotations

import pytest

from stripewise.learning.adoption._known import full_state


@pytest.mark.parametrize(
    "name", ["STRIPEWISE_SITE_PACKS", "STRIPEWISE_MODELS", "XDG_CONFIG_HOME", "OMPI_MCA_io"]
)
def test_variables_that_count_change_the_state(monkeypatch, name):
    before = full_state("1:2")
    monkeypatch.setenv("STRIPEWISE_RUN_ID", "another run")
    assert full_state("1:2") == before
    monkeypatch.setenv(name, "/elsewhere")
    assert full_state("1:2") != before
