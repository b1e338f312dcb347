// In place: x, tokens x words logits, becomes the gradient of the sum over all tokens that count of
// weight * (lse - right + z * lse * lse), where right is the target's logit, and lse =
// logsumexp[token] is the log of the sum of exp(logit). A token whose target is `ignored` gets
// zeros, whatever its logits are.
// Every other target is a word. Its logits may be -inf, but never all of them. Any number of words
// from 1 on, and up to 65,535 tokens.
// grid (ceil(words / 256), tokens), block (256), dynamic shared 0

extern "C" __global__ void z_loss(float *x, const long long *target, const float *logsumexp,
                                  int words, long long ignored, float weight, float z)
{
    int word = blockIdx.x * blockDim.x + threadIdx.x, token = blockIdx.y;
    size_t i = (size_t)token * words + word;
    // TODO: the gradient, over the logit. What is the derivative of lse by a logit?
    // SOLUTION
    if (word >= words) {
        return;
    }
    float lse = logsumexp[token], gradient = 0.0f;
    if (target[token] != ignored) {
        float label = word == target[token] ? 1.0f : 0.0f;
        gradient = weight * (expf(x[i] - lse) * (1.0f + 2.0f * z * lse) - label);
    }
    x[i] = gradient;
    // END
}
