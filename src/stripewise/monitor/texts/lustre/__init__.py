# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of `lctl get_param`, Lustre 2.12 to 2.17, parsed.  Pure."""

from stripewise.monitor.texts.lustre._job_stats import JobsRead, JobStatsReader

__all__ = ["JobStatsReader", "JobsRead"]
