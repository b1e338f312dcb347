QUOTES = {  # worked out from the times that the notebook's cells print
    "The iterator is 2.8 times faster": lambda: 0.335 / 0.120,
}
