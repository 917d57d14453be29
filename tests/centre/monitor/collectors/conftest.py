# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import pytest

from stripewise.centre.monitor.collectors import _lustre_server
from support.lustre_servers import SmallJobsReader


@pytest.fixture
def _small_jobs_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the parsing of job_stats to its own tests."""
    monkeypatch.setattr(_lustre_server, "JobStatsReader", SmallJobsReader)
