"""How tests launch the kernels of chapter 05 that no benchmark measures."""

from runpy import run_path

import numpy as np
from launchers import Chapter, work

from course_utils import cp
from course_utils.paths import KERNELS

CHAPTER = Chapter("05_cuda_libraries")
kernel = CHAPTER.kernel

# --- 02: random numbers ---

SEED = 0x123456789ABC  # both halves of the key
OURS = run_path(str(KERNELS / "07_pytorch_extensions/philox.py"))


@CHAPTER.launch("philox_bits", sizes=[(1, 1), (30, 4), (4099, 100), (4096, 65536)])
def philox_bits(name, n, streams):
    out = cp.empty(n, cp.uint32)
    turn, stream = np.divmod(np.arange(-(-n // 4)), streams)
    expected = OURS["philox"](SEED, stream, turn).ravel()[:n]
    return work(kernel(name), 3, 64, (out, SEED, streams, n), out, expected)


@CHAPTER.launch("philox_torch", sizes=[(1, 1), (255, 1), (3000, 2), (4099, 5)])
def philox_torch(name, n, blocks):
    out, threads = cp.empty(n, cp.float32), 256 * blocks
    before, stream = np.divmod(np.arange(n), threads)
    four = OURS["philox"](SEED, stream, 5 + before // 4)
    drawn = OURS["uniform"](four[np.arange(n), before % 4])
    return work(kernel(name), blocks, 256, (out, SEED, 20, n), out, np.where(drawn == 1, 0, drawn))


@CHAPTER.launch("own_seeds", sizes=[(1, 1), (3, 257)])
def own_seeds(name, drawn, threads):
    out = cp.empty((drawn, threads), cp.uint32)
    expected, state = [], np.arange(threads, dtype=np.uint32)
    for _ in range(drawn):
        state = np.uint32(1664525) * state + np.uint32(1013904223)
        expected.append(state)
    return work(kernel(name), -(-threads // 256), 256, (out, drawn, threads), out, np.array(expected))
