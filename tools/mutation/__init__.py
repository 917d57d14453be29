# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Faults made on purpose, to see which tests notice them."""
