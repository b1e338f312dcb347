// What computes the operator on CUDA tensors: on their device, on PyTorch's current stream.
#include <cuda_runtime.h>

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/macros.h>

#include "polynomial.h"

namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void polynomial_kernel(const T* x, T* y, Polynomial<T> polynomial, size_t n)
{
    const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n) y[i] = polynomial(x[i]);
}

template <typename T>
void launch(
    const Tensor& x, const Tensor& y, const Polynomial<T>& polynomial, cudaStream_t stream)
{
    const size_t n = x.numel();
    if (n == 0) return; // a grid of no blocks is an error
    const size_t blocks = (n + kThreads - 1) / kThreads;
    polynomial_kernel<<<blocks, kThreads, 0, stream>>>(
        x.const_data_ptr<T>(), y.mutable_data_ptr<T>(), polynomial, n);
    STD_CUDA_KERNEL_LAUNCH_CHECK();
}

Tensor polynomial_cuda(const Tensor& x, const std::vector<double>& coefficients)
{
    check(x, coefficients);
    const auto device = x.get_device_index();
    const torch::stable::accelerator::DeviceGuard guard(device);
    void* stream = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
    Tensor y = torch::stable::empty_like(x);
    if (x.scalar_type() == ScalarType::Float) {
        launch(x, y, Polynomial<float>(coefficients), static_cast<cudaStream_t>(stream));
    } else {
        launch(x, y, Polynomial<double>(coefficients), static_cast<cudaStream_t>(stream));
    }
    return y;
}

} // namespace

STABLE_TORCH_LIBRARY_IMPL(course_polynomial, CUDA, m)
{
    m.impl("polynomial", TORCH_BOX(&polynomial_cuda));
}
