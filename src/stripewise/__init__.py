# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stripewise: parallel I/O, measured and tuned."""

__version__ = "0.1.0"
