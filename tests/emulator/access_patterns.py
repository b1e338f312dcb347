"""Ways in which 32 lanes can spread over memory, and kernels of one warp that access it so.

``access_patterns_record.py`` launches every pattern under Nsight Compute for every operation; what
the GPU needed for each is the table that the emulator's rules are held to.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_utils import cp, load

LANES = np.arange(32)
IDLE = -1

_PACK = "{%0, %1, %2, %3}"
_FOUR_OUT = '"=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])'
_FOUR_IN = _FOUR_OUT.replace("=", "")
# (Operation, bytes of a lane) -> C type and length of v, and the assembly. Loads and stores are
# those of shared memory, where the width matters; "red" and "atom" add in global memory without and
# with a result, "shared_atom" in shared memory.
OPERATIONS = {
    ("load", 2): ("short", 1, '"ld.shared.u16 %0, [%1];" : "=h"(v[0]) : "r"(s)'),
    ("load", 4): ("int", 1, '"ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(s)'),
    ("load", 8): (
        "int",
        2,
        '"ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(s)',
    ),
    ("load", 16): ("int", 4, f'"ld.shared.v4.u32 {_PACK}, [%4];" : {_FOUR_OUT} : "r"(s)'),
    ("store", 2): ("short", 1, '"st.shared.u16 [%1], %0;" :: "h"(v[0]), "r"(s)'),
    ("store", 4): ("int", 1, '"st.shared.u32 [%1], %0;" :: "r"(v[0]), "r"(s)'),
    ("store", 8): ("int", 2, '"st.shared.v2.u32 [%2], {%0, %1};" :: "r"(v[0]), "r"(v[1]), "r"(s)'),
    ("store", 16): ("int", 4, f'"st.shared.v4.u32 [%4], {_PACK};" :: {_FOUR_IN}, "r"(s)'),
    ("red", 4): ("int", 1, '"red.global.add.u32 [%1], %0;" :: "r"(v[0]), "l"(g)'),
    ("red", 8): ("long", 1, '"red.global.add.u64 [%1], %0;" :: "l"(v[0]), "l"(g)'),
    ("atom", 4): ("int", 1, '"atom.global.add.u32 %0, [%1], %0;" : "+r"(v[0]) : "l"(g)'),
    ("shared_atom", 4): ("int", 1, '"atom.shared.add.u32 %0, [%1], %0;" : "+r"(v[0]) : "r"(s)'),
}


def source() -> str:
    """Kernels ``load_4`` and so on: lane t accesses the bytes at ``offsets[t]``; −1 is idle.

    All that is loaded is used: of a wide load, the assembler would keep the used part only.
    """
    return "\n".join(_kernel(*operation) for operation in OPERATIONS)


def _kernel(operation: str, width: int) -> str:
    element, count, assembly = OPERATIONS[operation, width]
    return f"""
extern "C" __global__ void {operation}_{width}(const int *offsets, char *memory, int *out)
{{
    __shared__ __align__(128) char shared[49152];
    {element} v[{count}] = {{({element})threadIdx.x}};
    int offset = offsets[threadIdx.x];
    char *g = memory + offset;
    unsigned s = (unsigned)__cvta_generic_to_shared(shared) + offset;
    if (offset >= 0)
        asm volatile({assembly} : "memory");
    out[threadIdx.x] = {" ^ ".join(f"v[{n}]" for n in range(count))};
}}"""


def elements() -> Iterator[tuple[str, np.ndarray]]:
    """(name, the element that each lane accesses; −1 for an idle lane)."""
    for stride in (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 32, 33):
        yield f"stride {stride}", LANES * stride
    yield "reversed", LANES[::-1]
    for bit in range(5):
        low = LANES & (1 << bit) - 1
        folded = LANES >> bit + 1 << bit | low
        for stride in (1, 2, 8, 16):
            yield f"lanes that differ in bit {bit} share, stride {stride}", folded * stride
        yield f"lanes that differ in bit {bit} swapped", LANES ^ 1 << bit
    for size in (2, 4, 8, 16):
        yield f"runs of {size} lanes share", LANES // size
        yield f"runs of {size} lanes share, 16 apart", LANES // size * 16
        yield f"runs of {size} lanes share, 32 apart", LANES // size * 32
        yield f"repeats every {size} lanes", LANES % size
        yield f"repeats every {size} lanes, stride 2", LANES % size * 2
        yield f"repeats every {size} lanes, stride 32", LANES % size * 32
    pairs, skip = LANES >> 1, LANES >> 2 << 1 | LANES & 1
    for name, first, second in (
        ("bit 0 then bit 1", pairs, skip),
        ("bit 0 then none", pairs, LANES),
        ("none then bit 0", LANES, pairs),
        ("bit 1 then one", skip, 0 * LANES),
        ("one then none", 0 * LANES, LANES),
        ("one then one", 0 * LANES, 0 * LANES + 5),
        ("one then the same, half a row off", 0 * LANES, 0 * LANES + 16),
        ("one then one a row off", 0 * LANES, 0 * LANES + 32),
    ):
        yield f"halves: {name}", np.where(LANES < 16, first, second)
        yield f"quarters: {name}", np.where(LANES % 16 < 8, first, second)
    chequered = np.where(LANES & 4, LANES >> 1, LANES >> 2 << 1 | LANES & 1)
    yield "fours: bit 0 and bit 1 in turn", chequered
    yield "all but lane 0 share", np.where(LANES == 0, 7, 0)
    yield "all but lane 31 share", np.where(LANES == 31, 7, 0)
    yield "pairs share but lanes 0 and 1", np.where(LANES < 2, LANES + 40, LANES >> 1)
    for name, active in (
        ("even lanes", LANES % 2 == 0),
        ("odd lanes", LANES % 2 == 1),
        ("lanes 0 1 4 5 …", LANES & 2 == 0),
        ("every 4th lane", LANES % 4 == 0),
        ("the first half", LANES < 16),
        ("the second half", LANES >= 16),
        ("the first quarter", LANES < 8),
        ("quarters 0 and 2", LANES & 8 == 0),
        ("quarters 0 and 3", (LANES < 8) | (LANES >= 24)),
        ("lane 0", LANES == 0),
        ("lanes 0 and 1", LANES < 2),
        ("lanes 0 and 16", LANES % 16 == 0),
        ("lanes 0 and 8", (LANES == 0) | (LANES == 8)),
        ("all but lane 5", LANES != 5),
    ):
        yield f"only {name}, stride 1", np.where(active, LANES, IDLE)
        yield f"only {name}, stride 2", np.where(active, 2 * LANES, IDLE)
        yield f"only {name}, one element", np.where(active, 3, IDLE)
    generator = np.random.default_rng(2024)
    for n in range(4):
        yield f"permutation {n}", generator.permutation(32)
    for n in range(4):
        yield f"shuffled pairs {n}", generator.permutation(32) >> 1
    for pool in (2, 3, 4, 8, 16, 32, 64, 256):
        for n in range(3):
            yield f"random in {pool}, {n}", generator.integers(0, pool, 32)
    for n in range(4):
        yield f"random pairs in 64, {n}", np.repeat(generator.integers(0, 64, 16), 2)
    for n in range(4):
        found = generator.integers(0, 64, (8, 2))
        yield f"random bit-1 pairs in 64, {n}", np.tile(found[:, None], (1, 2, 1)).reshape(-1)
    for n in range(4):
        chosen = generator.integers(0, 64, 32)
        yield f"random in 64, some idle {n}", np.where(generator.random(32) < 0.5, chosen, IDLE)


def patterns() -> list[tuple[str, int, str, np.ndarray]]:
    """(operation, width, name, byte offsets) of every launch; offsets (32,) int32, −1 is idle."""
    return [
        (operation, width, name, np.where(lanes < 0, IDLE, lanes * width).astype(np.int32))
        for operation, width in OPERATIONS
        for name, lanes in elements()
    ]


def launch_all() -> None:
    module = load(source=source(), filename="access_patterns.cu")
    memory, out = cp.asarray(np.zeros(1 << 16, np.int8)), cp.asarray(np.zeros(32, np.int32))
    for operation, width, _, offsets in patterns():
        getattr(module, f"{operation}_{width}")(1, 32, (cp.asarray(offsets), memory, out))


if __name__ == "__main__":
    launch_all()
