GIVEN = (
    "a call costs 6.9 times less (109.3 → 15.9 µs)",
    "2.3 times as much as",
)  # quotients of two lines of the output
