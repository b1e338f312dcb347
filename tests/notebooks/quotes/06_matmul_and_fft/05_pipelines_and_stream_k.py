from tests.notebooks.drawn import flops_per_second
from tests.notebooks.quoting import about

QUOTES = {
    "528 slots are offered for 512 tiles: 3 % more": lambda: 100 * (528 / 512 - 1),
    "about 3 times the rate of": lambda: about(
        flops_per_second("sgemm_stream_k", 1024) / flops_per_second("sgemm_ordered", 1024)
    ),
}
