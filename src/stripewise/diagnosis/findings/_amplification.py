# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""More bytes at the storage than the program asked for."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import COLLECTIVE, DATA, READS, SYSTEM, WRITES, FileUse
from stripewise.diagnosis._words import files_of, number, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.diagnosis.findings._independent import in_program, pattern_evidence, pattern_words
from stripewise.diagnosis.findings._lines import hint_lines
from stripewise.model import IoLayer

LEAST_TIMES = 1.5
LEAST_EXTRA = 4 << 20


class Amplification(Rule):
    """The system moved well more than the program asked."""

    code = "amplification"
    group = "amplification"
    basis = "the share of the time in the system's reads and writes that the extra bytes take"
    stakeless = True
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 1.5 times as many bytes, and 4 MiB more; told even if it costs little."""
        for use in run.files:
            asked = use.read_bytes + use.write_bytes
            if use.top in SYSTEM or not asked:
                continue
            below = use.calls(DATA, layers=SYSTEM, own=False)
            extra = below.bytes - asked
            if below.bytes < LEAST_TIMES * asked or extra < LEAST_EXTRA:
                continue
            read = use.calls(READS, layers=SYSTEM, own=False)
            evidence: dict[str, float | int | str] = {
                "asked_read_bytes": use.read_bytes,
                "asked_write_bytes": use.write_bytes,
                "system_read_bytes": read.bytes,
                "system_write_bytes": below.bytes - read.bytes,
                "times": below.bytes / asked,
                "interface": use.top.name.lower(),
                "independent": int(_independent(use)),
            }
            if use.extent > 0:
                evidence["file_bytes"] = use.extent
            evidence |= pattern_evidence(run, use, use.write_bytes > 0)
            once = not use.read_bytes and 0.9 * below.bytes <= use.extent
            evidence["once"] = int(once)
            cost = None if once else below.elapsed * extra / below.bytes
            yield Hit(use, cost, below.elapsed, 0, 0, evidence)

    def phrase(self, told: Told) -> str:
        """How many times what."""
        times = number(float(told.first.evidence["times"]))
        name = files_of(told.files, told.n_files)
        return f"moving {times} times as many bytes of {name} as asked"

    def text(self, told: Told) -> str:
        """Asked against moved."""
        evidence = told.first.evidence
        pairs = [
            (str(verb), float(evidence[f"asked_{way}_bytes"]), evidence[f"system_{way}_bytes"])
            for way, verb in (("read", "read"), ("write", "written"))
        ]
        asked = " and ".join(f"{size(value)} {verb}" for verb, value, _ in pairs if value)
        moved = " and ".join(f"{size(float(value))} {verb}" for verb, _, value in pairs if value)
        has = float(evidence.get("file_bytes", 0))
        length = f" (the file has {size(has)})" if has else ""
        once = (
            " Each byte of it may have been written once: then more was asked than was counted, "
            "or what lies between the data was written too."
            if evidence["once"]
            else ""
        )
        return (
            f"The program asked for {asked}{length}; at the system {moved} arrived, in "
            f"{seconds(told.stake)} of the slowest rank.{once}"
            f"{pattern_words(dict(evidence), float(evidence['asked_write_bytes']))}"
        )

    def remedy(self, told: Told) -> str:
        """Sieving of independent calls; fill values of HDF5."""
        evidence = told.first.evidence
        interface, writing = str(evidence["interface"]), _writes(told)
        if evidence["independent"] and not evidence["once"]:
            sieved = (
                " MPI-IO moves the holes between the pieces too (data sieving): other ranks write "
                "there, so that each block is moved several times."
                if evidence["system_read_bytes"] or not writing
                else ""
            )
            return f"{in_program(interface, writing)}{sieved}{_fill(interface, writing)}"
        if evidence["once"]:
            return (
                "Compare the length of the file with what the program means to write. Fill "
                "values, padding and holes make it longer; or the source did not count all calls."
            )
        return (
            "Try without data sieving, which moves the holes between the pieces too. Better, let "
            "one collective call fill whole stripes: all variables of a step in one (PnetCDF: "
            f"ncmpi_iput_vara and one ncmpi_wait_all).{_fill(interface, writing)}"
        )

    def tune_options(self, told: Told) -> str | None:
        """Nothing to tune where each byte was written once."""
        return None if told.first.evidence["once"] else ""

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Without sieving."""
        evidence = told.first.evidence
        alone = evidence["independent"] and not evidence["system_read_bytes"]
        if evidence["once"] or alone:
            return ()
        verb = "write" if _writes(told) else "read"
        off = {f"fbtl_posix_{verb}_datasieving": "0"}
        return hint_lines(run, {f"romio_ds_{verb}": "disable"}, off)


def _writes(told: Told) -> bool:
    return bool(told.first.evidence["asked_write_bytes"])


def _fill(interface: str, writing: bool) -> str:
    if interface != "hdf5" or not writing:
        return ""
    return (
        " HDF5 writes fill values first unless H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) "
        "says not to."
    )


def _independent(use: FileUse) -> bool:
    """Whether MPI-IO got at least half of the bytes in independent calls."""
    layers = [IoLayer.MPIIO] if IoLayer.MPIIO in use.seen else [use.top]
    together = use.calls(COLLECTIVE, layers=layers, own=False)
    every = use.calls((*READS, *WRITES), layers=layers, own=False)
    return 2 * together.bytes <= every.bytes
