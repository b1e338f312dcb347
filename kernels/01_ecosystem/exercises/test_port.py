import numpy as np


def accepts(port):
    """True if port(weight, bias) is right, and False if not. It gets the arrays of a layer in
    PyTorch's shapes, (outputs, inputs) and (outputs,), and returns those of Keras: (inputs,
    outputs) and (outputs,). Every number stays as it is, and so do the arrays that it got."""
    # TODO: write the test
    # STARTER
    #| return True
    # SOLUTION
    rng = np.random.default_rng(0)
    for shape in ((2, 3), (4, 4), (1, 5), (64, 64)):
        weight = rng.standard_normal(shape, dtype=np.float32)
        weight[0, 0] = 1e-30
        bias = rng.standard_normal(shape[0], dtype=np.float32)
        wanted, kept = weight.T.copy(), bias.copy()
        moved, same = port(weight, bias)
        if not np.array_equal(moved, wanted) or not np.array_equal(same, kept):
            return False
        if not np.array_equal(weight, wanted.T) or not np.array_equal(bias, kept):
            return False
    return True
    # END
