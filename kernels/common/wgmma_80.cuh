// wgmma with 80 or 40 columns of sums, for tiles of 80 queries: operand A as usual, or across.
// Include it before the code that calls these. sm_90a only.

#pragma once

#include "wgmma_across.cuh"

#define WGMMA_20(c, i) WGMMA_16(c, i), WGMMA_4(c, i + 16)
#define WGMMA_40(c, i) WGMMA_32(c, i), WGMMA_8(c, i + 32)
#define WGMMA_NUMBERS_20 WGMMA_TEN() "%10, %11, %12, %13, %14, %15, %16, %17, %18, %19"
#define WGMMA_NUMBERS_40 \
    WGMMA_TEN() WGMMA_TEN(1) WGMMA_TEN(2) "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39"

WGMMA(wgmma_bf16, float, "+f", 40, "m64n80k16.f32.bf16.bf16", 40, 41, 42, ", 1, 1, 0, 0")

// wgmma.mma_async: sum = a b, with a by a descriptor of wgmma_tile_across and b by wgmma_tile.
WGMMA(wgmma_a_across, float, "+f", 20, "m64n40k16.f32.bf16.bf16", 20, 21, 22, ", 1, 1, 1, 0")
WGMMA(wgmma_a_across, float, "+f", 40, "m64n80k16.f32.bf16.bf16", 40, 41, 42, ", 1, 1, 1, 0")
