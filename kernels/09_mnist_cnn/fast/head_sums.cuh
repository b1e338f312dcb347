// The sums of a block of linear_layers.cu over its images, in one row: the gradients of weight4,
// bias3 and bias4, and the losses.

#pragma once

#include "batch.cuh"

constexpr int kHeadBias3 = kClasses * kHidden; // where they begin
constexpr int kHeadBias4 = kHeadBias3 + kHidden;
constexpr int kHeadLoss = kHeadBias4 + kClasses;
constexpr int kHeadSums = kHeadLoss + 1;
