# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of counters, parsed.  Pure: nothing is read here."""
