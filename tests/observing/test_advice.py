"""A profile says what stands out, and nothing where its numbers are good."""

import pytest

from course_utils import cp, load, profile

SOURCE = """#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(name) extern "C" __global__ void name(const float *x, float *y, int n)
KERNEL(scale) { y[I] = 2 * x[I]; }
KERNEL(one) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
KERNEL(rows) { y[I] = x[I * 32 % 1024] + x[(I * 32 + 1) % 1024]; }
KERNEL(columns) { y[I * 8] = x[I]; }
KERNEL(banks) {
    __shared__ float tile[32][32];
    tile[threadIdx.x][n] = x[I];
    y[I] = tile[threadIdx.x][n];
}
KERNEL(own) {
    float room[16];
    for (int j = 0; j < 16; ++j) room[j] = x[(I + j) % 32];
    y[I] = room[n * threadIdx.x % 16];
}
KERNEL(total) { atomicAdd(y, x[I]); }
KERNEL(apart) { atomicAdd(y + I, x[I]); }
KERNEL(halves) {
    float v = x[I];
    if (I % 2) for (int k = 0; k < n + 20; ++k) v = v * 1.01f + 1;
    else for (int k = 0; k < n + 20; ++k) v = v * 0.99f - 1;
    y[I] = v;
}
KERNEL(literal) { y[I] = 0.5 * x[I] * (1.0 + x[I]); }
extern "C" __global__ void add_bytes(const unsigned char *x, unsigned char *y, int n) {
    y[I] = x[I] + n;
}
KERNEL(says) { printf("%d", n); y[I] = 2 * x[I]; }
KERNEL(twice_at_one) {
    atomicAdd(y, x[I]);
    atomicAdd(y + 1, x[I]);
}
"""
WITH_DOUBLE = """
extern "C" __global__ void sum(const float *x, float *y, int n) {
    double s = 0;
    for (int i = 0; i < n; ++i) s += x[i * 32 + threadIdx.x];
    y[threadIdx.x] = s;
}"""


@pytest.fixture(scope="module")
def advice():
    module = load(source=SOURCE)

    def of(name, block=32, dtype=cp.float32):
        x, y = cp.ones(1024, dtype), cp.zeros(1024, dtype)
        return profile(module[name], 1, block, (x, y, 3)).advice

    return of


@pytest.mark.parametrize(
    "name, begins, lesson",
    [
        ("rows", "line 5: 32 sectors per load request, and 4", "04/05"),
        ("columns", "line 6: 32 sectors per store request, and 4", "04/05"),
        ("banks", "line 9: 32 wavefronts per shared store, and 1", "04/05"),
        ("own", "line 15: ", "03/03"),
        ("total", "line 17: 32 lanes", "04/06"),
        ("halves", "only ", "04/07"),
        ("literal", "line 25: 96 operations", "04/09"),
        ("twice_at_one", "lines 31, 32: 32 lanes", "04/06"),
    ],
)
def test_a_bad_number_gets_a_sentence(advice, name, begins, lesson):
    found = advice(name)
    assert any(line.startswith(begins) and line.endswith(f"({lesson})") for line in found), found


@pytest.mark.parametrize("name", ["scale", "apart", "says"])
def test_good_numbers_get_none(advice, name):
    assert advice(name) == []


def test_a_narrow_block_and_a_single_thread_are_told_apart(advice):
    assert "8 of 32 threads" in advice("scale", block=8)[0]
    assert "one thread" in advice("one", block=1)[0]


def test_bytes_are_best_loaded_several_at_once(advice):
    assert len(advice("add_bytes", dtype=cp.uint8)) == 1


def test_a_double_that_the_source_asks_for_is_no_slip():
    x, y = cp.ones(1024, cp.float32), cp.zeros(32, cp.float32)
    assert profile(load(source=WITH_DOUBLE), 1, 32, (x, y, 32)).advice == []
