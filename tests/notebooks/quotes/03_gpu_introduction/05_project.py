GIVEN = (
    "Three of the kernels ask for 3 to 179 times their least bytes",
    "takes 13 times its floor",
    "it loses 176 of its 310 µs",
    "take 872 µs instead of 1,048 µs",
    "Kernel a takes 50 µs",
    "Kernel b loses 20 µs",
    "that takes 1 µs",
    "can save 0.9 µs",
)  # quotients of the tables, the example of the task, and one of arithmetic
