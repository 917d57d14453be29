# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes storage systems: presets, stored descriptions, and this machine as measured."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.machines._description import KINDS as KINDS
    from stripewise.storage.machines._description import Mount as Mount
    from stripewise.storage.machines._description import Storage as Storage
    from stripewise.storage.machines._description import Transport as Transport
    from stripewise.storage.machines._description import find_mount as find_mount
    from stripewise.storage.machines._description import granted_targets as granted_targets
    from stripewise.storage.machines._description import mount_in as mount_in
    from stripewise.storage.machines._description import slowed as slowed
    from stripewise.storage.machines._figures import FIGURES as FIGURES
    from stripewise.storage.machines._figures import SPEC_OF as SPEC_OF
    from stripewise.storage.machines._figures import Dimension as Dimension
    from stripewise.storage.machines._figures import Figure as Figure
    from stripewise.storage.machines._figures import FigureOrigin as FigureOrigin
    from stripewise.storage.machines._figures import FigureSpec as FigureSpec
    from stripewise.storage.machines._figures import quantity as quantity
    from stripewise.storage.machines._figures import quantity_text as quantity_text
    from stripewise.storage.machines._find import KnownStorage as KnownStorage
    from stripewise.storage.machines._find import find_storage as find_storage
    from stripewise.storage.machines._find import keep_storage as keep_storage
    from stripewise.storage.machines._find import kept_storage as kept_storage
    from stripewise.storage.machines._find import kind_of as kind_of
    from stripewise.storage.machines._find import known_storage as known_storage
    from stripewise.storage.machines._find import known_storages as known_storages
    from stripewise.storage.machines._find import load_description as load_description
    from stripewise.storage.machines._find import local_storage as local_storage
    from stripewise.storage.machines._find import machine_directories as machine_directories
    from stripewise.storage.machines._find import measured_words as measured_words
    from stripewise.storage.machines._find import mount_warnings as mount_warnings
    from stripewise.storage.machines._find import preset_names as preset_names
    from stripewise.storage.machines._find import storage_file as storage_file
    from stripewise.storage.machines._find import storage_of_files as storage_of_files
    from stripewise.storage.machines._parse import description_warnings as description_warnings
    from stripewise.storage.machines._probe import SHORT_EFFORT as SHORT_EFFORT
    from stripewise.storage.machines._probe import Effort as Effort
    from stripewise.storage.machines._probe import probe_storage as probe_storage
    from stripewise.storage.machines._report import storage_json as storage_json
    from stripewise.storage.machines._report import storage_lines as storage_lines
    from stripewise.storage.machines._report import storage_sentence as storage_sentence
    from stripewise.storage.machines._report import storage_summary as storage_summary
    from stripewise.storage.machines._report import storage_warnings as storage_warnings
    from stripewise.storage.machines._report import storages_table as storages_table
    from stripewise.storage.machines._requests import MpiStack as MpiStack
    from stripewise.storage.machines._write import description_digest as description_digest
    from stripewise.storage.machines._write import description_text as description_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
