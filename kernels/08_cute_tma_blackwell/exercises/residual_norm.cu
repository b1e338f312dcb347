// x += delta, and y = x * gamma / sqrt(mean of x^2 of its row + eps), in fp32. x, delta and y have n
// rows of 256 numbers, and gamma has 256. The maps of x, delta and y have boxes of 8 x 256, without
// a swizzle, and zeros past the last row. eps is positive.
// "ptx.cuh" has shared_address, "tma_store.cuh" all of TMA. The kernel is
//     extern "C" __global__ void residual_norm(const __grid_constant__ TensorMap x,
//                                              const __grid_constant__ TensorMap delta,
//                                              const __grid_constant__ TensorMap y,
//                                              const float *gamma, float eps, int n)
// grid (2), or any other, block (288), dynamic shared 0

// TODO: the whole kernel, with its two headers
// SOLUTION
#include "ptx.cuh"
#include "tma_store.cuh"

constexpr int kRows = 8, kColumns = 256; // of a box
constexpr int kStages = 2;

struct Stage {
    float4 x[kRows][kColumns / 4];     // then x + delta
    float4 delta[kRows][kColumns / 4]; // then y
};

__device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ float squares(float4 a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
}

__device__ float4 scaled(float4 a, float by, float4 gamma)
{
    return make_float4(a.x * by * gamma.x, a.y * by * gamma.y, a.z * by * gamma.z,
                       a.w * by * gamma.w);
}

extern "C" __global__ void residual_norm(const __grid_constant__ TensorMap x,
                                         const __grid_constant__ TensorMap delta,
                                         const __grid_constant__ TensorMap y, const float *gamma,
                                         float eps, int n)
{
    __shared__ __align__(128) Stage ring[kStages];
    __shared__ unsigned long long full[kStages], done[kStages];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int boxes = (n + kRows - 1) / kRows;
    const int mine = (boxes - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&done[stage]), kRows); // a lane of each warp
        }
        mbarriers_are_ready();
    }
    __syncthreads(); // the only one

    if (threadIdx.x == 32 * kRows) { // moves all boxes
        auto fetch = [&](int k) {
            Stage &to = ring[k % kStages];
            const unsigned barrier = shared_address(&full[k % kStages]);
            const int row = kRows * ((int)blockIdx.x + k * (int)gridDim.x);
            mbarrier_expect(barrier, sizeof(Stage));
            tma_load(shared_address(to.x), &x, 0, row, barrier);
            tma_load(shared_address(to.delta), &delta, 0, row, barrier);
        };
        for (int k = 0; k < kStages && k < mine; ++k) {
            fetch(k);
        }
        for (int k = 0; k < mine; ++k) {
            Stage &from = ring[k % kStages];
            const int row = kRows * ((int)blockIdx.x + k * (int)gridDim.x);
            mbarrier_wait(shared_address(&done[k % kStages]), k / kStages % 2);
            tma_store(&x, 0, row, shared_address(from.x));
            tma_store(&y, 0, row, shared_address(from.delta));
            tma_commit();
            tma_wait_read<0>(); // before the stage is loaded again, or the block ends
            if (k + kStages < mine) {
                fetch(k + kStages);
            }
        }
    } else if (warp < kRows) { // a row of each box
        const float4 *scale = reinterpret_cast<const float4 *>(gamma);
        const float4 left = scale[lane], right = scale[lane + 32];
        for (int k = 0; k < mine; ++k) {
            Stage &box = ring[k % kStages];
            mbarrier_wait(shared_address(&full[k % kStages]), k / kStages % 2);
            const float4 a = add(box.x[warp][lane], box.delta[warp][lane]);
            const float4 b = add(box.x[warp][lane + 32], box.delta[warp][lane + 32]);
            float sum = squares(a) + squares(b);
            for (int step = 16; step > 0; step /= 2) {
                sum += __shfl_xor_sync(0xffffffff, sum, step);
            }
            const float by = rsqrtf(sum / kColumns + eps);
            box.x[warp][lane] = a;
            box.x[warp][lane + 32] = b;
            box.delta[warp][lane] = scaled(a, by, left);
            box.delta[warp][lane + 32] = scaled(b, by, right);
            writes_are_ready(); // each lane's own, for TMA
            __syncwarp();
            if (lane == 0) {
                mbarrier_arrive(shared_address(&done[k % kStages]));
            }
        }
    }
}
// END
