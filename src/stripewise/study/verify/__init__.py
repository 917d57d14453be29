# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares outputs of runs, bit for bit or by their content."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.verify._compare import FORMATS as FORMATS
    from stripewise.study.verify._compare import NO_FILE as NO_FILE
    from stripewise.study.verify._compare import BaselineOutputs as BaselineOutputs
    from stripewise.study.verify._compare import format_of as format_of
    from stripewise.study.verify._compare import unreadable as unreadable
    from stripewise.study.verify._written import Written as Written
    from stripewise.study.verify._written import written_by as written_by
else:
    __getattr__, __all__ = lazy_exports(__name__)
