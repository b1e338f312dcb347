from tests.notebooks.drawn import record

QUOTES = {
    "takes 257 us for 64 MB": lambda: dict(record("nccl")["times_us"]["send_recv"])[1 << 26],
}
