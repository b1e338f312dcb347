from tests.notebooks.drawn import record
from tests.notebooks.quoting import about, more_than


def longer_step():
    """Nanoseconds that a load in a chain took longer with all multiprocessors at it."""
    execution = record("execution")
    alone = max(nanoseconds for _, _, nanoseconds in record("hardware")["latency"])
    return 1e6 * execution["load_ms"][0] / 256 - alone


def moved_over_resident():
    """A kernel over unified memory that the host wrote last, as a multiple of the next run."""
    managed = record("hardware")["managed"]
    return managed["first"] / managed["again"]


QUOTES = {
    "after 4 to 5 cycles": lambda: (
        about(record("hardware")["small_latency"]["fma"][0], 0.15),
        about(record("hardware")["small_latency"]["fma"][0], 0.15),
    ),
    "took 30 to 50 ns longer": lambda: (about(longer_step(), 0.4), about(longer_step(), 0.4)),
    "over a hundred times longer. After": lambda: more_than(moved_over_resident(), 2),
}
GIVEN = (
    "loaded up to 33 times, by the 33 threads",
    "ask a near memory 33 times",
)
