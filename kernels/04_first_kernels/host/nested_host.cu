// A whole program in C++: kernels that launch kernels (dynamic parallelism), and how to do without.
// A table has 1000 rows of different lengths, stored one behind the other: row r is elements first[r]
// up to first[r + 1]. All its elements are to be doubled. Three ways: a thread for each row that
// loops; a thread for each row that launches a grid as large as the row; a block for each row.
// Build and run: nvcc -O2 -rdc=true -arch=native -I kernels nested_host.cu -o nested && ./nested

#include <vector>

#include "04_first_kernels/host/check.h"

constexpr int kRows = 1000;
constexpr int kThreads = 256;

__global__ void loop_over_row(const int *first, float *table)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < kRows) {
        for (int i = first[row]; i < first[row + 1]; ++i) {
            table[i] *= 2.0f;
        }
    }
}

__global__ void child(float *row, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        row[i] *= 2.0f;
    }
}

__global__ void launch_for_row(const int *first, float *table)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < kRows) {
        int length = first[row + 1] - first[row];
        int blocks = (length + kThreads - 1) / kThreads;
        child<<<blocks, kThreads, 0, cudaStreamFireAndForget>>>(&table[first[row]], length);
    }
}

__global__ void block_for_row(const int *first, float *table)
{
    int row = blockIdx.x;
    for (int i = first[row] + threadIdx.x; i < first[row + 1]; i += blockDim.x) {
        table[i] *= 2.0f;
    }
}

int main()
{
    std::vector<int> first(kRows + 1);
    for (int row = 0; row < kRows; ++row) {
        int length = row % 100 == 0 ? 100'003 : 1 + row % 61; // a few rows are long, most are short
        first[row + 1] = first[row] + length;
    }
    const int n = first[kRows];
    std::vector<float> table(n, 1.0f);
    int *d_first;
    float *d_table;
    CHECK(cudaMalloc(&d_first, (kRows + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_table, n * sizeof(float)));
    CHECK(cudaMemcpy(d_first, first.data(), (kRows + 1) * sizeof(int), cudaMemcpyHostToDevice));

    const char *names[] = {"a thread for each row, which loops",
                           "a thread for each row, which launches", "a block for each row"};
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    int wrong = 0;
    for (int way = 0; way < 3; ++way) {
        CHECK(cudaMemcpy(d_table, table.data(), n * sizeof(float), cudaMemcpyHostToDevice));
        for (int run = 0; run < 3; ++run) { // the last run counts
            CHECK(cudaEventRecord(start));
            if (way == 0) {
                loop_over_row<<<(kRows + 31) / 32, 32>>>(d_first, d_table);
            } else if (way == 1) {
                launch_for_row<<<(kRows + 31) / 32, 32>>>(d_first, d_table);
            } else {
                block_for_row<<<kRows, kThreads>>>(d_first, d_table);
            }
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(stop));
            CHECK(cudaEventSynchronize(stop)); // a kernel has ended when its children have
        }
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        std::vector<float> back(n);
        CHECK(cudaMemcpy(back.data(), d_table, n * sizeof(float), cudaMemcpyDeviceToHost));
        for (float value : back) {
            wrong += value != 8.0f; // 1, doubled three times
        }
        printf("%-40s %8.3f ms\n", names[way], milliseconds);
    }
    printf("wrong elements: %d\n", wrong);
    return wrong != 0;
}
