// Two ways to spend time on a number, for the kernels about branches: value = factor * value + term
// again and again. The numbers are exact in fp32, and the values stay small.

#pragma once

constexpr float kFirstFactor = 0.5f, kFirstTerm = 1.0f;
constexpr float kSecondFactor = -0.25f, kSecondTerm = 3.0f;

__device__ inline float series(float value, float factor, float term, int steps)
{
    for (int step = 0; step < steps; ++step) {
        value = factor * value + term;
    }
    return value;
}

__device__ inline float first_series(float value, int steps)
{
    return series(value, kFirstFactor, kFirstTerm, steps);
}

__device__ inline float second_series(float value, int steps)
{
    return series(value, kSecondFactor, kSecondTerm, steps);
}
