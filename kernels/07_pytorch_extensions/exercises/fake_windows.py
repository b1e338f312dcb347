import torch


def fake_windows(x, length, step):
    """The fake function of an operator that slides a window along the last dimension of x.

    Windows of `length` elements begin at 0, step, 2 step, ... as long as they fit. The operator
    returns two new contiguous tensors, with an entry per window instead of the last dimension: the
    windows' means, in float32 where x is float16 or bfloat16 and else in the type of x, and the
    int64 positions of their largest elements.
    """
    # TODO: return both, empty, on the device of x; x has no numbers to look at
    # SOLUTION
    n = x.shape[-1]
    windows = 0 if n < length else (n - length) // step + 1
    shape = (*x.shape[:-1], windows)
    narrow = x.dtype in (torch.float16, torch.bfloat16)
    means = x.new_empty(shape, dtype=torch.float32 if narrow else x.dtype)
    return means, x.new_empty(shape, dtype=torch.int64)
    # END
