import numpy as np


def softmax(x):
    """The softmax of each row of x, a matrix of float32."""
    # BUG
    #| powers = np.exp(x)
    #| return powers / powers.sum(axis=1)
    # SOLUTION
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
    # END
