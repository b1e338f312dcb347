QUOTES = {
    "4.5 times": lambda: 1.125 / 0.25,  # the solution of 06.predict_loads
    "Judging by the wavefronts, it should have 1.5 times": lambda: 1.156 / 0.7656,  # as counted
}

GIVEN = (
    "the large one takes 256 µs",
    "4 rounds of 85.3 µs",
)  # the example of a task
