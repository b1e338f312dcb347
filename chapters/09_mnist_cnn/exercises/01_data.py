"""The exercises of "The digits"."""

from __future__ import annotations

import math
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import one_thread_each
from course_utils.exercises.authoring.worked import Worked

TYPES: dict[int, np.dtype] = {8: np.dtype(np.uint8), 13: np.dtype(">f4")}


def file_of(kind: int, *shape: int, elements: bytes = b"", magic: bytes = b"\0\0") -> bytes:
    """An IDX file, which may be a wrong one."""
    return magic + bytes([kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + elements


def idx_array(data: bytes) -> np.ndarray | None:
    """What an IDX file holds, by `struct` and in the machine's own order of bytes."""
    if len(data) < 4 or data[0] or data[1] or data[2] not in TYPES:
        return None
    dtype, axes = TYPES[data[2]], data[3]
    if not 1 <= axes <= 8 or len(data) < 4 + 4 * axes:
        return None
    shape = struct.unpack_from(f">{axes}I", data, 4)
    if len(data) - 4 - 4 * axes != math.prod(shape) * dtype.itemsize:
        return None
    if math.prod(length for length in shape if length) * dtype.itemsize >= 2**63:
        return None  # NumPy makes no such shape, not even without elements
    found = np.frombuffer(data, dtype, offset=4 + 4 * axes).reshape(shape)
    return found.astype(dtype.newbyteorder("="))


def in_little_room(idx_array: Callable[..., Any], data: bytes) -> Any:
    """What it answers. MemoryError where it asked for far more memory than the file takes."""
    tracemalloc.start()
    try:
        found = idx_array(data)
        room = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if room > 8_000_000 + 64 * len(data):
        raise MemoryError(f"made room for {room:,} bytes, for a file of {len(data):,}")
    return found


def any_file(rng: np.random.Generator) -> tuple[bytes]:
    """A right file of one to eight axes, or a damaged one."""
    kind = int(rng.choice([8, 13]))
    shape = rng.integers(1, 4, int(rng.integers(1, 9))).tolist()
    if kind == 8:
        elements = rng.integers(0, 256, shape, np.uint8).tobytes()
    else:
        elements = rng.standard_normal(shape).astype(">f4").tobytes()
    whole = file_of(kind, *shape, elements=elements)
    cut = int(rng.integers(0, len(whole)))
    return (rng.choice([whole, whole, whole[:cut], whole + b"\0"]),)


IDX_ARRAY = PythonExercise(
    cases=(
        (file_of(8, 2, 3, 4, elements=bytes(range(24))),),
        (file_of(8, 5, elements=bytes([7, 2, 1, 0, 4])),),
        (file_of(13, 2, 2, elements=struct.pack(">4f", 1, -2.5, 3e8, 0.1)),),
        (file_of(8, 1, 300, elements=bytes(k % 251 for k in range(300))),),
        (b"",),
        (b"\0\0\x08",),
        (b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03",),
        (file_of(8, 4, elements=bytes(3)),),
        (file_of(8, 4, elements=bytes(5)),),
        (file_of(8, 4, elements=bytes(4), magic=b"\0\1"),),
        (file_of(8, 4, elements=bytes(4), magic=b"\1\0"),),
        (file_of(8, 4, elements=bytes(4), magic=b"\x1f\x8b"),),
        (file_of(9, 4, elements=bytes(4)),),
        (file_of(13, 4, elements=bytes(4)),),
        (file_of(8, 65536, 65536, 65536, 65536),),
        (file_of(8, 65536, 65536, elements=bytes(16)),),
        (file_of(8, 65536, 65536),),
        (file_of(8, 0xFFFFFFFF, elements=bytes(255)),),
        (file_of(8, 0xFFFFFFFF, 0xFFFFFFFF, elements=b"1"),),
        (file_of(8, 2, 1, 3, 1, 1, elements=bytes(range(6))),),
        (file_of(13, *[1] * 8, elements=struct.pack(">f", 2.5)),),
        (file_of(13, 5, elements=struct.pack(">5f", math.nan, math.inf, -math.inf, -0.0, 1e-40)),),
        (file_of(8, 3, 0, 2),),
        (file_of(8, 0x80000001, 0),),
        (file_of(8, 500, 601, elements=bytes(k % 251 for k in range(300_500))),),
        (file_of(8, 0, *[0xFFFFFFFF] * 3),),
        (file_of(8, elements=b"1"),),
        *((bytes([0, 0, 8, axes, 0, 0, 0, 200, *range(200)]),) for axes in (0x11, 0x41, 0x81)),
        *((file_of(8, *[1] * axes, elements=b"1"),) for axes in (9, 17, 33, 65, 129, 255)),
    ),
    reference=idx_array,
    call=in_little_room,
    exact=True,
    contract=DrawnCases(any_file),
)


BY_HAND = 5  # bytes, of two threads: one has more than one of them
OF_ONE_THREAD = 66_100  # bytes of 255, whose squares fit into 32 bits no more


def bytes_to_add(rng: np.random.Generator, n: int) -> Given:
    return {
        "x": rng.integers(255 if n == OF_ONE_THREAD else 0, 256, n, np.uint8),
        "sums": np.zeros(2, np.uint64),
        "n": np.int32(n),
    }


def sums_of(given: Given) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.uint64)
    return {"sums": np.array([x.sum(), (x * x).sum()], np.uint64)}


def few_threads(n: int) -> Launch:
    """One that has all bytes. At full size so few that neither a thread's squares nor the block's
    bytes have a sum that fits into 32 bits."""
    if n == BY_HAND:
        return Launch((1,), (2,))
    if n == OF_ONE_THREAD:
        return Launch((1,), (1,), budget=4_000_000)
    return Launch((2,), (256,)) if n < 1 << 20 else Launch((1,), (64,))


EXACT_SUMS = KernelExercise(
    inputs=bytes_to_add,
    reference=sums_of,
    launch=few_threads,
    small=(140_001, 1000, 31, 1),
    full=60_000 * 784,
    budget=100_000,  # a right answer may add each byte in shared memory
    contract=Domain(
        sizes=domain.lengths(most=70_000).with_outlier(n=OF_ONE_THREAD),
        launches=domain.grids((1, 32), (3, 96), (5, 33), (7, 256), (40, 64), (40, 1)),
        values=(
            domain.data(
                "x",
                ("all 255", lambda x, rng: np.full_like(x, 255)),
                domain.ZEROS,
                ("255 at the end", lambda x, rng: np.where(np.arange(x.size) < x.size - 1, 1, 255)),
                domain.TIES,
            ),
        ),
    ),
    method=(
        method.atomics(
            "global",
            at_most=2 * 2 * 8,
            advice="Two additions to sums for each block are enough: bring the block's sums "
            "together in shared memory first.",
        ),
        method.balanced_loads(1.6),
        method.reads_each_once(140_001),
    ),
)


def images_and_order(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """n images, B of them chosen in any order, some perhaps twice; the last is among them."""
    n, rows, pixels = size
    order = rng.integers(0, n, rows, np.int32)
    order[rng.integers(rows)] = n - 1
    return {
        "images": rng.integers(0, 256, (n, pixels), np.uint8),
        "order": order,
        "batch": empty((rows, pixels)),
        **int32s(B=rows, P=pixels),
        "mean": np.float32(0.1307),
        "deviation": np.float32(0.3081),
    }


def batch_of(given: Given) -> dict[str, np.ndarray]:
    chosen = given["images"][given["order"]].astype(np.float64)
    mean, deviation = (float(given[name]) for name in ("mean", "deviation"))
    return {"batch": (chosen / 255 - mean) / deviation}


GATHER_BATCH = KernelExercise(
    inputs=images_and_order,
    reference=batch_of,
    worked=Worked(  # a pixel of 51 is the mean, and 102 more are a deviation
        size=(4, 2, 3),
        values={
            "images": (51, 102, 153, 204, 255, 0, 153, 51, 255, 0, 204, 102),
            "mean": 0.2,
            "deviation": 0.4,
        },
    ),
    launch=lambda size: one_thread_each(size[1] * size[2]),
    small=((7, 5, 781), (131, 7, 784), (3, 4, 49), (1, 1, 1)),
    axes={"batch": ("image", "pixel")},
    full=(60_000, 1024, 784),
    reduction=lambda size: 100,  # near the mean a difference cancels, by whatever formula
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 31, 131, 1031), B=(1, 2, 31, 65, 129), P=(1, 2, 49, 255, 784)
        ).with_outlier(n=65_543, B=1031, P=4099),
        values=(
            domain.data(
                "images",
                domain.ZEROS,
                ("all 255", lambda x, rng: np.full_like(x, 255)),
                domain.RISING,
            ),
            domain.data(
                "order",
                ("of one image alone", lambda x, rng: np.full_like(x, x.max())),
                domain.RISING,
            ),
            domain.together({"mean": 0.0, "deviation": 1.0}, {"mean": 0.2860, "deviation": 0.3530}),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(9, 16, 784)),
        method.no_redundant_work(),
        method.coalesced(
            "load",
            at_most=2.5,
            size=(9, 16, 784),
            advice="Neighbouring threads are to read neighbouring bytes: thread i makes element i "
            "of the batch.",
        ),
    ),
)


def steps(rng: np.random.Generator, n: int, choices: tuple[int, ...]) -> Given:
    """Shifts for n images. One of them stays: not all of the result is 0, however small it is."""
    found = {name: rng.choice(choices, n).astype(np.int32) for name in ("down", "right")}
    stays = rng.integers(n)
    found["down"][stays] = found["right"][stays] = 0
    return found


def images_and_shifts(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    n, h, w = size
    images = {"x": floats(rng, size), "y": empty(size)}
    sizes = {"N": np.int32(n), "H": np.int32(h), "W": np.int32(w)}
    found = steps(rng, n, (-2, -1, 0, 1, 2))
    if max(h, w) > 300:  # a long step along a long side, and only there
        found["down"][:], found["right"][:] = 150 * (h > 300), -150 * (w > 300)
    return images | found | sizes


def shifted(given: Given) -> dict[str, np.ndarray]:
    x, y = given["x"], np.zeros_like(given["x"])
    _, h, w = x.shape
    for k, (down, right) in enumerate(
        zip(given["down"].tolist(), given["right"].tolist(), strict=True)
    ):
        rows = slice(max(down, 0), max(min(h, h + down), 0))
        columns = slice(max(right, 0), max(min(w, w + right), 0))
        from_rows = slice(max(-down, 0), max(min(h, h - down), 0))
        from_columns = slice(max(-right, 0), max(min(w, w - right), 0))
        if abs(down) < h and abs(right) < w:
            y[k, rows, columns] = x[k, from_rows, from_columns]
    return {"y": y}


def shifts(label: str, *choices: int, along: str = "") -> InputClass:
    """Steps of these lengths, in both directions or ``along`` one, "down" or "right", alone."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        found = steps(rng, len(given["down"]), choices)
        return {name: n if along in ("", name) else 0 * n for name, n in found.items()}

    return InputClass(label, change)


SHIFT_IMAGES = KernelExercise(
    inputs=images_and_shifts,
    reference=shifted,
    launch=lambda size: one_thread_each(math.prod(size)),
    small=((5, 28, 28), (97, 28, 28), (3, 7, 13), (2, 1, 5), (1, 1, 1)),
    axes={"y": ("image", "row", "column")},
    full=(60_000, 28, 28),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 31, 97), H=(1, 2, 3, 28, 61), W=(1, 2, 5, 28, 67)
        ).with_outlier(N=1031, H=1031, W=1031),
        values=(
            domain.data("x", *domain.ANY_FLOAT),
            (
                shifts("shifts by many times 256", -65_536, -256, 256, 65_536),
                shifts("shifts down by many times 256", -65_536, 256, 65_536, along="down"),
                shifts(
                    "shifts to the right by many times 256", -65_536, 256, 65_536, along="right"
                ),
                shifts("shifts of 1", -1, 1),
                shifts("no shift", 0),
                shifts("shifts past the image", -1_000_000, -29, -28, 28, 29, 1_000_000),
                shifts("shifts of nearly all", -27, 27),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(), method.no_redundant_work()),
)
