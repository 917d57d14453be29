# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of all ranks -> patterns in HPF notation; distances between patterns.  Pure."""
