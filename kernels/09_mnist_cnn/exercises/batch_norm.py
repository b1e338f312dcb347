import numpy as np


def batch_norm(x, seen, gamma, beta, training):
    """What `nn.BatchNorm2d` answers to x, N x C x H x W: in training, or in evaluation after the
    batches of the list `seen` (each of any number of images) have gone through it in training.

    gamma and beta have C numbers. The layer is new before the first of `seen`: running mean 0,
    running variance 1. Its momentum is 0.1, its eps 1e-5.
    """
    # TODO: return an array of x's shape
    # SOLUTION
    over = (0, 2, 3)
    mean, variance = np.zeros(len(gamma)), np.ones(len(gamma))
    for batch in seen:
        n = batch.size / len(gamma)
        mean += 0.1 * (batch.mean(over) - mean)
        variance += 0.1 * (batch.var(over) * n / (n - 1) - variance)
    if training:
        mean, variance = x.mean(over), x.var(over)
    mean, variance, gamma, beta = (a[:, None, None] for a in (mean, variance, gamma, beta))
    return gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta
    # END
