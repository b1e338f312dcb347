import numpy as np


def scaled_descent(weights, gradients, rate, scale, every):
    """Gradient descent with a loss scale that looks after itself.

    weights: float32 (n,). gradients: float32 (steps, n), what an exact backward pass would give.
    Ours works in fp16: of step k it brings np.float16(scale * gradients[k]), where large numbers
    have become infinite. If all of them are finite, the weights move by -rate * gradient, in
    float32. If not, the step is left out, and the scale halves. After `every` good steps in a row
    it doubles, and the count begins anew. Returns the weights, and the scale that each step was
    made with.
    """
    # TODO: make the steps
    # STARTER
    #| return weights, [scale] * len(gradients)
    # SOLUTION
    weights = weights.copy()
    scales, good = [], 0
    for gradient in gradients:
        scales.append(scale)
        with np.errstate(over="ignore"):
            half = np.float16(np.float32(scale) * gradient)
        if np.isfinite(half).all():
            weights -= np.float32(rate) * (half.astype(np.float32) / np.float32(scale))
            good += 1
            if good == every:
                scale, good = 2 * scale, 0
        else:
            scale, good = scale / 2, 0
    return weights, scales
    # END
