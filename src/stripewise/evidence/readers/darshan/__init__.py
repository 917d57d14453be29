# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads Darshan logs: counters, extended traces, heat maps and Lustre layouts."""
