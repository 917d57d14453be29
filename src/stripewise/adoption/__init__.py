# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The settings that a program gets without being tuned: from studies, patterns and models."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.adoption._answer import answer as answer
    from stripewise.adoption._answer import default_answer as default_answer
    from stripewise.adoption._known import Judged as Judged
    from stripewise.adoption._question import Answer as Answer
    from stripewise.adoption._question import Level as Level
    from stripewise.adoption._question import Question as Question
    from stripewise.adoption._question import adoptable_space as adoptable_space
    from stripewise.adoption._seen import seen_of as seen_of
    from stripewise.adoption._series import SeriesTable as SeriesTable
    from stripewise.adoption._series import read_table as read_table
    from stripewise.adoption._series import save_table as save_table
    from stripewise.adoption._series import series_rules as series_rules
    from stripewise.adoption._series_table import make_tables as make_tables
    from stripewise.adoption._session import Adoption as Adoption
    from stripewise.adoption._session import Plan as Plan
    from stripewise.adoption._session import Seen as Seen
    from stripewise.adoption._unasked import why_not_unasked as why_not_unasked
else:
    __getattr__, __all__ = lazy_exports(__name__)
