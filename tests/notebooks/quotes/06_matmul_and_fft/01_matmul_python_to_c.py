GIVEN = (
    "More than 100 % means",
    "8 times, 4 times, 2 times",
    "8 times, 8 times, the same",
    "4 times, 4 times, the same",
)
