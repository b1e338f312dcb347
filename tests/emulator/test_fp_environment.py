"""The emulator leaves Python as it found it: the processor's arithmetic, and what others import.

A launch may switch the processor to flushing subnormals (``fpenv.py``), and the compiler writes
into buffers that Python lends it. Neither may be noticed afterwards, in any thread.
"""

import ctypes
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from course_utils import load, profile, sanitize
from course_utils.devices import emulated_cupy
from course_utils.emulator import KernelFault
from course_utils.emulator.numerics import fpenv

ROOT = Path(__file__).parents[2]
# Words of fenv_t in glibc: byte offset, type, bits that are settings and not flags of past errors.
SETTINGS = {
    "x86_64": ((0, ctypes.c_uint16, 0xFFFF), (28, ctypes.c_uint32, ~0x3F)),
    "aarch64": ((0, ctypes.c_uint32, ~0),),
}.get(platform.machine(), ())
SOURCE = """
extern "C" __global__ void halve(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.5f;
}
"""
TINY = np.finfo(np.float32).tiny


def environment() -> tuple:
    """Rounding, flushing and trapping of the calling thread, as registers and as arithmetic."""
    words = []
    if SETTINGS and sys.platform == "linux":
        state = (ctypes.c_uint8 * 64)()
        ctypes.CDLL("libm.so.6").fegetenv(state)
        words = [kind.from_buffer(state, at).value & bits for at, kind, bits in SETTINGS]
    with np.errstate(all="ignore"):
        half = np.full(16, TINY) * np.float32(0.5)  # subnormal
        third = np.float32([1, -1]) / np.float32(3)
        return (
            *words,
            half.tobytes(),
            third.tobytes(),
            sys.float_info.min / 2,
            *np.geterr().values(),
        )


def fast_kernel():
    return load(source=SOURCE, options=("--use_fast_math",), device="emulator")


def numbers():
    return emulated_cupy.asarray(np.full(100, TINY))


def launches():
    x = numbers()
    fast_kernel()(1, 128, (x, np.int32(100)))
    assert not x.get().any(), "the kernel was to flush"


def profiles():
    profile(fast_kernel(), 1, 128, (numbers(), np.int32(100)))


def sanitizes():
    assert sanitize(fast_kernel(), 1, 128, (numbers(), np.int32(128))).findings


def launches_with_a_fault():
    with pytest.raises(KernelFault):
        fast_kernel()(1, 128, (numbers(), np.int32(128)))


@pytest.mark.parametrize("work", [launches, profiles, sanitizes, launches_with_a_fault])
def test_the_arithmetic_of_every_thread_is_the_same_after_the_emulator_ran(work):
    before = environment()
    with ThreadPoolExecutor(1) as older, ThreadPoolExecutor(1) as other:
        assert older.submit(environment).result() == before
        work()
        other.submit(work).result()
        after = [environment(), older.submit(environment).result()]
        after.append(other.submit(environment).result())
    with ThreadPoolExecutor(1) as newer:
        after.append(newer.submit(environment).result())
    assert after == [before] * 4


def test_the_check_itself_would_see_a_processor_that_flushes():
    before = environment()
    with fpenv.hardware_ftz() as effective:
        assert not effective or environment() != before


AFTERWARDS = """
import sys
from importlib.util import find_spec
from pathlib import Path
sys.path.insert(0, str(Path("tests/emulator").resolve()))
import test_fp_environment as those
those.launches(), those.profiles(), those.sanitizes()
spaces = {"f-string": eval("f'{1} {2}'")[1], "bytes": bytes([32]).decode(), "text": chr(32)}
assert all(ord(space) == 32 for space in spaces.values()), spaces
if find_spec("torch"):
    import torch
    torch.library.custom_op("course::noted", lambda text: None, mutates_args=(),
                            schema="(str text) -> ()")
    assert float(torch.full((8,), 2.0**-127).sum()) == 2.0**-124
print("fine")
"""


def test_python_reads_programs_and_imports_torch_after_the_emulator_ran():
    found = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert found.stdout.split() == ["fine"], found.stderr
