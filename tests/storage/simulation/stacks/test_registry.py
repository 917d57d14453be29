# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.stacks import STACKS, find_stack, stack_names


def test_every_stack_is_found_by_its_name():
    assert [find_stack(name) for name in stack_names()] == list(STACKS.values())


def test_an_unknown_stack_is_refused_in_one_line():
    with pytest.raises(UsageError, match="no software stack is called 'romoi'") as refused:
        find_stack("romoi")
    assert "\n" not in str(refused.value)
