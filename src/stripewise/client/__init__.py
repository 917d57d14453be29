# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ask a portal from Python: the jobs that you see, their profiles, their files."""

from stripewise.client._portal import Portal, PortalError

__all__ = ["Portal", "PortalError"]
