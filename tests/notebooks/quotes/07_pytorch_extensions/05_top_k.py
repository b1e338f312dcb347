from tests.notebooks.drawn import DATA_SHEET, case, milliseconds

BATCH = [128, 131072, 50]
TRIALS = "assets/benchmarks/TRIALS.md"


def beside(name):
    """How many times as long a call of PyTorch takes for the batch."""
    return case("top_k_stream", BATCH)["libraries"][name] / milliseconds("top_k_stream", BATCH)


def flash_infer(kernel, size, how=""):
    """The µs that FlashInfer takes beside ``kernel``."""
    return case(kernel, size)["libraries"]["FlashInfer 0.7.4" + how] * 1000


def race(rival):
    """How many times as long as our race the ``rival`` takes."""
    found = case("sample_race", BATCH[:2])
    return found["libraries"][rival] / found["ours"]["median_ms"]


QUOTES = {
    "unsorted, 42.8 µs for one": lambda: flash_infer("top_k_stream", [1, *BATCH[1:]], ", unsorted"),
    "57 µs for the batch": lambda: flash_infer("top_k_stream", BATCH, ", unsorted"),
    "same nucleus in 87.3 µs": lambda: flash_infer("sample_top_p", BATCH),
    "Ours takes 31.0 µs, with the top-k": lambda: milliseconds("sample_top_p", BATCH) * 1000,
    "is 10.4 times faster than": lambda: beside("torch.topk"),
    "10.1 times faster than": lambda: beside("torch.topk, unsorted"),
    "The race takes 23.7 µs": lambda: milliseconds("sample_race", BATCH[:2]) * 1000,
    "take 5.6 times as long as our race": lambda: race("torch.compile"),
    "the compiler takes 3.9 times as long": lambda: race("torch.compile, Gumbel"),
    "race takes 1.26 times as long": lambda: race("FlashInfer 0.7.4, no temperature"),
    "before, and takes 4.8 times as long": lambda: race("FlashInfer 0.7.4, softmax"),
}
FACTS = {
    "4.8 TB/s is the rate": DATA_SHEET,
    "takes 79.9 µs": TRIALS,
    "it takes 67.2 µs if it reads nothing": TRIALS,
    "takes 53.6 µs, and without random numbers too 46.5 µs": TRIALS,
    "22.1 µs for the long row, beside 11.8 µs": TRIALS,
    "Reading alone takes 19.3 µs": TRIALS,
}
