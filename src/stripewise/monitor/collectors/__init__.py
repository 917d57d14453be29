# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is read: one member for each kind of counters."""

from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem

__all__ = ["Collector", "CollectorSettings", "Problem"]
