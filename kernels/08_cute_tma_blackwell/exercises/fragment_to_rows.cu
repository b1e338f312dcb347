// After an mma a warp's 32 threads hold 16 x 8 results, four each. `held` has `tiles` such tiles as
// the threads have stored them: value v of thread t is at 4 t + v of the tile's 128 floats. C gets
// the same tiles in row-major order. The layout is the notebook's, ((4,8),(2,2)):((32,1),(16,8)),
// from (thread, value) to an element of the tile, counted down its columns. A thread has one result
// of C, and neighbouring threads store neighbours. The kernel is
//     extern "C" __global__ void fragment_to_rows(const float *held, float *C)
// grid (tiles), block (128), dynamic shared 0

// TODO: the whole kernel, with CuTe's header if you use it: <cute/layout.hpp>
// SOLUTION
#include <cute/layout.hpp>

using namespace cute;

extern "C" __global__ void fragment_to_rows(const float *held, float *C)
{
    auto element =
        Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8>>>{};
    auto holder = right_inverse(element); // from an element to thread + 32 * value
    const int row = threadIdx.x / 8, column = threadIdx.x % 8;
    const int number = holder(row + 16 * column);
    const size_t tile = (size_t)blockIdx.x * 128;
    C[tile + threadIdx.x] = held[tile + number % 32 * 4 + number / 32];
}
// END
