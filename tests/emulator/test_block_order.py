"""Parted lanes run in an order in which they meet again, wherever blocks stand in the text."""

import random

import numpy as np
import pytest

from course_utils.emulator import EmulatedModule, Options
from course_utils.emulator.machine.block_order import block_ranks


@pytest.mark.parametrize(
    ("successors", "expected"),
    [
        ([[1, 2], [3], [3], []], [0, 1, 2, 3]),  # if and else: as they stand
        ([[2, 1], [], [1]], [0, 2, 1]),  # the block of an if stands behind the way out
        ([[1], [2, 3], [], [1]], [0, 1, 3, 2]),  # the way out stands inside the loop
        ([[1], [1, 2], []], [0, 1, 2]),  # a loop of one block
        # An outer loop of 1 to 4; its inner loop is 2 and 4, which stands behind the way out.
        ([[1], [2], [4, 3], [1, 5], [2], []], [0, 1, 2, 4, 3, 5]),
        ([[1, 2], [2, 3], [1, 3], []], [0, 1, 2, 3]),  # a loop with two ways in
        ([[], [0]], [1, 0]),  # what nothing leads to
    ],
)
def test_a_block_comes_after_those_that_lead_to_it(successors, expected):
    assert block_ranks(successors) == expected


@pytest.mark.parametrize("seed", range(40))
def test_loops_stay_together_and_nothing_overtakes(seed):
    lot = random.Random(seed)
    n = lot.randrange(2, 40)
    successors = [lot.sample(range(n), lot.randrange(min(n, 3))) for _ in range(n)]
    found = block_ranks(successors)
    assert sorted(found) == list(range(n))
    reach = [{b} for b in range(n)]  # by repeated relaxation: slow, and easily seen to be right
    for _ in range(n):
        for b in range(n):
            reach[b] = reach[b].union(*(reach[s] for s in successors[b]))
    for a in range(n):
        for b in reach[a]:
            if a not in reach[b]:
                assert found[a] < found[b]
        loop = [found[b] for b in range(n) if b in reach[a] and a in reach[b]]
        assert max(loop) - min(loop) == len(loop) - 1


def test_the_numbers_stay_where_the_text_is_already_in_order():
    depth = 3000  # deeper than Python's own stack
    assert block_ranks([[b + 1, b + 2] for b in range(depth)] + [[], []]) == list(range(depth + 2))


UNLIKELY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry run(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r2, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra RARE;
ALL:
    st.global.u32 [%rd1], %r2;
    ret;
RARE:
    mov.u32 %r2, 2;
    bra.uni ALL;
}
"""


def test_lanes_that_took_a_detour_to_the_end_of_the_text_are_waited_for():
    out = np.zeros(32, np.int32)
    result = (
        EmulatedModule(UNLIKELY)
        .entry("run")
        .launch(1, 32, (out,), 0, options=Options(counters=True))
    )
    assert out.tolist() == [2] + [1] * 31
    assert result.counts.global_store_requests == 1


WAITING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry run(.param .u64 flag)
{
    .reg .pred %p<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r4, 0;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra RAISES;
PADDING
LOOKS:
    setp.lt.u32 %p2, %r1, 16;
    @%p2 bra LOWER;
    add.u32 %r4, %r4, 1;
    bra.uni BOTH;
LOWER:
    add.u32 %r4, %r4, 2;
BOTH:
    bra.uni LOAD;
LOAD:
    ld.relaxed.gpu.global.u32 %r3, [%rd1];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra LOOKS;
    ret;
RAISES:
    mov.u32 %r5, 1;
    st.relaxed.gpu.global.u32 [%rd1], %r5;
    ret;
}
"""


@pytest.mark.parametrize("blocks", range(4))
def test_lanes_that_part_while_they_wait_let_others_run(blocks):
    """A loop of four basic blocks, of which a turn has 64, entered after none to three more."""
    padding = "\n".join(f"    bra.uni PAD{k};\nPAD{k}:" for k in range(blocks))
    flag = np.zeros(1, np.uint32)
    entry = EmulatedModule(WAITING.replace("PADDING", padding)).entry("run")
    entry.launch(2, 32, (flag,), 0, options=Options(budget=20_000))
    assert flag[0] == 1
