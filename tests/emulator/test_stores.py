"""What was stored to is known, even where the value in memory stays as it was."""

import numpy as np

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, Options, StoreRecorder

MODULE = EmulatedModule(
    compile_ptx(
        """
extern "C" __global__ void same(int* y, int n)
{
    const int i = threadIdx.x;
    if (i >= n) return;
    if (i % 4 == 0) y[i] = 0;
    if (i % 4 == 1) atomicAdd(&y[i], 0);
    if (i % 4 == 2) reinterpret_cast<unsigned char*>(&y[i])[3] = 0;
}
""",
        filename="stores.cu",
    )
)


def test_a_store_of_the_old_value_counts_as_a_store():
    array = np.zeros(50, np.int32)
    recorder = StoreRecorder()
    MODULE.entry("same").launch(
        1, 64, (array[8:], np.int32(40)), options=Options(recorder=recorder)
    )
    at = np.arange(42)
    assert not array.any()
    assert (recorder.stored(array[8:]) == ((at < 40) & (at % 4 != 3))).all()
    assert not recorder.stored(array)[:8].any()
    assert not recorder.stored(np.zeros(5)).any()  # another array
