// What the CPU's and the GPU's part of the operator share.
#pragma once

#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

constexpr int kMostCoefficients = 16;

// c[0] + c[1] at + c[2] at² + ..., with its coefficients inside: an argument that needs no memory.
template <typename T>
struct Polynomial {
    T c[kMostCoefficients];
    int count;

    explicit Polynomial(const std::vector<double>& coefficients) : count(coefficients.size())
    {
        for (int k = 0; k < count; ++k) c[k] = static_cast<T>(coefficients[k]);
    }

#ifdef __CUDACC__
    __host__ __device__
#endif
        T
        operator()(T at) const
    {
        T value = c[count - 1];
        for (int k = count - 2; k >= 0; --k) value = value * at + c[k];
        return value;
    }
};

inline void check(const Tensor& x, const std::vector<double>& coefficients)
{
    const size_t count = coefficients.size();
    STD_TORCH_CHECK(
        count >= 1 && count <= kMostCoefficients, "polynomial: takes 1 to ", kMostCoefficients,
        " coefficients, got ", count);
    const ScalarType type = x.scalar_type();
    STD_TORCH_CHECK(
        type == ScalarType::Float || type == ScalarType::Double,
        "polynomial: x is neither float32 nor float64. Convert it: x.float()");
    STD_TORCH_CHECK(
        x.is_contiguous(), "polynomial: x has gaps or another order. Call x.contiguous()");
}
