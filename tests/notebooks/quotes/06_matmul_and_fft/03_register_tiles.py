QUOTES = {"4.5 times": lambda: 1.125 / 0.25}  # the solution of 06.predict_loads
