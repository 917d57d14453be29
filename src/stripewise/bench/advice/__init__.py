# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises the users of a storage; each piece of advice has its figure."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.advice._advise import RULES as RULES
    from stripewise.bench.advice._advise import AdviceBook as AdviceBook
    from stripewise.bench.advice._advise import advise as advise
    from stripewise.bench.advice._advise import rule_names as rule_names
    from stripewise.bench.advice._report import advice_json as advice_json
    from stripewise.bench.advice._report import advice_lines as advice_lines
    from stripewise.bench.advice._report import advice_markdown as advice_markdown
    from stripewise.bench.advice._report import advice_page as advice_page
    from stripewise.bench.advice._site_defaults import module_text as module_text
    from stripewise.bench.advice._site_defaults import profile_text as profile_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
