// Products of fp32 numbers on tensor cores, with nearly the error of fp32: a number is the sum of two
// TF32 numbers, and of the four products of two numbers three count.

#pragma once

// A number as high + low, as an mma takes them: it drops the bits beyond TF32's. `high` is rounded
// to the nearest: cut off, it would be below the number more often than not, and `low` twice as large.
struct Pair {
    unsigned high, low;

    __device__ Pair() {}
    __device__ explicit Pair(float value)
        : high((__float_as_uint(value) + 0x1000) & 0xffffe000),
          low(__float_as_uint(value - __uint_as_float(high)))
    {
    }
};

// The numbers that a lane has of the left operand, 16 x 8.
struct PairA {
    unsigned high[4], low[4];

    __device__ PairA() {}
    __device__ explicit PairA(const float (&values)[4])
    {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Pair both(values[i]);
            high[i] = both.high;
            low[i] = both.low;
        }
    }
};

// mma.m16n8k8, sum += a b, which the compiler may move: nothing but `sum` changes.
__device__ inline void mma_tf32_movable(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                        unsigned b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum += a b. The product is added up from 0 and then added to the sum: tensor cores cut sums off, so
// a long one would drift towards 0.
__device__ inline void add_product(float (&sum)[4], const PairA &a, Pair b0, Pair b1)
{
    float product[4] = {};
    mma_tf32_movable(product, a.low, b0.high, b1.high); // small ones first
    mma_tf32_movable(product, a.high, b0.low, b1.low);
    mma_tf32_movable(product, a.high, b0.high, b1.high);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        sum[i] += product[i];
    }
}

// The same for a sum of a few products, in three parts, none of which waits for another.
struct PairSum {
    float of[3][4] = {};

    __device__ void add(const PairA &a, Pair b0, Pair b1)
    {
        mma_tf32_movable(of[0], a.low, b0.high, b1.high);
        mma_tf32_movable(of[1], a.high, b0.low, b1.low);
        mma_tf32_movable(of[2], a.high, b0.high, b1.high);
    }

    __device__ void add_to(float (&sum)[4]) const
    {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            sum[i] += of[0][i] + of[1][i] + of[2][i];
        }
    }
};
