from tests.notebooks.drawn import DATA_SHEET, milliseconds
from tests.notebooks.quoting import about, more_than

MANY = 1 << 28


def first_over_last():
    return milliseconds("sum_atomic", MANY) / milliseconds("sum_single_pass", MANY)


QUOTES = {
    "about two thousand times faster than the first": lambda: about(first_over_last()),
    "Far more than a thousand times the memory's own time": lambda: more_than(
        first_over_last(), within=2.5
    ),
}
FACTS = {"4.8 TB/s on paper": DATA_SHEET}
GIVEN = ("Add the same array ten times",)
