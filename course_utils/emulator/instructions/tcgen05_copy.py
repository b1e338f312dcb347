"""Into and within tensor memory: tcgen05.cp and shift (sm_100a).

Source: PTX ISA, "tcgen05.cp", "tcgen05.shift", "Optional Decompression", "Data Movement Shape".

Not run on a Blackwell GPU. Where cp puts its rows was checked against CUTLASS 4.2
(``Copy_Traits<SM100_UTCCP_…>`` in copy_traits_sm100.hpp). CUTLASS neither shifts nor decompresses:
the shift follows a public measurement on a B200, the decompression the manual alone.
"""

from __future__ import annotations

import numpy as np

from ..findings.causes import Cause
from ..isa import ptx
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.tensor_memory import LANES, UNIT, TensorWork, memory_of
from .tcgen05_tiles import (
    GROUPS,
    OPERAND_COLUMNS,
    SharedTile,
    Tile,
    container,
    one_by_one,
    unpack,
    word,
)


def _copy_rows(shape: str, multicast: str) -> tuple[int, int, list[np.ndarray]] | None:
    """(rows, chunks of 16 bytes in a row, for each copy of the rows the lanes it goes to)."""
    r = np.arange(128)
    return {
        ("128x256b", ""): (128, 2, [r]),
        ("128x128b", ""): (128, 1, [r]),
        ("4x256b", ""): (4, 2, [32 * r[:4]]),
        ("64x128b", "warpx2::02_13"): (64, 1, [r[:64], r[:64] + 64]),
        ("64x128b", "warpx2::01_23"): (
            64,
            1,
            [r[:64] + r[:64] // 32 * 32, r[:64] + r[:64] // 32 * 32 + 32],
        ),
        ("32x128b", "warpx4"): (32, 1, [r[:32] + 32 * warp for warp in range(4)]),
    }.get((shape, multicast))


def copy(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.cp.cta_group.shape{.multicast}{.dst_fmt.src_fmt} [taddr], s-desc;"""
    words = [m for m in i.modifiers[1:] if m not in GROUPS]
    formats = [m for m in words if m in ("b8x16", "b6x16_p32", "b4x16_p64")]
    others = [m for m in words if m not in formats]
    found = _copy_rows(others[0], "".join(others[1:])) if others else None
    if found is None or formats not in ([], ["b8x16", "b6x16_p32"], ["b8x16", "b4x16_p64"]):
        return None
    rows, chunks, copies = found
    address, descriptor = word(b, i.operands[0], "u32"), word(b, i.operands[1], "u64")
    bits = {"b6x16_p32": 6, "b4x16_p64": 4}.get(formats[-1]) if formats else None
    pair = "cta_group::2" in i.modifiers

    def start(group: Group, n: int) -> None:
        memory, lane = memory_of(group), int(group.lanes[n])
        first, column = divmod(address(group, n), 1 << 16)
        if first > (31 if rows == 4 else 0):
            text = f"copies to lane {first}; the copy starts at lane 0."
            raise memory.misuse(i, lane, Cause.TENSOR_OPERAND_INVALID, text)
        tile = SharedTile.of(descriptor(group, n))
        if isinstance(tile, str):
            text = f"copies from a shared memory descriptor {tile}."
            raise memory.misuse(i, lane, Cause.TENSOR_OPERAND_INVALID, text)
        addresses = tile.chunks(rows, 0, 1, False, chunks)
        blocks = memory.blocks_of(i, lane, pair)
        tiles = [Tile(group, n, i, addresses, block) for block in blocks]
        columns = slice(column, column + 4 * chunks)
        memory.use(i, lane, "tensor", blocks, first + np.concatenate(copies), columns, True)

        def perform() -> None:
            for block, source in zip(blocks, tiles, strict=True):
                data = source.bytes()
                if bits:
                    data = container(unpack(data, bits), bits)
                for lanes in copies:
                    memory.cells[block][first + lanes, columns] = data.view(np.uint32)

        reads = [piece for source in tiles for piece in source.touched()]
        group.batch.engine.start(
            TensorWork(i, np.array([lane]), queue="tensor", perform=perform, reads=reads)
        )

    return one_by_one(i, start)


def shift(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.shift.cta_group.down [taddr]; in each 32 lanes, every lane but the last gets the 32
    bytes that the next lane has.

    The manual's words leave open which way is down and how far it goes; a public measurement on a
    B200 found row i <- row i + 1 within each of the four groups of 32 lanes, all four at once."""
    if not {*i.modifiers[1:]} <= GROUPS | {"down"} or "down" not in i.modifiers:
        return None
    address, pair = word(b, i.operands[0], "u32"), "cta_group::2" in i.modifiers

    def start(group: Group, n: int) -> None:
        memory, lane = memory_of(group), int(group.lanes[n])
        first, column = divmod(address(group, n), 1 << 16)
        if first % UNIT:
            text = f"shifts from lane {first} on; it must be a multiple of {UNIT}."
            raise memory.misuse(i, lane, Cause.TENSOR_OPERAND_INVALID, text)
        blocks, columns = memory.blocks_of(i, lane, pair), slice(column, column + OPERAND_COLUMNS)
        memory.use(i, lane, "tensor", blocks, np.arange(LANES), columns, True)

        def perform() -> None:
            for block in blocks:
                cells = memory.cells[block].reshape(LANES // UNIT, UNIT, -1)[..., columns]
                cells[:, :-1] = cells[:, 1:].copy()

        group.batch.engine.start(TensorWork(i, np.array([lane]), queue="tensor", perform=perform))

    return one_by_one(i, start)
