# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pages
import profiles
import pytest


@cache
def page_of(name):
    return profiles.render(*profiles.ALL[name]())


@pytest.fixture(params=list(profiles.ALL))
def page(request):
    return page_of(request.param)


@cache
def words(name):
    return pages.Page(page_of(name)).words


def test_page_is_well_formed_self_contained_and_accessible(page):
    pages.assert_self_contained(page)
    pages.assert_accessible(page)
    assert len(pages.without_script(page).encode("utf-8")) < 1_000_000
    assert len(page.encode("utf-8")) < 2_000_000


def test_only_our_own_script_may_run(page):
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy


def test_every_section_is_there_and_says_why_it_is_empty(page):
    for name in ("findings", "timeline", "patterns", "files", "variance", "requests", "layers"):
        assert f'<section id="{name}"' in page
        body = page.split(f'<section id="{name}"')[1].split("</section>")[0]
        assert len(pages.Page(body).words) > 40


def test_page_works_without_script(page):
    plain = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert pages.Page(plain).words == pages.Page(page).words
    assert "hidden" not in {
        name for _, attributes in pages.Page(plain).tags for name in attributes
    }


def test_the_same_run_gives_the_same_page():
    assert profiles.render(*profiles.rich()) == profiles.render(*profiles.rich())


def test_names_are_data():
    page = page_of("hostile")
    tags = pages.Page(page).tags
    scripts = [attributes for tag, attributes in tags if tag == "script"]
    assert [one for one in scripts if one.get("type") != "application/json"] == [{}]
    assert all(attributes.get("src", "data:").startswith("data:") for _, attributes in tags)
    assert "alert(&#39;x&#39;)" in page
    assert "\x07" not in page
    page.encode("utf-8")


def test_headline_tells_share_of_io_bytes_rate_and_split():
    text = words("rich")
    assert "34 % of the run was I/O" in text
    assert "I/O 41 s (34.2 %)" in text
    assert "writing 1890 s 91.3 %" in text
    assert "1.17 GiB/s" in text
    assert "1 only read, 3 only written, 1 without data, 2 shared by ranks" in text


def test_finding_has_evidence_cost_and_lines_to_copy():
    page, text = page_of("rich"), words("rich")
    assert "Many small independent writes to out.h5" in text
    assert "A change saves about 25 s of 120 s; the calls concerned take 28 s." in text
    assert "mean bytes 4 KiB" in text
    assert "export MPICH_MPIIO_HINTS=&#39;*:romio_cb_write=enable&#39;\nlfs setstripe" in page
    assert "stripewise tune -- mpiexec -n 64 ./program" in text
    assert "No gain is claimed: no faster opens seen." in text


def test_balanced_run_has_no_finding():
    assert "What a change would save cannot be told in advance" in words("balanced")


def test_poor_source_says_what_is_missing():
    text = words("poor")
    assert "Partial" in text
    assert "records of 12 files are missing" in text
    assert "This source has no time bins" in text
    assert "MPI-IO was not recorded" in text
    assert "at least 12 s (ranks are not recorded separately)" in text
    assert "nan" not in text.lower().split()


def test_empty_log_says_so():
    text = words("empty")
    assert text.count("holds no record of any file") >= 5
    assert "the log has no records" in text
    assert "nan" not in text.lower().split()


def test_shared_file_names_the_slowest_rank():
    text = words("rich")
    assert "namelist.nml /scratch/me 64 63 1 ms 9 KiB 0 4.1 s 9 KiB 0.52 s 0 B" in text


def test_requests_are_counted_before_and_after_mpi_io():
    text = words("rich")
    asked, reached = text.split("Writes by size: requested from MPI-IO")[1].split(
        "Writes by size: "
    )
    assert "1 KiB–10 KiB 4000 86.2 %" in asked
    assert "4640 calls requested from MPI-IO" in asked
    assert "1 MiB–4 MiB 24 576 100 %" in reached


def test_files_have_histograms_and_the_rest_is_summed():
    diagnosis, evidence, patterns = profiles.rich()
    many = tuple(profiles.file_row(f"/f{n}") for n in range(45))
    page = profiles.render(replace(diagnosis, files=many), evidence, patterns)
    text = pages.Page(page).words
    assert "The 25 files with the most I/O time, of 45" in text
    assert "20 other files – – 36 000 s 0 B 480 GiB 0 15 360" in text
    assert page.count('<svg class="sizes"') == 25
    assert "1 KiB–10 KiB: written 128; 10 MiB–100 MiB: written 640" in page


@pytest.mark.extended
def test_a_hundred_thousand_ranks_and_ten_thousand_files_stay_small():
    page = pages.without_script(profiles.render(*profiles.huge()))
    assert len(page.encode("utf-8")) < 3_000_000
    pages.assert_accessible(page)
    assert "ranks 0–781" in page
    assert "9985 other files" in page


def test_report_room_does_not_load_the_diagnosis_until_asked():
    code = "import sys, stripewise.present; sys.exit('stripewise.evidence.figures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
