# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts of others: what a dry run says of them, and what becomes of them on a burst buffer.

Keys of a case's `input`:
    script            text; /lustre is a directory of the host when it runs
    crlf, bom, open   DOS line ends; a byte order mark; no newline at the end
    long              @LONG@ stands for 9,000 characters
    files, programs   further files of the user; programs by name (on PATH) or by path
    links             symbolic links of the user, by path
    options           further words of `tune`
    environment       variables of the user
    elements          elements of the array that run, one after the other
    converting        other words of the conversion than --bb-nodes 1
    unordered         its commands run at the same time
    again             how often the job is submitted (a chain)
    calls             whether it runs here at all

Keys of its `answer`:
    refused           words of the reason for which `tune --dry-run` refuses it
    kept              words of the reason for which it is not converted
    harm              accepting it would submit jobs, or change the user's files
    programs          program of each launch line; "?" where it is not certain
    nodes, seconds    of a run; ranks: of the job
    outside           what its shell lines change outside: "verb path"
    says, told        words that the dry run, and the conversion, must say
    replaced          beginning of the one directive that the conversion has to replace
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.kinds._job_host import JobHost, Ran, Said
from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, revert, rewrite

NAME, CONVERTED = "run.sh", "run.bb.sh"
_ADDED = re.compile(rb"#SBATCH --signal=B:TERM@\d+\s*")
_MOST_WRAPPED = 3


class Harm(Exception):
    """Something was submitted, lost or changed; the message says what."""


class TheKind(Kind):
    """Job scripts in the style of centres' documentation."""

    title = "job scripts"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Try one script: `tune --dry-run`, a conversion, its run and its reversal."""
        given, wrong = case.input, list[str]()
        data = _bytes_of(case)
        files = {name: text.encode() for name, text in given.get("files", {}).items()}
        host = JobHost(
            directory, {**files, NAME: data}, given.get("programs", ()), given.get("links", {})
        )
        (host.work / NAME).chmod(0o755)
        try:
            refused = self._dry_run(case, host, wrong)
            kept = self._convert(case, host, data, wrong)
        except Harm as harm:
            return Outcome(Verdict.HARMFUL, "; ".join([str(harm), *wrong]))
        if wrong:
            return Outcome.of(wrong)
        return Outcome(Verdict.REFUSED if refused or kept else Verdict.RIGHT)

    # -- tune --dry-run -------------------------------------------------------------------------

    def _dry_run(self, case: Case, host: JobHost, wrong: list[str]) -> bool:
        """Judge the dry run; return whether it refuses the script."""
        before = dict(host.files())
        words = ["tune", f"./{NAME}", "--dry-run", "--json", *case.input.get("options", ())]
        said = host.product(words, case.input.get("environment", {}))
        _check_nothing_done(host, before, "the dry run")
        expected = case.answer.get("refused")
        if expected:
            wrong += _refusal(said, expected, "dry run", case.answer.get("harm", False))
            return True
        if said.code:
            wrong.append(f"dry run refused: {said.text}")
            return False
        wrong += _facts(case, json.loads(said.out), said, str(host.lustre))
        return False

    # -- settings script ------------------------------------------------------------------------

    def _convert(self, case: Case, host: JobHost, data: bytes, wrong: list[str]) -> bool:
        """Judge the conversion, its run and its reversal; return whether it is refused."""
        before = dict(host.files())
        (host.work / NAME).write_bytes(host.here(data))
        asked = case.input.get("converting", ["--bb-nodes", "1"])
        words = ["settings", "script", NAME, *asked, "-o", CONVERTED]
        said = host.product(words, case.input.get("environment", {}))
        _check_nothing_done(host, before, "the conversion")
        if reason := case.answer.get("kept"):
            wrong += _refusal(said, reason, "conversion", case.answer.get("harm", False))
            return True
        if said.code:
            wrong.append(f"not converted: {said.text}")
            return False
        converted = (host.work / CONVERTED).read_bytes()
        added = list(_directives(host.here(data), converted, case.answer.get("replaced", "")))
        wrong += added if "converting" not in case.input else ()
        back = host.product(["settings", "script", "--revert", CONVERTED, "-o", "run.back"], {})
        if back.code or (host.work / "run.back").read_bytes() != host.here(data):
            raise Harm(f"not the same after --revert: {back.text}")
        script = JobScript.parse(host.here(data), NAME)
        programs = [launch.program if not launch.problem else "?" for launch in script.launches]
        found = [one.replace(str(host.lustre), "/lustre") for one in programs]
        if found != (expected := list(case.answer.get("programs", []))):
            wrong.append(f"programs {found}, not {expected}")
        wrong += (f"not said: {w!r}" for w in case.answer.get("told", []) if w not in said.text)
        if "ranks" in case.answer and script.resources.ranks != case.answer["ranks"]:
            wrong.append(f"{script.resources.ranks} ranks, not {case.answer['ranks']}")
        if case.input.get("calls", True):
            wrong += _runs(case, host, script)
        return False


def _bytes_of(case: Case) -> bytes:
    given = case.input
    text: str = given["script"]
    if given.get("crlf"):
        text = text.replace("\n", "\r\n")
    if given.get("long"):
        text = text.replace("@LONG@", ",".join(f"member{number:04}" for number in range(800)))
    data = (b"\xef\xbb\xbf" if given.get("bom") else b"") + text.encode("utf-8")
    return data.rstrip(b"\r\n") if given.get("open") else data


def _check_nothing_done(host: JobHost, before: dict[str, bytes], what: str) -> None:
    """Raise unless no command was started and no file was changed.

    Raises:
        Harm: Something was.
    """
    if calls := host.calls():
        raise Harm(f"{what} called {calls[0]}")
    after = dict(host.files())
    if changed := [name for name in {**before, **after} if before.get(name) != after.get(name)]:
        raise Harm(f"{what} changed {changed[0]}")


def _refusal(said: Said, words: Sequence[str], what: str, harm: bool) -> Iterator[str]:
    """Yield what is wrong with a refusal that has to have some words.

    Raises:
        Harm: There is none, and what follows would do harm.
    """
    lines = [line for line in said.err.splitlines() if line.startswith("stripewise: error: ")]
    if not said.code and harm:
        raise Harm(f"{what}: accepted")
    if said.code in (0, 70) or len(lines) != 1:
        yield f"{what}: code {said.code}: {said.text}"
    elif missing := [word for word in words if word not in lines[0]]:
        yield f"{what}: {missing} not in: {lines[0]}"


def _facts(case: Case, found: dict[str, Any], said: Said, lustre: str) -> Iterator[str]:
    """Yield what is wrong in a dry run that accepts the script."""
    answer = case.answer
    for key, name in (("nodes", "nodes"), ("seconds", "run_seconds")):
        if key in answer and found[name] != answer[key]:
            yield f"{key}: {found[name]}, not {answer[key]}"
    outside = sorted({f"{one['verb']} {one['path']}" for one in found["outside"]})
    outside = [one.replace(lustre, "@LUSTRE@") for one in outside]
    if outside != sorted(answer.get("outside", [])):
        yield f"outside: {outside}, not {sorted(answer.get('outside', []))}"
    text = " ".join([*found["warnings"], said.err])
    for word in answer.get("says", []):
        if word not in text:
            yield f"{word!r} is not said: {text}"
    if text.strip() and not answer.get("says"):
        yield f"says without need: {text}"


# -- directives, read as sbatch(1) and the DataWarp plug-in of Slurm 22.05 do ------------------


def _in_force(data: bytes) -> Iterator[bytes]:
    """Yield the directives before the first command."""
    for line in data.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith(b"#"):
            return
        if line.startswith((b"#SBATCH", b"#DW", b"#BB")):
            yield line


def _directives(original: bytes, converted: bytes, replaced: str) -> Iterator[str]:
    """Yield what is wrong with the directives of a converted script.

    Lines for sbatch keep their order; lines for a burst buffer, and their words, may not.

    Raises:
        Harm: One of the user's is lost or no longer in force.
    """
    old, new = list(_in_force(original)), list(_in_force(converted))
    if replaced:
        old = [line for line in old if not line.startswith(replaced.encode())]
    rest = [line.rstrip() for line in new if line.startswith(b"#SBATCH")]
    buffers = [sorted(line.split()) for line in new if not line.startswith(b"#SBATCH")]
    for line in old:
        if line.startswith(b"#SBATCH") and line.rstrip() in rest:
            rest.remove(line.rstrip())
        elif sorted(line.split()) in buffers:
            buffers.remove(sorted(line.split()))
        else:
            raise Harm(f"directive lost: {line.decode(errors='replace')}")
    options = [line for line in old if line.startswith(b"#SBATCH")]
    if [line for line in new if line in options] != [line for line in options if line in new]:
        yield "the options are in another order"
    if not any(words[:2] == [b"#DW", b"access_mode=striped"] for words in buffers):
        yield "no burst buffer is asked for"
    yield from (f"added: {x.decode(errors='replace')}" for x in rest if not _ADDED.fullmatch(x))


# -- jobs ------------------------------------------------------------------------------------


def _runs(case: Case, host: JobHost, script: JobScript) -> Iterator[str]:
    """Yield how runs of the converted script, and of one with a wrapper, differ from the original.

    Raises:
        Harm: A result is missing or another one than that of the original.
    """
    companion = (host.work / f"{CONVERTED}.copies").read_bytes()
    converted = (host.work / CONVERTED).read_bytes()
    original = _run(case, host, NAME, {NAME: script.data})
    there = _run(case, host, CONVERTED, {CONVERTED: converted, f"{CONVERTED}.copies": companion})
    yield from _differences(original, there, "on the burst buffer")
    for launch in script.launches[:_MOST_WRAPPED]:
        if launch.problem or launch.read_twice:
            continue
        try:
            changed = rewrite(script, Changes(wrap=("stub-wrap",), step=launch.number))
        except UsageError as error:
            yield f"no wrapper: {error}"
            continue
        if revert(changed) != script.data:
            raise Harm(f"not the same without the wrapper of launch line {launch.number}")
        wrapped = _run(case, host, NAME, {NAME: changed})
        calls = [one for one in wrapped.calls if not one.startswith("stub-wrap ")]
        seen = len(calls) < len(wrapped.calls)
        started = any(one.startswith(f"{launch.launcher} ") for one in original.calls)
        if started and not seen:
            yield f"launch line {launch.number}: its program was not wrapped"
        bare = tuple(one.replace("<stub-wrap>", "") for one in calls)
        yield from _differences(original, Ran(bare, wrapped.files, wrapped.codes), "wrapped")


def _run(case: Case, host: JobHost, name: str, scripts: dict[str, bytes]) -> Ran:
    host.reset()
    for each, data in scripts.items():
        (host.work / each).write_bytes(data)
        (host.work / each).chmod(0o755)
    elements = list(case.input.get("elements", ())) or [""] * case.input.get("again", 1)
    environment = {
        name: value.replace("/lustre", str(host.lustre))
        for name, value in case.input.get("environment", {}).items()
    }
    ran = host.run(name, case.answer.get("nodes", 1), elements, **environment)
    if case.input.get("unordered"):
        return Ran(tuple(sorted(ran.calls)), ran.files, ran.codes)
    return ran


def _differences(original: Ran, other: Ran, what: str) -> Iterator[str]:
    """Yield how another run differs.

    Raises:
        Harm: A result differs.
    """
    names = [n for n in original.files if other.files.get(n) != original.files[n]]
    if names:
        raise Harm(f"{what}: {names[0]} is {other.files.get(names[0], b'missing')[:80]!r}")
    if more := [n for n in other.files if n not in original.files]:
        yield f"{what}: leaves {more[0]}"
    if original.calls != other.calls:
        pairs = zip((*original.calls, "-"), (*other.calls, "-"), strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), ("?", "?"))
        yield f"{what}: called {first[1]!r}, not {first[0]!r}"
    if original.codes != other.codes:
        yield f"{what}: exit codes {other.codes}, not {original.codes}"
