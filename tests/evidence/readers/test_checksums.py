# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damage that only a checksum tells, and what must not be taken for damage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stripewise.core.errors import ContainerError
from stripewise.evidence.containers import _parse
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers._trace_blocks import TraceBlockKind
from stripewise.evidence.containers.container import Store, blocks, checksum
from stripewise.evidence.report import info_content, trace_info
from stripewise.evidence.trace import Evidence
from support.containers import parse_container, sealed, store_of
from support.trace_samples import evidence, mixed_container, one_thread, rank

WHOLE = mixed_container()
BLOCKS = list(blocks(store_of(WHOLE, "")))
EACH_KIND = {block.kind: block for block in BLOCKS}


def flipped(place: int, bit: int = 0) -> bytes:
    data = bytearray(WHOLE)
    data[place] ^= 1 << bit
    return bytes(data)


def test_as_the_header_says() -> None:
    words = [7, 2**63, 2**64 - 1, 0, 1 << 40]
    wanted = sum((x ^ x >> 32) * (i * 0x9E3779B97F4A7C15 % 2**64 | 1) for i, x in enumerate(words))
    data = np.array(words, "<u8").tobytes()
    assert checksum(data) == checksum(data[:16], data[16:]) == wanted % 2**64
    assert checksum(bytes(64)) == 1


def test_pieces_make_no_difference() -> None:
    data = np.random.default_rng(1).bytes(3 << 20)
    assert checksum(data) == checksum(data[:800], data[800 : 1 << 20], data[1 << 20 :])


def test_what_is_summed() -> None:
    assert c.CONTAINER_HEADER.fields is not None
    assert c.BLOCK_HEADER.fields is not None
    assert c.CONTAINER_HEADER.fields["lost_processes"][1] == c.SUMMED_HEADER_BYTES
    assert c.BLOCK_HEADER.fields["sum"][1] == c.SUMMED_BLOCK_BYTES


@pytest.mark.parametrize("kind", [*c.BlockKind, *TraceBlockKind])
@pytest.mark.parametrize("bit", [0, 7])
def test_each_kind_of_block(kind: int, bit: int) -> None:
    block = EACH_KIND[kind]
    for place in range(block.offset + c.BLOCK_HEADER.itemsize, block.end, 509):
        with pytest.raises(
            ContainerError, match=r"vm\.sw is damaged: its checksum does not match"
        ):
            parse_container(flipped(place, bit), "/some/vm.sw", events=True)


def test_the_file_header() -> None:
    with pytest.raises(ContainerError, match="its checksum does not match"):
        parse_container(flipped(30))


def test_a_trace_that_is_not_read_is_not_checked() -> None:
    parse_container(flipped(EACH_KIND[TraceBlockKind.EVENTS].offset + 100))


def test_a_block_that_is_gone() -> None:
    last = BLOCKS[-1]
    raw = parse_container(WHOLE[: last.offset], "vm.sw", events=True)
    assert raw.problems == ["vm.sw is damaged: 1 blocks that are missing"]


def test_taken_back() -> None:
    data = bytearray(flipped(BLOCKS[0].end - 1))
    for block in BLOCKS:
        if block.kind == c.BlockKind.PROCESS:
            np.frombuffer(data, c.BLOCK_HEADER, 1, block.offset)["sealed"] = 0
    raw = parse_container(bytes(data), events=True)
    assert (raw.problems, raw.unchecked) == ([], 2)


@pytest.mark.parametrize("sealed_again", [False, True])
def test_a_process_that_goes_on_while_it_is_read(sealed_again: bool) -> None:
    """It takes its checksums back, changes a block, and may come to its end once more."""
    now = bytearray(WHOLE)
    block = EACH_KIND[c.BlockKind.RECORDS]
    changed = bytearray(WHOLE)
    changed[block.end - 1] = 1
    if sealed_again:
        changed = bytearray(sealed(bytes(changed)))
    else:
        np.frombuffer(changed, c.BLOCK_HEADER, 1, block.process_id)["sealed"] = 0

    def fetch(offset: int, size: int) -> bytes:
        if offset == block.offset + c.BLOCK_HEADER.itemsize:
            now[:] = changed
        return bytes(now[offset : offset + size])

    assert _parse.parse_container(Store("vm.sw", len(WHOLE), fetch), events=True).problems == []


def checksum_of(found: Evidence) -> str:
    return info_content(trace_info(found)).blocks[0].data()["checksum"]


def test_trace_info_says_so() -> None:
    found = evidence(rank(0, 1, one_thread()))
    assert checksum_of(found) == "not checked"
    checked = replace(found, profile=replace(found.profile, unchecked=0))
    assert checksum_of(checked) == "matches"
