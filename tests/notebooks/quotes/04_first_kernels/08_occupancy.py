GIVEN = (
    "reaches 25 % occupancy",
    "32 times a thread's",
)
