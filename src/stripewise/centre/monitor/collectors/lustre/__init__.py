# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Queries parameters of Lustre and parses their texts, for the collectors of Lustre."""
