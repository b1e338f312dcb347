GIVEN = (
    "add at most 15 %",  # a goal of the exercise
    "so 3.4 times less to move",  # 17 over 5, both counted in the cells above
)
