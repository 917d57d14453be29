# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the native tests; what they give is in native_hosts.py."""

from __future__ import annotations

from native_hosts import core, host, programs

__all__ = ["core", "host", "programs"]
