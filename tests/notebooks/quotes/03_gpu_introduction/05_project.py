GIVEN = (
    "Three of the kernels ask for 3 to 179 times their least bytes",
    "Kernel a takes 50 µs",
    "Kernel b loses 20 µs",
    "that takes 1 µs",
    "can save 0.9 µs",
)  # quotients of the table's bytes, the example of the task, and one of arithmetic
