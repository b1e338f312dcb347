GIVEN = (
    "Kernel a takes 50 µs",
    "Kernel b loses 20 µs",
    "that takes 1 µs",
    "can save 0.9 µs",
)  # the example of the task, and one of arithmetic
