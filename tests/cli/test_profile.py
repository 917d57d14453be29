# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise profile` on a block of a job's output, and on what it cannot read."""

import json
from types import SimpleNamespace

import pytest

from stripewise.cli import _machine_fit, _profile, main
from stripewise.storage.machines import Figure, FigureOrigin
from stripewise.study.procedure import TriedLines

BLOCK = """\
+--------------------------------------------------------+
| MPIIO write access patterns for /scratch/btio.nc
|   independent writes      = 11
|   collective writes       = 40960
|   independent writers     = 1
|   aggregators             = 64
|   stripe count            = 1
|   stripe size             = 8388608
|   system writes           = 6411
|   stripe sized writes     = 6400
|   total bytes for writes  = 53687091532 = 51200 MiB = 50 GiB
|   ave system write size   = 8374214
|   read-modify-write count = 0
|   read-modify-write bytes = 0
|   number of write gaps    = 21
|   ave write gap size      = 23336707978
+--------------------------------------------------------+
"""


@pytest.fixture
def job_output(tmp_path):
    path = tmp_path / "job.out"
    path.write_text(BLOCK)
    return path


def run(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code


def test_text(job_output, capsys):
    assert run("profile", job_output) == 0
    out = capsys.readouterr().out
    assert "Written             50 GiB" in out
    assert "/scratch/btio.nc" in out


def test_json_and_files(job_output, capsys, tmp_path):
    codes = tmp_path / "codes.csv"
    assert run("profile", "--json", "--drishti-csv", codes, job_output) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["figures"]["write_bytes"] == 53687091532
    assert codes.read_text().startswith("JOB,S01,P01,P02,")


def test_a_page_that_cannot_be_written_is_one_line(job_output, capsys, tmp_path):
    assert run("profile", job_output, "--html", tmp_path / "none" / "p.html") == 8
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot write" in line
    assert "p.html: No such file or directory" in line


def test_findings_only_as_json(job_output, capsys):
    assert run("profile", "--json", "--as", "findings", job_output) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"summary", "findings"}


def test_csv(job_output, capsys):
    assert run("profile", "--as", "csv", job_output) == 0
    assert capsys.readouterr().out.startswith("path,interface,read_bytes,")


def test_blocks_of_a_jobs_output_are_printed_again(job_output, capsys):
    assert run("profile", "--as", "mpiio-stats", job_output) == 0
    captured = capsys.readouterr()
    assert [line.split() for line in captured.out.splitlines()] == [
        line.split() for line in BLOCK.splitlines()
    ]
    assert captured.err == ""


def test_what_has_no_times_says_so(job_output, capsys):
    assert run("profile", job_output) == 0
    text = capsys.readouterr().out
    assert text.startswith("50 GiB written in 1 file; times are not known. ")
    assert "nan" not in text.lower()
    assert " 0 s" not in text


def test_exit_codes(tmp_path, capsys):
    nothing = tmp_path / "nothing"
    nothing.write_text("nothing that is known")
    assert run("profile", nothing) == 9
    assert run("profile", "--json", "--as", "csv", nothing) == 2
    assert run("profile") == 2
    capsys.readouterr()


def test_a_damaged_block_is_shown_as_unknown_and_fails(job_output, capsys):
    job_output.write_text(BLOCK.replace("|   total bytes for writes", "|   total b"))
    assert run("profile", job_output) == 9
    told = capsys.readouterr()
    assert "Written             unknown" in told.out
    assert "0 B" not in told.out
    assert told.err.count("\n") == 1
    assert "damaged: 1 block is cut off or damaged" in told.err
    assert run("profile", "--json", job_output) == 9
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert figures["write_bytes"] is None
    assert figures["missing"]["write_bytes"] == "1 block is cut off or damaged"
    assert run("profile", "--as", "csv", job_output) == 9
    names, row = (line.split(",") for line in capsys.readouterr().out.splitlines())
    cells = dict(zip(names, row, strict=False))
    assert (cells["write_bytes"], cells["elapsed_seconds"]) == ("", "")
    assert "write_bytes: 1 block is cut off or damaged" in row[-1]


@pytest.mark.parametrize(
    ("cost", "said"), [(None, "no gain was claimed"), (2.0, "the claim holds")]
)
def test_a_finding_without_a_claim_is_not_held_to_one_of_zero(
    monkeypatch, tmp_path, capsys, cost, said
):
    found = SimpleNamespace(cost_seconds=cost, code="idle-hints", lines=("true",))
    about = SimpleNamespace(findings=[found], command="./a")
    tried = TriedLines((5.0, 5.0), (3.0, 3.0))
    monkeypatch.setattr("stripewise.study.procedure.try_lines", lambda *_, **__: tried)
    _profile._try(about, 1, [tmp_path], (), as_json=False)
    told = capsys.readouterr().out
    assert said in told
    assert (" s claimed" in told) is (cost is not None)
    _profile._try(about, 1, [tmp_path], (), as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert (document["claim_seconds"], document["holds"]) == (cost, cost and True)


def test_a_fitted_figure_without_an_interval_has_none_from_zero_on():
    figures = {"client.process_write": Figure(5e8, FigureOrigin.MEASURED, "fit")}
    fitted = SimpleNamespace(
        storage=SimpleNamespace(figures=figures),
        fitted_names=list(figures),
        undetermined={},
        error=0.0,
    )
    line = list(_machine_fit._lines(fitted, SimpleNamespace(measured=[])))[-1]
    assert line.endswith("? to ?")
