import numpy as np


def mean_of_chunks(logits, target, ignored, rows):
    """The mean loss over the tokens whose target isn't `ignored`, and the gradient by the logits.

    logits: float64 (tokens, words). target: ints (tokens,). `rows` tokens are looked at together,
    the last chunk may have fewer. If no token counts, the loss is NaN and the gradient is zeros.
    Returns (loss, gradient).
    """
    # BUG
    #| gradient, chunks = np.zeros_like(logits), []
    #| for start in range(0, len(logits), rows):
    #|     of = slice(start, start + rows)
    #|     counts = target[of] != ignored
    #|     x = logits[of][counts]
    #|     at = np.arange(len(x)), target[of][counts]
    #|     largest = x.max(axis=1, keepdims=True)
    #|     powers = np.exp(x - largest)
    #|     sums = powers.sum(axis=1, keepdims=True)
    #|     loss = np.log(sums[:, 0]) + largest[:, 0] - x[at]
    #|     powers /= sums
    #|     powers[at] -= 1
    #|     gradient[of][counts] = powers / counts.sum()
    #|     chunks.append(loss.mean())
    #| return np.mean(chunks), gradient
    # SOLUTION
    counted = (target != ignored).sum()
    gradient, total = np.zeros_like(logits), 0.0
    for start in range(0, len(logits), rows):
        of = slice(start, start + rows)
        counts = target[of] != ignored
        x = logits[of][counts]
        at = np.arange(len(x)), target[of][counts]
        largest = x.max(axis=1, keepdims=True)
        powers = np.exp(x - largest)
        sums = powers.sum(axis=1, keepdims=True)
        total += (np.log(sums[:, 0]) + largest[:, 0] - x[at]).sum()
        powers /= sums
        powers[at] -= 1
        gradient[of][counts] = powers / max(1, counted)
    return (total / counted if counted else np.nan), gradient
    # END
