# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runners of the benchmark programs of a campaign, one for each program."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.runners._base import Printed as Printed
    from stripewise.bench.runners._base import Runner as Runner
    from stripewise.bench.runners._base import Span as Span
    from stripewise.bench.runners._registry import find_runner as find_runner
    from stripewise.bench.runners._registry import runner_names as runner_names
else:
    __getattr__, __all__ = lazy_exports(__name__)
