GIVEN = (
    "its length agrees with finite differences to 2 %",
    "the length changes by less than those 2 %",
)
