GIVEN = (
    "256 times fewer than there are threads",
    "fetch once, use sixteen times",
    "wrapped around a hundred times",
)
