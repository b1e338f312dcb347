"""Softmax of each row, in plain Python: x is a list of rows, each a list of floats."""

from math import exp


def softmax(x):
    result = []
    for row in x:
        largest = max(row)
        powers = [exp(value - largest) for value in row]
        total = sum(powers)
        result.append([power / total for power in powers])
    return result
