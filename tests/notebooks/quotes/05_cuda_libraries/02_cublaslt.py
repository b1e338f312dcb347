from tests.notebooks.quoting import about

QUOTES = {  # worked out from the columns that the notebook's cells print
    "takes 2.2 times as long without a workspace": lambda: 0.0259 / 0.0118,
    "is 3 to 7 % slower than the best": lambda: [
        about(100 * (0.0123 / 0.0119 - 1), 0.15),
        about(100 * (0.0276 / 0.0259 - 1)),
    ],
    "about 0.075 ms at each K": lambda: about(0.1199 - 0.0449),
}
GIVEN = (  # of 05.read_list, whose report is in its task
    "at most 2 % slower than the fastest",
    "and 2 % more is 0.0462 ms",
    "A difference of 2 % is a question",
)
