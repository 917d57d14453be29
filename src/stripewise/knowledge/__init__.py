# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies found, kept for those that follow."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.knowledge._codec import export_lines as export_lines
    from stripewise.knowledge._codec import import_lines as import_lines
    from stripewise.knowledge._codec import lesson_to_json as lesson_to_json
    from stripewise.knowledge._describe import describe_case as describe_case
    from stripewise.knowledge._describe import describe_machine as describe_machine
    from stripewise.knowledge._describe import emulated_machine as emulated_machine
    from stripewise.knowledge._describe import tier_machine as tier_machine
    from stripewise.knowledge._file import StoreFile as StoreFile
    from stripewise.knowledge._file import own_path as own_path
    from stripewise.knowledge._fit import fit as fit
    from stripewise.knowledge._installed import Verified as Verified
    from stripewise.knowledge._installed import check_installed as check_installed
    from stripewise.knowledge._installed import install as install
    from stripewise.knowledge._installed import read_pack as read_pack
    from stripewise.knowledge._learn import learn as learn
    from stripewise.knowledge._match import Match as Match
    from stripewise.knowledge._match import match_of as match_of
    from stripewise.knowledge._match import matches_of as matches_of
    from stripewise.knowledge._memory import Memory as Memory
    from stripewise.knowledge._memory import lessons_for as lessons_for
    from stripewise.knowledge._pack import Pack as Pack
    from stripewise.knowledge._pack import decode_pack as decode_pack
    from stripewise.knowledge._pack import encode_pack as encode_pack
    from stripewise.knowledge._pack import gather as gather
    from stripewise.knowledge._pairs_in import import_pairs as import_pairs
    from stripewise.knowledge._pairs_out import export_pairs as export_pairs
    from stripewise.knowledge._parts import Part as Part
    from stripewise.knowledge._parts import as_part as as_part
    from stripewise.knowledge._parts import parts_of as parts_of
    from stripewise.knowledge._profiles import KeptProfile as KeptProfile
    from stripewise.knowledge._profiles import Looked as Looked
    from stripewise.knowledge._profiles import Profiles as Profiles
    from stripewise.knowledge._recall import Avoided as Avoided
    from stripewise.knowledge._recall import Recollection as Recollection
    from stripewise.knowledge._recall import effect_phrase as effect_phrase
    from stripewise.knowledge._recall import failures as failures
    from stripewise.knowledge._recall import recall as recall
    from stripewise.knowledge._recall import supported as supported
    from stripewise.knowledge._records import Case as Case
    from stripewise.knowledge._records import Effect as Effect
    from stripewise.knowledge._records import Fingerprint as Fingerprint
    from stripewise.knowledge._records import Lesson as Lesson
    from stripewise.knowledge._records import Machine as Machine
    from stripewise.knowledge._records import Stack as Stack
    from stripewise.knowledge._records import Tried as Tried
    from stripewise.knowledge._records import TriedState as TriedState
    from stripewise.knowledge._signing import sign as sign
    from stripewise.knowledge._signing import verify as verify
    from stripewise.knowledge._similarity import Likeness as Likeness
    from stripewise.knowledge._similarity import compare as compare
    from stripewise.knowledge._store import Store as Store
    from stripewise.knowledge._store import own_store as own_store
    from stripewise.knowledge._store import site_stores as site_stores
    from stripewise.knowledge._support import Support as Support
else:
    __getattr__, __all__ = lazy_exports(__name__)
