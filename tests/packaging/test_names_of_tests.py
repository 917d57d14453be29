# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from collections import Counter
from pathlib import Path


def test_no_two_files_of_tests_have_the_same_name():
    """Pytest imports them by name: the second one could not be collected with the first."""
    names = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, number in names.items() if number > 1] == []
