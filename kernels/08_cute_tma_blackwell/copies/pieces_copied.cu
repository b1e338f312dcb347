// y[i] = x[i] for n floats, n a multiple of 4. A thread has four neighbours, and COPY moves them.
// Idea: two tensors say what is to be moved, and CuTe chooses the instructions. Of a layout that it
// knows whole (PIECE as it stands) `copy` makes a load and a store of 16 bytes; x and y then begin at
// multiples of 16 bytes, unchecked. `columns` is for layouts of which it knows a part.
// Limit: memory bandwidth.
// grid (ceil(n / 1024)), block (256), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

#ifndef PIECE
#define PIECE Layout<_4>{}
#endif
#ifndef COPY
#define COPY copy
#endif

extern "C" __global__ void pieces_copied(const float* x, float* y, int n, int columns)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= n) return;
    Tensor from = make_tensor(make_gmem_ptr(x + first), PIECE);
    Tensor to = make_tensor(make_gmem_ptr(y + first), PIECE);
    COPY(from, to);
}
