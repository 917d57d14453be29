# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the command line: a module for each group of commands, which call the library."""

from stripewise.cli._main import main

__all__ = ["main"]
