# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice to the users of a storage: rules, each from its limits to a sentence with a figure."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.advice._advise import AdviceBook as AdviceBook
    from stripewise.advice._advise import advise as advise
    from stripewise.advice._base import Advice as Advice
    from stripewise.advice._base import Claim as Claim
    from stripewise.advice._base import How as How
    from stripewise.advice._base import Rule as Rule
    from stripewise.advice._base import Trial as Trial
    from stripewise.advice._basis import Basis as Basis
    from stripewise.advice._basis import Job as Job
    from stripewise.advice._basis import Program as Program
    from stripewise.advice._basis import Rate as Rate
else:
    __getattr__, __all__ = lazy_exports(__name__)
