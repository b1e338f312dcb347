"""Instructions of a block that run as one: the same bits as one after the other."""

import numpy as np
import pytest

from course_utils.emulator import ALL_CHECKS, GLOBAL, EmulatedModule, Options
from course_utils.emulator.machine import fusion, scheduler
from course_utils.emulator.machine import program as decoding

REGISTERS = 12
HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry mix(.param .u64 data)
{
    .reg .f32 %f<13>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 48;
    add.s64 %rd3, %rd1, %rd2;
"""


def program(body: list[str]) -> str:
    """A kernel whose threads each load twelve numbers, do ``body`` with them and store them."""
    lines = [f"ld.global.f32 %f{n}, [%rd3+{4 * n}];" for n in range(REGISTERS)]
    lines += body
    lines += [f"st.global.f32 [%rd3+{4 * n}], %f{n};" for n in range(REGISTERS)]
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


def ran(text: str, threads: int = 33, **options) -> np.ndarray:
    data = np.random.default_rng(1).standard_normal((threads, REGISTERS)).astype(np.float32)
    data[0, :3] = np.inf, -0.0, 1e-42
    EmulatedModule(text).entry("mix").launch(1, threads, (data,), options=Options(**options))
    return data


def fused_steps(text: str) -> int:
    """How many steps fewer there are than instructions."""
    blocks = EmulatedModule(text).entry("mix").code_for(False).blocks
    return sum(len(block.steps) - len(block.fused) for block in blocks)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_order_of_multiply_adds_gives_the_same_bits(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    body = []
    for _ in range(60):
        d, a, b, c = rng.integers(0, REGISTERS, 4)
        other = f"add.ftz.f32 %f{d}, %f{a}, %f{b};"
        body.append(f"fma.rn.ftz.f32 %f{d}, %f{a}, %f{b}, %f{c};" if rng.random() < 0.8 else other)
    text = program(body)
    together = ran(text)
    checked = ran(text, checks=ALL_CHECKS)
    monkeypatch.setattr(fusion, "MOST_AT_ONCE", 100)
    a_few_at_once = ran(text)
    monkeypatch.setattr(scheduler, "FEW_LANES", 0)
    one_by_one = ran(text)
    monkeypatch.setattr(decoding, "fused", lambda steps, movable: steps)
    in_order = ran(text)
    assert all(
        other.tobytes() == in_order.tobytes()
        for other in (together, checked, a_few_at_once, one_by_one)
    )


def test_a_tile_of_independent_multiply_adds_is_one_step():
    tile = [f"fma.rn.f32 %f{n}, %f0, %f1, %f{n};" for n in range(2, REGISTERS)]
    assert fused_steps(program(tile)) == len(tile) - 1


def test_a_chain_of_multiply_adds_stays_a_chain():
    chain = [f"fma.rn.f32 %f2, %f{n}, %f{n}, %f2;" for n in range(3, REGISTERS)]
    assert fused_steps(program(chain)) == 0
    data = ran(program(chain), 1)[0].astype(np.float64)
    start = np.random.default_rng(1).standard_normal((1, REGISTERS)).astype(np.float32)[0]
    start[:3] = np.inf, -0.0, 1e-42
    total = np.float32(1e-42)
    for x in start[3:].astype(np.float64):
        total = np.float32(x * x + float(total))
    assert data[2] == total


def test_nothing_moves_across_a_load_of_what_it_needs():
    again = "ld.global.f32 %f0, [%rd3+44];"
    tile = [f"fma.rn.f32 %f{n}, %f0, %f1, %f{n};" for n in range(2, 5)]
    text = program([*tile[:2], again, tile[2]])
    assert fused_steps(text) == 0


TILE = [  # three rows by two columns, each number loaded where it is first needed
    line
    for row in range(3)
    for line in (
        f"ld.global.f32 %f{row}, [%rd3+{4 * (11 - row)}];",
        *(
            line
            for column in range(2)
            for line in (
                *([f"ld.global.f32 %f{3 + column}, [%rd3+{4 * column}];"] if row == 0 else []),
                f"fma.rn.f32 %f{5 + 2 * row + column}, %f{row}, %f{3 + column}, "
                f"%f{5 + 2 * row + column};",
            )
        ),
    )
]


@pytest.mark.parametrize("threads", [1, 33, 1000])
@pytest.mark.parametrize("at_once", [1, 100, 65_536])
def test_a_tile_is_one_step_with_the_same_bits_though_loads_stand_in_it(
    threads, at_once, monkeypatch
):
    assert fused_steps(program(TILE)) == 5
    monkeypatch.setattr(fusion, "MOST_AT_ONCE", max(at_once, threads))
    together = ran(program(TILE), threads)
    monkeypatch.setattr(decoding, "fused", lambda steps, movable: steps)
    assert together.tobytes() == ran(program(TILE), threads).tobytes()


def test_what_was_never_written_is_found_alike_where_loads_go_first(monkeypatch):
    def found() -> tuple[list[str], bytes]:
        data = np.ones((40, REGISTERS), np.float32)
        other = np.full((40, REGISTERS), np.nan, np.float32)
        GLOBAL.never_written(other)
        first = ["ld.param.u64 %rd4, [other];", "add.s64 %rd5, %rd4, %rd2;"]
        text = program([*first, *TILE[:4], "ld.global.f32 %f4, [%rd5+4];", *TILE[4:]])
        text = text.replace("u64 data)", "u64 data, .param .u64 other)").replace("%rd<4>", "%rd<6>")
        entry = EmulatedModule(text).entry("mix")
        result = entry.launch(1, 40, (data, other), options=Options(checks=ALL_CHECKS))
        return [finding.message for finding in result.findings], data.tobytes()

    together = found()
    assert together[0]
    monkeypatch.setattr(decoding, "fused", lambda steps, movable: steps)
    assert together == found()


GUARDED = """
    setp.{test}.u32 %p, %r1, {limit};
    @%p bra DONE;
    add.f32 %f3, %f3, %f4;
DONE:
    add.f32 %f5, %f5, %f3;
    setp.lt.u32 %p, %r1, 40;
    @%p bra AGAIN;
    add.f32 %f6, %f6, %f3;
    setp.gt.u32 %p, %r1, 50;
    @%p bra AGAIN;
    add.f32 %f7, %f7, %f6;
AGAIN:
    add.f32 %f8, %f7, %f6;
"""


@pytest.mark.parametrize("test, limit", [("lt", 5), ("gt", 60), ("eq", 31), ("ne", 31)])
def test_lanes_that_meet_again_have_what_each_wrote(test, limit):
    threads = 70
    data = ran(program([GUARDED.format(test=test, limit=limit)]), threads)
    want = np.random.default_rng(1).standard_normal((threads, REGISTERS)).astype(np.float32)
    want[0, :3] = np.inf, -0.0, 1e-42
    lane = np.arange(threads)
    skip = {"lt": lane < limit, "gt": lane > limit, "eq": lane == limit, "ne": lane != limit}[test]
    want[~skip, 3] += want[~skip, 4]
    want[:, 5] += want[:, 3]
    first = lane >= 40
    want[first, 6] += want[first, 3]
    second = first & (lane <= 50)
    want[second, 7] += want[second, 6]
    want[:, 8] = want[:, 7] + want[:, 6]
    assert data.tobytes() == want.tobytes()
