import torch


def scaled_rows():
    """An operator and its fake function: each row of x divided by its largest magnitude, and those
    magnitudes, a column of them. A row of zeros stays, and its magnitude counts as 1.

    x has two dimensions, at least one column, and is float32 or float64. The schema that belongs to
    it says: no input is written to, and the results are two new tensors, both contiguous.
    """
    # TODO: find the faults of these two, and fix them
    # STARTER
    #|
    #| def operator(x):
    #|     scale = x.abs().amax(dim=1, keepdim=True)
    #|     scale[scale == 0] = 1
    #|     if bool((scale == 1).all()):
    #|         return x, scale
    #|     return x.div_(scale), scale
    #|
    #| def fake(x):
    #|     return torch.empty_like(x), torch.empty(x.shape[0])
    #|
    #| return operator, fake
    # SOLUTION

    def operator(x):
        scale = x.abs().amax(dim=1, keepdim=True)
        scale[scale == 0] = 1
        return (x / scale).contiguous(), scale

    def fake(x):
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        return y, x.new_empty(x.shape[0], 1)

    return operator, fake
    # END
