# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Storage systems: described, or measured once per file system, kept, and read again."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.machines._checks import description_warnings as description_warnings
    from stripewise.machines._costs import COPY as COPY
    from stripewise.machines._costs import Exchange as Exchange
    from stripewise.machines._costs import Interval as Interval
    from stripewise.machines._costs import StorageCosts as StorageCosts
    from stripewise.machines._costs import around as around
    from stripewise.machines._costs import interpolated as interpolated
    from stripewise.machines._description import KINDS as KINDS
    from stripewise.machines._description import Storage as Storage
    from stripewise.machines._description import Transport as Transport
    from stripewise.machines._direct import Effort as Effort
    from stripewise.machines._figures import FIGURES as FIGURES
    from stripewise.machines._figures import SPEC_OF as SPEC_OF
    from stripewise.machines._figures import Dimension as Dimension
    from stripewise.machines._figures import Evidence as Evidence
    from stripewise.machines._figures import Figure as Figure
    from stripewise.machines._figures import FigureSpec as FigureSpec
    from stripewise.machines._find import find_storage as find_storage
    from stripewise.machines._find import load_description as load_description
    from stripewise.machines._find import preset_names as preset_names
    from stripewise.machines._granted import granted_targets as granted_targets
    from stripewise.machines._known import KnownStorage as KnownStorage
    from stripewise.machines._known import known_storage as known_storage
    from stripewise.machines._known import known_storages as known_storages
    from stripewise.machines._known import machine_directories as machine_directories
    from stripewise.machines._known import mount_warnings as mount_warnings
    from stripewise.machines._local import keep_storage as keep_storage
    from stripewise.machines._local import kept_storage as kept_storage
    from stripewise.machines._local import kind_of as kind_of
    from stripewise.machines._local import local_storage as local_storage
    from stripewise.machines._local import measured_words as measured_words
    from stripewise.machines._local import storage_file as storage_file
    from stripewise.machines._local import storage_of_files as storage_of_files
    from stripewise.machines._mount import find_mount as find_mount
    from stripewise.machines._mount import mount_in as mount_in
    from stripewise.machines._probe import probe_storage as probe_storage
    from stripewise.machines._requests import Stack as Stack
    from stripewise.machines._slow import slowed as slowed
    from stripewise.machines._units import quantity as quantity
    from stripewise.machines._units import quantity_text as quantity_text
    from stripewise.machines._write import description_digest as description_digest
    from stripewise.machines._write import description_text as description_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
