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
    "the way to other blocks costs 13 %": lambda: (
        100 * (1 - cause("fft_cluster", "sent_to_itself") / cause("fft_cluster", "cluster"))
    ),
    "and that took 0.099 ms": lambda: cause("fft_cluster", "own_stores"),
    "takes sixteen times the wavefronts it needs": lambda: 32 / 2,  # 06.predict_strides
    "the rate of a copy (about 4.3 TB/s": lambda: about(copy_rate(), 0.02),
    "0.0727 ms instead of 0.0786 ms": lambda: both("fft_padded", "fft_shared", LONG),
    "0.0757 ms instead of 0.0744 ms": lambda: both("fft_padded", "fft_shared", SHORT),
    "0.115 ms, where the fast factors take 0.0654 ms": lambda: both(
        "fft_twiddles_table", "fft_twiddles_fast", LONG
    ),
    "0.0662 ms and 0.0654 ms": lambda: both("fft_twiddles_table", "fft_twiddles_fast", SHORT),
    "0.0654 ms then, 0.0653 ms and 0.0655 ms now": lambda: (
        milliseconds("fft_twiddles_fast", LONG),
        milliseconds("fft_batched", SHORT),
        milliseconds("fft_batched", LONG),
    ),
    "0.0816 ms instead of 0.0866 ms": lambda: both("fft_prefetch", "fft_batched", [1024, 16384]),
    "that would be 4.9 TB/s": lambda: 2 * bytes_per_second("fft_ring", [256, 65536]) / 1e12,
    "take 0.0699 ms": lambda: milliseconds("fft_real", [8192, 4096]),
    "took 0.0655 ms": lambda: milliseconds("fft_batched", LONG),
    "passes run at 4.03 TB/s": lambda: 2 * bytes_per_second("fft_2d", [256, 256, 256]) / 1e12,
}
GIVEN = ("At most 1.1 times the minimum",)
