# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directories that Stripewise made: one way to make, trust, write into and remove them."""

from stripewise.owned._directory import MARK, OwnedDirectory
from stripewise.owned._files import (
    append_durably,
    open_private,
    replace_file,
    sync_directory,
)
from stripewise.owned._journal import Journal, JournalForm, Record, encoded, parse_journal
from stripewise.owned._temporary import temporary_directory

__all__ = [
    "MARK",
    "Journal",
    "JournalForm",
    "OwnedDirectory",
    "Record",
    "append_durably",
    "encoded",
    "open_private",
    "parse_journal",
    "replace_file",
    "sync_directory",
    "temporary_directory",
]
