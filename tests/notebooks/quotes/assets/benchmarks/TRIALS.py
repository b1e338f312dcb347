from tests.notebooks.drawn import milliseconds

GEMM = "a trial on the H200, 2026-11-30; no record"
FORWARD = "one run of all variants of the forward pass on an H200, 30 November 2026"
EARLIER = "another such run, of the same variants without the later changes"
RIVALS = "one run beside the records' kernels, in ten turns, on the H200, 2026-11-30; no record"
QUOTES = {"and ours 59.9 µs by the records": lambda: 1000 * milliseconds("radix_sort", 1 << 20)}
FACTS = {
    "unsorted | 22.1 µs | 11.8 µs |": RIVALS,
    "unsorted | 30.8 µs | 16.5 µs |": RIVALS,
    "fp32 | Liger 0.8.5 | 0.129 ms | 0.125 ms |": RIVALS,
    "fp32 | Liger 0.8.5 | 0.130 ms | 0.125 ms |": RIVALS,
    "bf16 | Liger 0.8.5 | 64.1 µs | 63.3 µs |": RIVALS,
    "bf16 | Liger 0.8.5 | 0.207 ms | 0.120 ms |": RIVALS,
    "fp32 | Liger 0.8.5 | 0.250 ms | 0.195 ms |": RIVALS,
    "bf16 | Liger 0.8.5 | 0.182 ms | 0.114 ms |": RIVALS,
    "takes 1.558 ms with its": RIVALS,
    "and 1.443 ms without": RIVALS,
    "cuBLAS takes 1.428 ms": RIVALS,
    "list 1.371 ms": RIVALS,
    "within 3 % of the time": RIVALS,
    "takes 64.9 µs instead of 79.6 µs": RIVALS,
    "1.8 % more: 1.417 ms, not 1.392 ms": GEMM,
    "27.6 µs, not 26.8 µs": GEMM,
    "48.6 µs, as long as two waves": GEMM,
    "not 37.5 µs": GEMM,
    "36.9 to 37.9 µs": GEMM,
    "49.6 µs, likewise": GEMM,
    "3.9 % more in a burst, 2 % sustained": GEMM,
    "27.3 µs, not 26.4 µs": GEMM,
    "at 8192 0.6 % less in a burst": GEMM,
    "without sharing 36.7 µs": GEMM,
    "3.2, 0.7 and 1.5 % more": GEMM,
    "+9 %, the last tile is nearly empty": EARLIER,
    "nearly empty) | −2 % | −2 % | 0 % |": FORWARD,  # the first figure is predicted
    "160 keys in a tile | −3 % | 0 % | −1 % |": FORWARD,
    "three stages | −1 % | +2 % | −1 % |": FORWARD,
    "80 keys in a tile | 0 % | +10 % |": FORWARD,
    "product | −5 % | +3 % | +1 % |": FORWARD,
    "product | −3 % | +1 % | 0 % |": EARLIER,
    "no turns | 0 % | −1 % | 0 % |": FORWARD,
    "| a loss | +5 % | +5 % |": EARLIER,
    "232 | 0 % | +2 % | 0 % |": EARLIER,
    "the keys | −2.5 % | +1 % |": EARLIER,
    "1,650 of 1,980 MHz": "block 0's clocks over the time, in that run, and nvidia-smi's maximum",
}
GIVEN = (
    "2.6 % less time",
    "| 3 % more |",
    "11 waves of 1.5 times the work",
    "24.5 µs",
    "36.3 µs",
)  # predictions, and arithmetic
