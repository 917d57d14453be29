# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Monitoring of storage: what servers and clients count, read at intervals and handed on."""

from stripewise.monitor._host import TEXT_BYTES, Host, HostError
from stripewise.monitor._records import JobEntry, OperationCount, Round, TargetJobs

__all__ = [
    "TEXT_BYTES",
    "Host",
    "HostError",
    "JobEntry",
    "OperationCount",
    "Round",
    "TargetJobs",
]
