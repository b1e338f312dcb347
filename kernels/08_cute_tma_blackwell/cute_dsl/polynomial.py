"""y[i] = a polynomial of x[i] for n fp32 elements, in CUTLASS's Python DSL: one thread an element.

The coefficients are a tuple of Python numbers, highest power first: the compiler knows them, the
kernel gets none. So each tuple makes a kernel of its own.
Limit: memory bandwidth, as long as the coefficients are few.
"""

import tempfile

import cutlass
import cutlass.cute as cute


@cute.kernel
def polynomial(x: cute.Pointer, y: cute.Pointer, n: cutlass.Int32, coefficients: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 256 + thread
    all_x = cute.make_tensor(x, cute.make_layout(n))
    all_y = cute.make_tensor(y, cute.make_layout(n))
    print("n is", n, "and i is", i)
    if i < n:
        total = cutlass.Float32(coefficients[0])
        for power in cutlass.range_constexpr(1, len(coefficients)):
            print("step", power, "adds", coefficients[power])
            total = total * all_x[i] + coefficients[power]
        all_y[i] = total


@cute.jit
def launch(x: cute.Pointer, y: cute.Pointer, n: cutlass.Int32, coefficients: cutlass.Constexpr):
    """As many blocks as cover n."""
    polynomial(x, y, n, coefficients).launch(grid=(cute.ceil_div(n, 256), 1, 1), block=(256, 1, 1))


def ptx(coefficients, arch="sm_90a"):
    """The PTX that the DSL makes of it for `arch`; it asks for no GPU."""
    pointer = cute.runtime.make_ptr(cutlass.Float32, 0, cute.AddressSpace.gmem)
    arguments = pointer, pointer, cutlass.Int32(0), tuple(coefficients)
    with tempfile.TemporaryDirectory() as folder:  # of the file that the compiler leaves behind
        options = f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}"
        return cute.compile(launch, *arguments, options=options).__ptx__
