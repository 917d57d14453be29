# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings for programs that were not tuned, derived from studies, patterns and models."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.learning.adoption._answer import answer as answer
    from stripewise.learning.adoption._known import Judged as Judged
    from stripewise.learning.adoption._known import Level as Level
    from stripewise.learning.adoption._question import Question as Question
    from stripewise.learning.adoption._question import adoptable_space as adoptable_space
    from stripewise.learning.adoption._question import why_not_adoptable as why_not_adoptable
    from stripewise.learning.adoption._series import SeriesTable as SeriesTable
    from stripewise.learning.adoption._series import read_table as read_table
    from stripewise.learning.adoption._series import save_table as save_table
    from stripewise.learning.adoption._series import series_rules as series_rules
    from stripewise.learning.adoption._series_table import make_tables as make_tables
    from stripewise.learning.adoption._session import Adoption as Adoption
    from stripewise.learning.adoption._session import AdoptionPlan as AdoptionPlan
    from stripewise.learning.adoption._session import Seen as Seen
    from stripewise.learning.adoption._session import seen_of as seen_of
    from stripewise.learning.adoption._studied import with_study as with_study
else:
    __getattr__, __all__ = lazy_exports(__name__)
