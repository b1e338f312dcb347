"""Softmax of each row of a NumPy array: no loop is written, and each line makes a whole array."""

import numpy as np


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
