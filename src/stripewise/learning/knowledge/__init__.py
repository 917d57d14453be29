# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Results of earlier studies, stored for later ones: lessons, their store, and packs."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.learning.knowledge._codec import export_lines as export_lines
    from stripewise.learning.knowledge._codec import import_lines as import_lines
    from stripewise.learning.knowledge._codec import lesson_to_json as lesson_to_json
    from stripewise.learning.knowledge._file import KeptProfile as KeptProfile
    from stripewise.learning.knowledge._file import Profiles as Profiles
    from stripewise.learning.knowledge._file import own_path as own_path
    from stripewise.learning.knowledge._installed import Verified as Verified
    from stripewise.learning.knowledge._installed import check_installed as check_installed
    from stripewise.learning.knowledge._installed import install as install
    from stripewise.learning.knowledge._installed import read_pack as read_pack
    from stripewise.learning.knowledge._installed import sign as sign
    from stripewise.learning.knowledge._memory import Memory as Memory
    from stripewise.learning.knowledge._memory import describe_case as describe_case
    from stripewise.learning.knowledge._memory import describe_machine as describe_machine
    from stripewise.learning.knowledge._memory import emulated_machine as emulated_machine
    from stripewise.learning.knowledge._memory import learn as learn
    from stripewise.learning.knowledge._memory import lessons_for as lessons_for
    from stripewise.learning.knowledge._memory import tier_machine as tier_machine
    from stripewise.learning.knowledge._pack import Pack as Pack
    from stripewise.learning.knowledge._pack import decode_pack as decode_pack
    from stripewise.learning.knowledge._pack import encode_pack as encode_pack
    from stripewise.learning.knowledge._pack import gather as gather
    from stripewise.learning.knowledge._pairs import export_pairs as export_pairs
    from stripewise.learning.knowledge._pairs import import_pairs as import_pairs
    from stripewise.learning.knowledge._recall import Avoided as Avoided
    from stripewise.learning.knowledge._recall import Recollection as Recollection
    from stripewise.learning.knowledge._recall import effect_phrase as effect_phrase
    from stripewise.learning.knowledge._recall import failures as failures
    from stripewise.learning.knowledge._recall import fit as fit
    from stripewise.learning.knowledge._recall import recall as recall
    from stripewise.learning.knowledge._recall import supported as supported
    from stripewise.learning.knowledge._records import Effect as Effect
    from stripewise.learning.knowledge._records import Fingerprint as Fingerprint
    from stripewise.learning.knowledge._records import Lesson as Lesson
    from stripewise.learning.knowledge._records import LibraryVersions as LibraryVersions
    from stripewise.learning.knowledge._records import Machine as Machine
    from stripewise.learning.knowledge._records import StudiedCase as StudiedCase
    from stripewise.learning.knowledge._records import Tried as Tried
    from stripewise.learning.knowledge._records import TriedState as TriedState
    from stripewise.learning.knowledge._records import lesson_of_part as lesson_of_part
    from stripewise.learning.knowledge._records import parts_of as parts_of
    from stripewise.learning.knowledge._report import lesson_lines as lesson_lines
    from stripewise.learning.knowledge._report import lessons_table as lessons_table
    from stripewise.learning.knowledge._similarity import Likeness as Likeness
    from stripewise.learning.knowledge._similarity import compare as compare
    from stripewise.learning.knowledge._similarity import matches_of as matches_of
    from stripewise.learning.knowledge._store import Store as Store
    from stripewise.learning.knowledge._store import own_store as own_store
    from stripewise.learning.knowledge._store import site_stores as site_stores
else:
    __getattr__, __all__ = lazy_exports(__name__)
