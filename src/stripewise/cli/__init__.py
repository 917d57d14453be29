# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the command line, with a module for each group of commands."""

from stripewise.cli._main import main

__all__ = ["main"]
