GIVEN = (
    "reaches 25 % occupancy",
    "32 times those of a thread",
)
