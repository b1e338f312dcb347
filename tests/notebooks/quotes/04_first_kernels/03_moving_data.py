from tests.notebooks.drawn import record
from tests.notebooks.quoting import about, more_than

QUOTES = {
    "about 55 GB/s to an H200, and more than 2000 GB/s within it": lambda: (
        about(record("hardware")["transfers"][-1]["in_pinned"] / 1e9, 0.05),
        more_than(record("hardware")["copy_bandwidth"] / 2 / 1e9),
    ),
    "at most about 63 GB/s in each direction": lambda: 16 * 32 / 8 * 128 / 130,
}
GIVEN = (
    "pays that a thousand times",
    "stages of 1, 2 and 1 ms each",
    "Stages of 3, 4 and 3 ms take 10 ms with one chunk, and 7 ms with two",
)
