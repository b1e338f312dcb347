GIVEN = (
    "a hundred times as far as they spread",
    "wrong by 0.4 % at most",
    "| the error of bf16 | 0.4 % |",
    "Each is run twenty times in a row",
)
