"""Our Philox beside cuRAND's and PyTorch's own, where they are."""

import ctypes
from runpy import run_path

import numpy as np
import pytest

from course_utils import ceil_div, cp, load, needs
from course_utils.benchmarks.libraries.curand import uniform_floats
from course_utils.paths import KERNELS

FOLDER = "05_cuda_libraries/random"
OURS = run_path(str(KERNELS / "07_pytorch_extensions/philox.py"))
PHILOX = 161  # CURAND_RNG_PSEUDO_PHILOX4_32_10
SEED = 0x123456789ABC


@pytest.mark.skipif(needs.lacking("curand") is not None, reason="needs cuRAND")
@pytest.mark.parametrize("offset", [0, 3, 262_147])
def test_our_order_is_that_of_curand_s_host_api(offset):
    pathfinder = pytest.importorskip("cuda.pathfinder")
    library = ctypes.CDLL(pathfinder.load_nvidia_dynamic_lib("curand").abs_path)
    n, handle = 1001, ctypes.c_void_p()
    theirs = np.empty(n, np.uint32)
    statuses = (
        library.curandCreateGeneratorHost(ctypes.byref(handle), PHILOX),
        library.curandSetPseudoRandomGeneratorSeed(handle, ctypes.c_ulonglong(SEED)),
        library.curandSetGeneratorOffset(handle, ctypes.c_ulonglong(offset)),
        library.curandGenerate(handle, ctypes.c_void_p(theirs.ctypes.data), ctypes.c_size_t(n)),
        library.curandDestroyGenerator(handle),
    )
    assert statuses == (0,) * 5
    turn, stream = np.divmod(np.arange(offset // 4, (offset + n + 3) // 4), 65536)
    ours = OURS["philox"](SEED, stream, turn).ravel()
    np.testing.assert_array_equal(theirs, ours[offset % 4 :][:n])


@pytest.mark.gpu
def test_uniform_floats_are_curand_s_bit_by_bit():
    n, seed = 1 << 20, 1234
    ours, theirs = cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    load(f"{FOLDER}/philox_uniform.cu")(n // 1024, 256, (ours, seed, n))
    uniform_floats(theirs, seed)["cuRAND Philox"]()
    assert (ours == theirs).all()


@pytest.mark.gpu
@pytest.mark.parametrize("n", [5, 1000, 3_000_001])
def test_our_stream_is_torch_rand_s_bit_by_bit(n):
    torch = pytest.importorskip("torch")
    gpu = torch.cuda.get_device_properties(0)
    resident = gpu.multi_processor_count * (gpu.max_threads_per_multi_processor // 256)
    torch.manual_seed(SEED)
    ours, theirs = cp.empty(n, cp.float32), torch.rand(n, device="cuda")
    load(f"{FOLDER}/philox_torch.cu")(min(ceil_div(n, 256), resident), 256, (ours, SEED, 0, n))
    assert bool((torch.as_tensor(ours, device="cuda") == theirs).all())
