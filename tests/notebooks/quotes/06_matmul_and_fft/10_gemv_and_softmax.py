from tests.notebooks.drawn import bytes_per_second, case, milliseconds, record
from tests.notebooks.quoting import about

SQUARE, LARGE = [8192, 8192], [16384, 16384]
SHORT, LONG, LONGEST = [16384, 4096], [8192, 32768], [1024, 131072]


def rate(kernel, size):
    return bytes_per_second(kernel, size) / 1e12


def copy():
    return record("kernels")["copy_bytes_per_second"] / 1e12


def library(kernel, size, name):
    """Milliseconds of a library beside a kernel."""
    return case(kernel, size)["libraries"][name]


def times_as_fast(kernel, size, name):
    return library(kernel, size, name) / milliseconds(kernel, size)


def copy_beside(size):
    """How many times as fast as PyTorch's compiler a kernel at the rate of the copy is."""
    moved = case("softmax_async", size)["bytes"]
    return library("softmax_async", size, "torch.compile") * copy() * 1e9 / moved


def own_backward():
    """How many times as long PyTorch's own kernel takes."""
    name = "torch._softmax_backward_data"
    return [times_as_fast("softmax_backward", size, name) for size in (SHORT, LONG, LONGEST)]


def backward_rates():
    return [rate("softmax_backward", size) for size in (SHORT, LONG, LONGEST)]


def compiled():
    """Milliseconds of the compiled formula beside any of the three kernels that have long rows."""
    kernels = "softmax_online", "softmax_cluster", "softmax_async"
    found = [library(kernel, LONGEST, "torch.compile") for kernel in kernels]
    assert round(min(found), 2) == round(max(found), 2)
    return found[0]


def sgemv_beside_lt():
    lt = library("gemv_in_flight", SQUARE, "cuBLASLt fp32")
    return library("gemv_in_flight", SQUARE, "cuBLAS sgemv") / lt


def cluster_beside_async():
    return milliseconds("softmax_cluster", LONGEST) / milliseconds("softmax_async", LONGEST)


def read():
    return record("kernels")["read_bytes_per_second"] / 1e12


QUOTES = {
    "at 3.99 TB/s and ` at 4.15 TB/s for": lambda: (
        rate("gemv_warp", SQUARE),
        rate("gemv_in_flight", SQUARE),
    ),
    "at 4.24 TB/s and ` at 4.39 TB/s for": lambda: (
        rate("gemv_warp", LARGE),
        rate("gemv_vector", LARGE),
    ),
    "where a pure read reaches about 4.6 TB/s": lambda: about(read(), 0.04),
    "is 1.4 times faster at 8192 x 8192": sgemv_beside_lt,
    "has 1.03 times the rate there": lambda: times_as_fast(
        "gemv_in_flight", SQUARE, "cuBLASLt fp32"
    ),
    "reaches 4.50 TB/s there": lambda: rate("gemv_rows", LARGE),
    "reaches 3.55 TB/s there, ` 3.27 TB/s": lambda: (
        rate("softmax_rows", SHORT),
        rate("softmax_online", SHORT),
    ),
    "4.18 TB/s for rows of 4095 numbers": lambda: rate("softmax_async", [16384, 4095]),
    "only 3.21 TB/s for rows of 131,071": lambda: rate("softmax_async", [1024, 131071]),
    "as fast as the copy, about 4.3 TB/s in": lambda: about(copy(), 0.02),
    "is about 1.16 times faster than the compiled": lambda: copy_beside(SHORT),
    "and 1.45 times at 8192 x 32768": lambda: about(copy_beside(LONG), 0.02),
    "at 1.12 and 1.42 times": lambda: [
        times_as_fast("softmax_async", size, "torch.compile") for size in (SHORT, LONG)
    ],
    "would be at about 1.6 times": lambda: about(copy_beside(LONGEST), 0.04),
    "the compiled formula takes 0.40 ms": compiled,
    "it moves 4.32 to 4.39 TB/s": lambda: (min(backward_rates()), max(backward_rates())),
    "the rate of a copy, about 4.3 TB/s, and": lambda: about(copy(), 0.02),
    "takes 2.04 to 2.40 times our time": lambda: (min(own_backward()), max(own_backward())),
    "0.181 ms beside 0.184 ms": lambda: (
        library("softmax_backward", SHORT, "torch.compile"),
        milliseconds("softmax_backward", SHORT),
    ),
    "takes 1.69 times our time at 1024 x 131072": lambda: times_as_fast(
        "softmax_backward", LONGEST, "torch.compile"
    ),
    "8192 x 8192 3.95 and 4.15 TB/s": lambda: (
        rate("gemv_vector", SQUARE),
        rate("gemv_in_flight", SQUARE),
    ),
    "1.13 times as long at 1024 x 131072 as": cluster_beside_async,
}
GIVEN = ("your aim is 1.5 times the best",)
