GIVEN = (
    "64 × ` results in 128 threads",
    "launches of 90 µs",
    "a gain of 10 µs and 2 seconds for a kernel",
    "takes 2 + 90 seconds",
)
