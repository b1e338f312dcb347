"""vote, match, redux and elect against Python, for whole warps and for some of their lanes."""

import functools
import operator

import numpy as np
import pytest

from course_utils.emulator import EmulatedModule

LANES = 128
VOTES = {
    "all": all,
    "any": any,
    "uni": lambda flags: len(set(flags)) == 1,
}
REDUCTIONS = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
MASKS = (0xFFFFFFFF, 0x0000FFFF, 0xAAAAAAAA, 0x00000001, 0x80000008, 0x7FFFFFFF)
HEADER = """.version 8.6
.target sm_90
.address_size 64
.visible .entry run(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
.reg .b64 values, results, i; .reg .b32 t, lane, mask, bit, v, r; .reg .pred here, q, f;
ld.param.u64 values, [p0]; ld.param.u64 results, [p1]; ld.param.u32 mask, [p2];
mov.u32 t, %tid.x; mul.wide.u32 i, t, 4; add.u64 values, values, i; add.u64 results, results, i;
ld.global.b32 v, [values]; setp.ne.u32 f, v, 0;
mov.u32 lane, %laneid; shr.u32 bit, mask, lane; and.b32 bit, bit, 1; setp.eq.u32 here, bit, 1;
@!here bra after;
"""
FOOTER = "\nst.global.b32 [results], r;\nafter:\nret;\n}\n"
ABSENT = 0x12345678  # what a lane that takes no part leaves in its result


def by_lane(instruction: str, values: np.ndarray, mask: int) -> np.ndarray:
    """(warps, 32) results of the lanes that the mask names; the others go past the instruction."""
    results = np.full(LANES, ABSENT, np.uint32)
    module = EmulatedModule(HEADER + instruction + FOOTER)
    module.entry("run").launch(1, LANES, (values.view(np.uint32), results, np.uint32(mask)))
    return results.reshape(-1, 32)


def members(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def expected(values: np.ndarray, mask: int, result) -> list[list[int]]:
    """``result`` of (the members' values, lane) for each member of each warp."""
    rows = []
    for warp in values.reshape(-1, 32).tolist():
        there = {lane: warp[lane] for lane in members(mask)}
        rows.append(
            [result(there, lane) % 2**32 if lane in there else ABSENT for lane in range(32)]
        )
    return rows


def flags() -> np.ndarray:
    """Four warps: mixed, all false, all true, and one lane unlike the others."""
    flags = np.zeros(LANES, np.uint32)
    flags[:32] = np.random.default_rng(0).integers(0, 2, 32)
    flags[64:] = 1
    flags[96 + 3] = 0
    return flags


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("mode", VOTES)
def test_a_vote_is_that_of_the_lanes_in_the_mask(mode, mask):
    text = f"vote.sync.{mode}.pred q, f, mask; selp.b32 r, 1, 0, q;"
    for values in (flags(), 1 - flags()):
        right = expected(values, mask, lambda there, lane: int(VOTES[mode](there.values())))
        assert by_lane(text, values, mask).tolist() == right


@pytest.mark.parametrize("mask", MASKS)
def test_a_ballot_has_the_bits_of_the_lanes_in_the_mask(mask):
    def ballot(there, lane):
        return sum(1 << other for other, flag in there.items() if flag)

    text = "vote.sync.ballot.b32 r, f, mask;"
    assert by_lane(text, flags(), mask).tolist() == expected(flags(), mask, ballot)


@pytest.mark.parametrize("mask", MASKS)
def test_a_match_names_lanes_of_the_mask_alone(mask):
    values = np.random.default_rng(1).integers(0, 3, LANES).astype(np.uint32)
    values[64:96] = 0  # lanes that are absent hold nothing: it must not be taken for a 0

    def alike(there, lane):
        return sum(1 << other for other, value in there.items() if value == there[lane])

    found = by_lane("match.any.sync.b32 r, v, mask;", values, mask)
    assert found.tolist() == expected(values, mask, alike)


@pytest.mark.parametrize("mask", MASKS)
def test_a_match_of_all_gives_the_mask_or_nothing(mask):
    values = flags()

    def alike(there, lane):
        return mask if len(set(there.values())) == 1 else 0

    found = by_lane("match.all.sync.b32 r|q, v, mask;", values, mask)
    assert found.tolist() == expected(values, mask, alike)
    text = "match.all.sync.b32 r|q, v, mask; selp.b32 r, 1, 0, q;"
    agreed = by_lane(text, values, mask)
    assert agreed.tolist() == expected(values, mask, lambda t, lane: int(alike(t, lane) != 0))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "form",
    [
        *(f"{name}.s32" for name in ("add", "min", "max")),
        *(f"{name}.u32" for name in ("add", "min", "max")),
        *(f"{name}.b32" for name in ("and", "or", "xor")),
    ],
)
def test_a_reduction_is_over_the_lanes_in_the_mask(form, mask):
    name, kind = form.split(".")
    rng = np.random.default_rng(2)
    values = rng.integers(-(2**31), 2**31, LANES).astype(np.int32)
    values[32:64] |= 0x00FFFF00  # bits that all lanes of a warp have
    values[64:96] = np.abs(values[64:96]) | 1 << 30  # far from zero, on one side of it
    values[96:] = -np.abs(values[96:])
    seen = values if kind == "s32" else values.view(np.uint32)

    def reduced(there, lane):
        return functools.reduce(REDUCTIONS[name], there.values())

    found = by_lane(f"redux.sync.{form} r, v, mask;", values, mask)
    assert found.tolist() == expected(seen, mask, reduced)


@pytest.mark.parametrize("mask", MASKS)
def test_the_lowest_lane_of_the_mask_is_elected(mask):
    text = "elect.sync r|q, mask; @q add.u32 r, r, 100;"
    lowest = members(mask)[0]
    right = expected(flags(), mask, lambda there, lane: lowest + 100 * (lane == lowest))
    assert by_lane(text, flags(), mask).tolist() == right
