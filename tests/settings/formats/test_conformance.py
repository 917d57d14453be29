# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every format passes the suite that is shipped for new ones."""

from __future__ import annotations

import pytest

from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats import format_names, get
from support.format_suite import FormatSuite


@pytest.fixture(params=format_names())
def suite(request: pytest.FixtureRequest) -> FormatSuite:
    suite = FormatSuite()
    suite.format_name = request.param
    return suite


@pytest.mark.parametrize("name", [name for name in dir(FormatSuite) if name.startswith("test_")])
def test_conformance(suite: FormatSuite, name: str):
    getattr(suite, name)()


@pytest.mark.parametrize("name", format_names())
def test_errors_name_the_source(name: str):
    with pytest.raises(ConfigurationError, match="here"):
        get(name).read("\0nonsense", "here")
