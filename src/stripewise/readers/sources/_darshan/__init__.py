# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan logs: counters, DXT, heat map, Lustre layouts."""

from stripewise.readers.sources._darshan._read import DarshanSource

__all__ = ["DarshanSource"]
