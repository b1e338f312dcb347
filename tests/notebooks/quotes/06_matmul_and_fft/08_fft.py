from tests.notebooks.drawn import bytes_per_second, cause, milliseconds, record
from tests.notebooks.quoting import about

SHORT, LONG = [65536, 256], [4096, 4096]  # rows of 256 and of 4096 points


def copy_rate() -> float:
    """TB/s of a large copy."""
    return record("kernels")["copy_bytes_per_second"] / 1e12


def both(first: str, second: str, size: list[int]) -> tuple[float, float]:
    """The milliseconds of two kernels at a size."""
    return milliseconds(first, size), milliseconds(second, size)


QUOTES = {
    "the table takes 0.0658 ms": lambda: cause("fft_factors", "4096", "one_entry"),
    "0.120 ms instead of 0.139 ms": lambda: [
        cause("fft_cluster", "sent_to_itself"),
        cause("fft_cluster", "cluster"),
    ],
    "sending them to other blocks costs 13 %": lambda: (
        100 * (1 - cause("fft_cluster", "sent_to_itself") / cause("fft_cluster", "cluster"))
    ),
    "and that took 0.099 ms": lambda: cause("fft_cluster", "own_stores"),
    "takes sixteen times the wavefronts it needs": lambda: 32 / 2,  # 06.predict_strides
    "the rate of a copy (about 4.3 TB/s": lambda: about(copy_rate(), 0.02),
    "0.0733 ms instead of 0.0795 ms": lambda: both("fft_padded", "fft_shared", LONG),
    "0.0757 ms instead of 0.0744 ms": lambda: both("fft_padded", "fft_shared", SHORT),
    "0.116 ms, where the fast factors take 0.0645 ms": lambda: both(
        "fft_twiddles_table", "fft_twiddles_fast", LONG
    ),
    "0.0648 ms and 0.0644 ms": lambda: both("fft_twiddles_table", "fft_twiddles_fast", SHORT),
    "0.0645 ms then, 0.0647 ms and 0.0647 ms now": lambda: (
        milliseconds("fft_twiddles_fast", LONG),
        milliseconds("fft_batched", SHORT),
        milliseconds("fft_batched", LONG),
    ),
    "0.0823 ms instead of 0.0863 ms": lambda: both("fft_prefetch", "fft_batched", [1024, 16384]),
    "that would be 4.9 TB/s": lambda: 2 * bytes_per_second("fft_ring", [256, 65536]) / 1e12,
    "take 0.0697 ms": lambda: milliseconds("fft_real", [8192, 4096]),
    "took 0.0647 ms": lambda: milliseconds("fft_batched", LONG),
    "passes run at 4.04 TB/s": lambda: 2 * bytes_per_second("fft_2d", [256, 256, 256]) / 1e12,
}
GIVEN = ("At most 1.1 times the minimum",)
