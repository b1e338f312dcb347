QUOTES = {"528 slots are offered for 512 tiles: 3 % more": lambda: 100 * (528 / 512 - 1)}
