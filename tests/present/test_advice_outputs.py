# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice as text, JSON, pages, module files and snippets: complete, safe with foreign names."""

import json
import os
import shutil
import subprocess
from dataclasses import replace

import pytest

from stripewise.bench.advice import (
    AdviceBook,
    advice_json,
    advice_lines,
    advice_markdown,
    advice_page,
    advise,
    module_text,
    profile_text,
)
from stripewise.bench.advice.rules import Basis
from stripewise.bench.campaign import find_suite
from stripewise.bench.limits import find_limits
from stripewise.core.errors import UsageError
from stripewise.storage.machines import find_storage
from support.simulated_campaigns import simulated_campaign

EVIL = "<script>alert(1)</script> `x` | [a](b) $(touch gone) \"'; {} ]] \x1b[31m"


@pytest.fixture(scope="module")
def book() -> AdviceBook:
    return advise(Basis(find_storage("archer2-hdd")))


@pytest.fixture(scope="module")
def measured() -> AdviceBook:
    suite = find_suite("limits")
    limits = find_limits([simulated_campaign("archer2-hdd", suite)])
    return advise(Basis(limits.storage, limits))


def test_the_text_has_every_sentence_and_way(book):
    text = "\n".join(advice_lines(book))
    for one in book.advice:
        assert one.sentence in text
        assert all(how.text in text for how in one.how)
    assert "Writes of one process" in text
    assert "burst-buffer" not in text
    assert "burst-buffer" in "\n".join(advice_lines(book, why_not=True))


def test_the_json_can_be_read_and_says_what_is_missing(book):
    found = json.loads(json.dumps(advice_json(book), allow_nan=False))
    assert found["from"] == "description"
    assert {one["rule"] for one in found["advice"]} >= {"striping", "lock-mode"}
    assert found["site_defaults"] == {"FI_OFI_RXM_SAR_LIMIT": "64K"}
    assert "burst-buffer" in found["missing"]


def test_a_campaign_says_where_the_figures_come_from(measured):
    lines = list(advice_lines(measured))
    assert "campaign" in lines[1]
    assert any("min(stripes, nodes)" in line for line in lines)
    assert any("series" in one or "nodes=" in one or "one target" in one
               for advice in measured.advice for one in advice.evidence)  # fmt: skip
    assert advice_json(measured)["laws"]


@pytest.mark.parametrize("form", [advice_markdown, advice_page, module_text, profile_text])
def test_the_same_advice_gives_the_same_text(form, book):
    assert form(book) == form(book)


def evil(book: AdviceBook) -> AdviceBook:
    storage = replace(book.basis.storage, name=EVIL, title=EVIL)
    advice = tuple(replace(one, sentence=f"{EVIL} {one.sentence}") for one in book.advice)
    return replace(book, basis=replace(book.basis, storage=storage), advice=advice)


def test_pages_escape_what_is_foreign(book):
    page = advice_page(evil(book))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    text = advice_markdown(evil(book))
    assert "<script" not in text.replace("\\<script", "")
    assert "\x1b" not in text


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_the_snippet_sets_what_is_not_set_and_nothing_else(book, tmp_path):
    script = tmp_path / "io.sh"
    script.write_text(profile_text(evil(book)) + '\nprintf "%s" "$FI_OFI_RXM_SAR_LIMIT"\n')
    environment = {key: one for key, one in os.environ.items() if not key.startswith("FI_")}
    for own, expected in ((None, "64K"), ("1M", "1M"), ("", "")):
        given = environment if own is None else {**environment, "FI_OFI_RXM_SAR_LIMIT": own}
        ran = subprocess.run(
            ["sh", str(script)], env=given, cwd=tmp_path, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert ran.stdout == expected
        assert not ran.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["io.sh"]


MODULES = """
proc module-whatis {text} {}
proc setenv {name value} { set ::env($name) $value; puts "$name=$value" }
"""


@pytest.mark.skipif(not shutil.which("tclsh"), reason="needs tclsh")
def test_the_module_file_sets_what_is_not_set_and_nothing_else(book, tmp_path):
    script = tmp_path / "io.tcl"
    script.write_text(MODULES + module_text(evil(book)))
    environment = {key: one for key, one in os.environ.items() if not key.startswith("FI_")}
    for own, expected in ((None, "FI_OFI_RXM_SAR_LIMIT=64K\n"), ("1M", "")):
        given = environment if own is None else {**environment, "FI_OFI_RXM_SAR_LIMIT": own}
        ran = subprocess.run(
            ["tclsh", str(script)], env=given, cwd=tmp_path, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert ran.stdout == expected
    assert [one.name for one in tmp_path.iterdir()] == ["io.tcl"]


def test_a_module_file_in_lua_compares_before_it_sets(book):
    text = module_text(book, lua=True)
    assert 'os.getenv("FI_OFI_RXM_SAR_LIMIT")' in text
    assert 'setenv("FI_OFI_RXM_SAR_LIMIT", "64K")' in text
    assert "\x1b" not in module_text(evil(book), lua=True)


def test_no_site_default_is_one_clear_line():
    with pytest.raises(UsageError, match="markdown"):
        profile_text(advise(Basis(find_storage("jamstec-da"))))
