# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports what Stripewise can do at a site, with names of people and hosts removed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stripewise.core import whole_file, with_texts
from stripewise.core.errors import UsageError
from stripewise.present import finite, plural, size_text
from stripewise.run.site._base import Check, Host, Probe, Section, fail, ok, warn
from stripewise.run.site._probes import all_probes

FORM = 1
"""Version of the file format."""


@dataclass(frozen=True)
class SiteReport:
    """Report on a site.

    Attributes:
        taken: Time of the report in UTC, ISO 8601.
        host: Name of the host, or its digest if names are left out.
        keeps_names: Whether it contains names of hosts and users.
        sections: Section of each probe, by name.
        summary: What Stripewise can and cannot do at the site.
    """

    taken: str
    host: str
    keeps_names: bool
    sections: Mapping[str, Section]
    summary: tuple[Check, ...]

    def document(self) -> dict[str, Any]:
        """Return the report as data for JSON."""
        return {
            "stripewise_site": FORM,
            "taken": self.taken,
            "host": self.host,
            "with_names": self.keeps_names,
            "summary": [asdict(check) for check in self.summary],
            "sections": dict(self.sections),
        }


def check_site(
    host: Host, *, keeps_names: bool = False, probes: Sequence[Probe] | None = None
) -> SiteReport:
    """Run the probes, and record failures without stopping the others.

    Args:
        host: Host to query.
        keeps_names: Whether to keep names of hosts and users.
        probes: Probes to run; all if not given.
    """
    chosen = all_probes() if probes is None else probes
    sections = {probe.name: _section(probe, host) for probe in chosen}
    names = host.names()
    called = names[0] if names else ""
    summary = judge(sections)
    if not keeps_names:
        sections = veiled(sections, names)
        summary = tuple(Check(**veiled(asdict(check), names)) for check in summary)
        called = name_digest(called)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    return SiteReport(taken, called, keeps_names, sections, summary)


def _section(probe: Probe, host: Host) -> Section:
    try:
        return probe.run(host)
    except Exception as error:  # one probe must not stop the others
        return {"probe_failed": f"{type(error).__name__}: {error}"[:500]}


def write_site(report: SiteReport, path: Path, *, force: bool = False) -> None:
    """Write a report as JSON that only its owner can read.

    Raises:
        UsageError: The file exists and `force` is not given.
        StorageError: The file cannot be written.
    """
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists: give another --output, or --force to replace it")
    text = json.dumps(finite(report.document()), indent=2, ensure_ascii=True, allow_nan=False)
    with whole_file(path, 0o600) as place:
        place.write_text(text + "\n", encoding="ascii")


def site_lines(report: SiteReport) -> Iterator[str]:
    """Yield the summary for people."""
    for check in report.summary:
        yield f"{check.status:<4}  {check.name}: {check.detail}"
        if check.remedy:
            yield f"      -> {check.remedy}"


# What Stripewise can and cannot do at a site, derived only from results of probes.

_CLOCK_SECONDS = 1.0
_SHORT_AGE_SECONDS = 60

Sections = Mapping[str, Mapping[str, Any]]


def judge(sections: Sections) -> tuple[Check, ...]:
    """Return one line for each important fact, with the remedy if something is missing."""
    found: list[Check] = []
    for rule in _RULES:
        found += rule(sections)
    for name, section in sections.items():
        if "probe_failed" in section:
            remedy = "report it with the file of this check"
            found.append(warn(name, f"not checked: {section['probe_failed']}", remedy))
    return tuple(found)


def _launcher(sections: Sections) -> Iterator[Check]:
    slurm, tried = _of(sections, "slurm"), _of(sections, "queue", "test_job")
    if not _of(slurm, "commands").get("sbatch"):
        yield ok("launcher", "local: there is no Slurm here, programs run on this machine")
        return
    version = slurm.get("version") or "Slurm of an unknown version"
    if tried.get("accepted"):
        where = f"; a test job would start in {tried['partition']}" if tried["partition"] else ""
        yield ok("launcher", f"Slurm: {version}{where}")
        return
    why = tried.get("problem", "?")
    if _silent(sections):
        remedy = "run this where your sbatch works; programs can be run on this machine"
        yield warn("launcher", f"local: Slurm's commands are here but do not work: {why}", remedy)
        return
    remedy = "give --account and --partition as your job scripts do"
    yield warn("launcher", f"{version} takes no test job: {why}", remedy)


def _silent(sections: Sections) -> bool:
    """Return whether Slurm's commands are installed but get no answer."""
    return "problem" in _of(sections, "slurm", "config")


def _accounting(sections: Sections) -> Iterator[Check]:
    slurm = _of(sections, "slurm")
    if not _of(slurm, "commands").get("scontrol") or _silent(sections):
        return
    if _of(slurm, "accounting").get("answers"):
        yield ok("accounting", "sacct answers: the ends of jobs stay known")
        return
    text = str(_of(slurm, "config").get("MinJobAge", "")).partition(" ")[0]
    if not text.isdigit():
        detail = "none, and how long Slurm remembers ended jobs is not known"
        yield warn("accounting", detail, "ask for accounting_storage/slurmdbd")
    elif int(text) < _SHORT_AGE_SECONDS:
        detail = f"none, and Slurm forgets a job {text} s after its end (MinJobAge)"
        yield warn("accounting", detail, "ask for MinJobAge=300 or for accounting")
    else:
        yield ok("accounting", f"none: Slurm remembers a job until {text} s after its end")


def _tier(sections: Sections) -> Iterator[Check]:
    burst = _of(sections, "burst_buffers")
    plugins = burst.get("plugins") or []
    for one in plugins:
        yield _plugin(one, _of(burst, "test_job"))
    kind = _of(sections, "slurm", "config").get("BurstBufferType", "(null)")
    if plugins or _silent(sections):
        return
    if kind not in ("(null)", ""):
        detail = f"{kind} is set, but `scontrol show burst` shows nothing"
        yield warn("storage tier", detail, "try again later, or ask the site")
        return
    yield ok(
        "storage tier",
        "none known to Slurm: the parallel file system; if jobs have a directory of their own "
        "(NVMe, flash), name it for the tier `directory`",
    )


def _plugin(one: Mapping[str, Any], tried: Mapping[str, Any]) -> Check:
    pools = [pool for pool in one["pools"] if pool["nodes"]]
    if not pools:
        return warn(
            "storage tier",
            f"{one['name']}, whose pools are empty",
            "Slurm asks the storage every few seconds: try again; else ask the site",
        )
    detail = f"{one['name']}: " + "; ".join(map(_pool_words, pools))
    if tried.get("accepted") is False and one["name"] != "lua":
        remedy = "does your account have burst buffers? (root has none)"
        return warn("storage tier", f"{detail}; a test job is refused: {tried['problem']}", remedy)
    if one["name"] == "lua":
        return warn("storage tier", detail, "give the site's #BB_LUA lines as a template")
    return ok("storage tier", detail)


def _pool_words(pool: Mapping[str, Any]) -> str:
    drained = f", {pool['drained_nodes']} drained" if pool["drained_nodes"] else ""
    size = size_text(pool["granularity_bytes"])
    name = pool["name"] or "default"
    return f"pool {name}: {pool['free_nodes']} of {pool['nodes']} nodes of {size} free{drained}"


def _mpi(sections: Sections) -> Iterator[Check]:
    mpi = _of(sections, "mpi")
    usable = [one for one in mpi.get("installations", []) if not one["problem"]]
    cray = _of(mpi, "variables").get("CRAY_MPICH_VERSION")
    for one in usable:
        kin = f" (Cray MPICH {cray})" if cray and one["family"] == "mpich" else ""
        yield ok("MPI", f"{one['family']} {one['version']}{kin}: {one['mpicc']}")
    if not usable:
        remedy = "load the module that your programs are built with, then check again"
        yield warn("MPI", "no compiler wrapper works: only programs without MPI", remedy)


def _directories(sections: Sections) -> Iterator[Check]:
    for one in _of(sections, "directories").get("list", []):
        name = f"directory {one['path']}"
        if "problem" in one:
            yield warn(name, one["problem"], "name a directory in which you can write")
            continue
        yield _striping(name, one)
        offset = one.get("clock_offset_seconds", 0)
        if abs(offset) > _CLOCK_SECONDS:
            way = "ahead" if offset > 0 else "behind"
            yield warn(
                name,
                f"the clock of its file server is {abs(offset):g} s {way}",
                "times of files there cannot be compared with this host's: ask the site for NTP",
            )


def _striping(name: str, one: Mapping[str, Any]) -> Check:
    kind = one["file_system"] or "of an unknown type"
    if not one["parallel"]:
        return ok(name, f"{kind}: no stripes to set; real output should go to a parallel one")
    layout, targets = one.get("striping", {}), one.get("targets", {})
    if "problem" in layout:
        remedy = "load the file system's tools; hints at creation work without them"
        return warn(name, f"{kind}, striping not shown: {layout['problem']}", remedy)
    words = [f"stripe_count {layout['stripe_count']}"] if "stripe_count" in layout else []
    if size := str(layout.get("stripe_size", "")):
        words.append(f"stripe_size {size_text(int(size)) if size.isdecimal() else size}")
    if targets.get("osts"):
        words.append(plural(targets["osts"], "OST"))
    if targets.get("inactive"):
        words.append(f"{targets['inactive']} inactive")
    return ok(name, ", ".join([kind, *words]))


def _darshan(sections: Sections) -> Iterator[Check]:
    darshan = _of(sections, "darshan")
    path = _of(darshan, "log_path").get("path")
    if path:
        there = "" if _of(darshan, "log_path").get("there") else " (not there)"
        yield ok("Darshan", f"logs in {path}{there}")
    elif darshan.get("modules") or darshan.get("tools"):
        yield ok("Darshan", ", ".join([*darshan.get("modules", []), *darshan.get("tools", [])]))
    else:
        yield ok("Darshan", "not here; it is not needed")


def _preload(sections: Sections) -> Iterator[Check]:
    preload = _of(sections, "preload")
    if preload.get("works") is False:
        problem = preload.get("problem", "the library was not mapped")
        remedy = "programs cannot be observed without it: ask the site what forbids LD_PRELOAD"
        yield fail("preload", f"libraries cannot be preloaded: {problem}", remedy)
    elif preload.get("works"):
        yield ok("preload", "works on this host")
    if "runtime_library" in _of(sections, "stripewise"):
        path = sections["stripewise"]["runtime_library"]
        missing = warn("runtime library", "not built", "stripewise doctor build")
        yield ok("runtime library", path) if path else missing


def _of(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a part of a section; empty if it is missing."""
    for key in keys:
        data = data.get(key) or {}
    return data


_RULES: tuple[Callable[[Sections], Iterator[Check]], ...] = (
    _launcher,
    _accounting,
    _tier,
    _mpi,
    _directories,
    _darshan,
    _preload,
)


# Removal of names of people and hosts from a report.

_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?!\.\d)(?:@\w+)?")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")


def veiled(data: Any, names: Sequence[str]) -> Any:
    """Return the data without the given names, network addresses and mail addresses.

    Keys are kept, since they contain no names.
    """
    words = [re.escape(name) for name in sorted(names, key=len, reverse=True)]

    def change(text: str, _member: str) -> str:
        for word in words:
            text = re.sub(rf"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])", "<name>", text)
        return _ADDRESS.sub("<address>", _MAIL.sub("<address>", text))

    return with_texts(data, change)


def name_digest(name: str) -> str:
    """Return a digest that distinguishes hosts without naming them."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
