from tests.notebooks.drawn import record
from tests.notebooks.quoting import about


def longer_step():
    """Nanoseconds that a load in a chain took longer with all multiprocessors at it."""
    execution = record("execution")
    alone = max(nanoseconds for _, _, nanoseconds in record("hardware")["latency"])
    return 1e6 * execution["load_ms"][0] / 256 - alone


QUOTES = {
    "after 4 to 5 cycles": lambda: (
        about(record("hardware")["small_latency"]["fma"][0], 0.15),
        about(record("hardware")["small_latency"]["fma"][0], 0.15),
    ),
    "took 30 to 50 ns longer": lambda: (about(longer_step(), 0.4), about(longer_step(), 0.4)),
}
GIVEN = (
    "fetch once, use sixteen times",
    "the same loop sixteen times",
    "asking a near memory 33 times",
)
