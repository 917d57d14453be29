# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Monitoring of storage: what servers and clients count, read at intervals and handed on."""
