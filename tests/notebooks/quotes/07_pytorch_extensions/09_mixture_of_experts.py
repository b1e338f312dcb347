from tests.notebooks.drawn import record

QUOTES = {
    "takes 257 us for 64 MB": lambda: dict(record("nccl")["times_us"]["send_recv"])[1 << 26],
}
TRIALS = "assets/benchmarks/TRIALS.md"
FACTS = {
    "2.1 to 2.4 times as long as ours": TRIALS,
    "and 5 % longer with 8 rows each": TRIALS,
    "it's 0.5 % faster than ours": TRIALS,
    "it takes 1.3 to 4 % longer, and with 8 rows each 16 %": TRIALS,
}
