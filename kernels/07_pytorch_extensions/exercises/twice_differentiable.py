import torch


def gradients(polynomial, x, c, dy):
    """The gradients of x and of c, from dy, that of y = polynomial(x, c).

    y = c[0] + c[1] x + c[2] x² + ... has the shape of x; c has one coefficient or more.
    `polynomial` is the operator itself, with this function as its backward pass: call it for any
    tensor x and any row of coefficients that is not empty.
    """
    # TODO: return both, made of operations that PyTorch can differentiate once more
    # SOLUTION
    numbers = torch.arange(len(c), dtype=c.dtype)
    slope = (numbers * c)[1:] if len(c) > 1 else 0 * c
    powers = [polynomial(x, row) for row in torch.eye(len(c), dtype=c.dtype)]
    return dy * polynomial(x, slope), torch.stack([(dy * power).sum() for power in powers])
    # END
