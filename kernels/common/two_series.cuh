// Two ways to spend time on a number, for the kernels about branches: value = value / 2 + term again
// and again. The two differ in the term only, and the values stay small.

#pragma once

constexpr float kFirstTerm = 1.0f;
constexpr float kSecondTerm = 3.0f;

__device__ inline float series(float value, float term, int steps)
{
    for (int step = 0; step < steps; ++step) {
        value = 0.5f * value + term;
    }
    return value;
}
