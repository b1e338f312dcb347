from tests.notebooks.drawn import DATA_SHEET, case, milliseconds

BATCH = [128, 131072, 50]


def beside(name):
    """How many times as long a call of PyTorch takes for the batch."""
    return case("top_k_stream", BATCH)["libraries"][name] / milliseconds("top_k_stream", BATCH)


def race_beside_nucleus():
    return milliseconds("sample_race", BATCH[:2]) / milliseconds("sample_top_p", BATCH)


QUOTES = {
    "is 10.4 times faster than": lambda: beside("torch.topk"),
    "10.1 times faster than": lambda: beside("torch.topk, unsorted"),
    "but 2.6 times as long as top-k": race_beside_nucleus,
}
FACTS = {"4.8 TB/s is the rate": DATA_SHEET}
